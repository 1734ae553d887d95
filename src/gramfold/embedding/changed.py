"""The parameters of an estimator that are not at their defaults, as data and in words."""

from collections.abc import Mapping
from inspect import signature
from reprlib import Repr
from typing import Any

_LONGEST = 60  # letters of a value
_SHORT = Repr()  # which tells of a value that cannot be shown, and does not raise
_SHORT.maxstring = _SHORT.maxother = _LONGEST
_OF_A_SESSION = {"verbose", "progress"}  # they change nothing of a model


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """Their values, as they are now."""
    usual = {name: one.default for name, one in signature(type(estimator)).parameters.items()}
    given = estimator.get_params(deep=False)
    return {
        name: value for name, value in given.items() if name not in _OF_A_SESSION and not _same(value, usual.get(name))
    }


def parameters_in_words(changed: Mapping[str, Any]) -> str:
    """As they would be written in a call, shortened."""
    return ", ".join(f"{name}={_value(value)}" for name, value in changed.items())


def _same(value: Any, usual: Any) -> bool:
    """Whether a value is the default; arrays, whose comparison has no one answer, never are."""
    return value is usual or (type(value) is type(usual) and not hasattr(value, "shape") and bool(value == usual))


def _value(value: Any) -> str:
    shape = getattr(value, "shape", ())
    if shape:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return " ".join(_SHORT.repr(value).split())
