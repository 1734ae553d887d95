"""One line declares a parameter: its name, type, default, what is allowed, and the words that explain it.

From those lines `method` makes the constructor (which only stores), scikit-learn's constraints and the
"Parameters" section of the docstring.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, Literal, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval

Class = TypeVar("Class")
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def parameter(*, default: Any, allowed: list[Any], words: str, kw_only: bool = True) -> Any:
    """A constructor parameter; `allowed` is a list of scikit-learn's parameter constraints."""
    strict = [_strict(one) for one in allowed]
    return field(default=default, kw_only=kw_only, metadata={"allowed": strict, "words": words})


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
    """The class's own words with the parameters before and the shared attributes after its own."""
    hints = get_type_hints(cls)
    entries = [
        f"{one.name} : {_type_words(hints[one.name])}, default={one.default!r}\n{_indented(one.metadata['words'])}"
        for one in declared
    ]
    summary, sections = _split(_dedented(cls.__doc__ or ""))
    shared = "\n".join(
        _dedented(base.__dict__["_attributes"]) for base in reversed(cls.__mro__) if "_attributes" in base.__dict__
    )
    own = sections.pop("Attributes", "").strip()
    parts = {"Parameters": "\n".join(entries), "Attributes": f"{own}\n{shared}".strip(), **sections}
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
