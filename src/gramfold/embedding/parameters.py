"""One line declares a parameter: its name, type, default, what is allowed, and the words that explain it.

From those lines `method` makes the constructor (which only stores), scikit-learn's constraints and the "Parameters"
section of the docstring. A fitted attribute is declared likewise: its type, its words, and where the model has it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, Literal, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints, overload

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval

from gramfold.types import LeftOut

Class = TypeVar("Class")
Value = TypeVar("Value")
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def parameter(*, default: Any, allowed: list[Any], words: str, kw_only: bool = True, last: bool = False) -> Any:
    """A constructor parameter; `allowed` is a list of scikit-learn's parameter constraints.

    One that every estimator has is documented `last`.
    """
    strict = [_strict(one) for one in allowed]
    return field(
        default=default,
        kw_only=kw_only,
        metadata={"allowed": strict, "words": words, "last": last},
    )


class _Attribute:
    """See `attribute`."""

    def __init__(self, kind: str, words: str, read: Callable[[Any], Any] | None) -> None:
        self.kind, self.words, self.read = kind, words, read
        self.__doc__ = " ".join(words.split())

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        try:
            model = vars(estimator)["model_"]
            value = model.found[self.name] if self.read is None else self.read(model)
        except KeyError:
            raise AttributeError(f"'{type(estimator).__name__}' object has no attribute '{self.name}'") from None
        if isinstance(value, LeftOut):
            raise LeftOut(self.name).error
        return value

    def __set__(self, estimator: Any, value: Any) -> None:
        raise AttributeError(
            f"{self.name} is a result of fit and cannot be assigned, because transform would not use the new value: "
            f"fit {type(estimator).__name__} again, or store the value under another name."
        )


@overload
def attribute(kind: str, words: str) -> Any: ...
@overload
def attribute(kind: str, words: str, read: Callable[[Any], Value]) -> Value: ...
def attribute(kind: str, words: str, read: Callable[[Any], Any] | None = None) -> Any:
    """A fitted attribute: what the fit found under this name, or what `read` makes of the model."""
    return _Attribute(kind, words, read)


class _Number(Interval):
    """A number of some range: True and False, which Python counts among the whole numbers, are none."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and super().is_satisfied_by(val)


class _Array(HasMethods):
    """An array-like that has entries: one without axes has no length, and those of a dict are no array."""

    def __init__(self) -> None:
        super().__init__("__len__")

    def is_satisfied_by(self, val: Any) -> bool:
        return isinstance(val, list | tuple) or (super().is_satisfied_by(val) and np.ndim(val) > 0)

    def __str__(self) -> str:
        return "an array-like"


def _strict(constraint: Any) -> Any:
    """The same constraint without what scikit-learn lets pass and nobody can use."""
    if isinstance(constraint, Interval):
        return _Number(constraint.type, constraint.left, constraint.right, closed=constraint.closed)
    if constraint is Integral:
        return _Number(Integral, None, None, closed="neither")
    return _Array() if constraint == "array-like" else constraint


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(parameter,))
def method(cls: type[Class]) -> type[Class]:
    """Make an estimator of a class whose parameters are declared with `parameter`."""
    made = dataclass(eq=False, repr=False)(cls)
    declared = [one for one in fields(made) if "allowed" in one.metadata]  # type: ignore[arg-type]
    setattr(made, "_parameter_constraints", {one.name: one.metadata["allowed"] for one in declared})  # noqa: B010
    made.__doc__ = _documented(made, declared)
    return made


def _documented(cls: type, declared: list[Any]) -> str:
    """The class's own words with its parameters and attributes; those that every estimator has come last."""
    hints = get_type_hints(cls)
    declared = sorted(declared, key=lambda one: (one.kw_only, one.metadata["last"]))
    entries = [
        f"{one.name} : {_type_words(hints[one.name])}, default={one.default!r}\n{_indented(one.metadata['words'])}"
        for one in declared
    ]
    found = {name: one for base in cls.__mro__[::-1] for name, one in vars(base).items() if isinstance(one, _Attribute)}
    own = [name for base in cls.__mro__ for name in vars(base) if name in found]
    attributes = [f"{name} : {found[name].kind}\n{_indented(found[name].words)}" for name in dict.fromkeys(own)]
    summary, sections = _split(_dedented(cls.__doc__ or ""))
    parts = {"Parameters": "\n".join(entries), "Attributes": "\n".join(attributes), **sections}
    return (
        "\n\n".join([summary.strip(), *(f"{name}\n{'-' * len(name)}\n{text.strip()}" for name, text in parts.items())])
        + "\n"
    )


def _split(doc: str) -> tuple[str, dict[str, str]]:
    summary, *rest = _SECTION.split(doc)
    return summary, dict(zip(rest[::2], rest[1::2], strict=True))


def _type_words(hint: Any) -> str:
    if hint is Any:
        return "object"
    if get_origin(hint) is Literal:
        return "{" + ", ".join(f'"{value}"' for value in get_args(hint)) + "}"
    if hint is type(None):
        return "None"
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(origin, type) and issubclass(origin, Callable):  # type: ignore[arg-type]
        return "callable"
    if (args and not isinstance(origin, type)) or str(origin) == "<class 'types.UnionType'>":
        return " or ".join(_type_words(arg) for arg in args)
    named = origin or hint
    return "dict" if getattr(named, "__name__", "") == "Mapping" else str(getattr(named, "__name__", named))


def _dedented(doc: str) -> str:
    from inspect import cleandoc

    return cleandoc(doc)


def _indented(words: str) -> str:
    return "\n".join(f"    {line.strip()}" for line in words.strip().splitlines())
