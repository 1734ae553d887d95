"""A model without the seconds that its fit took: of the same rows, two fits give the same file."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

_NAMES = ("seconds", "timings")


def untimed(part: Any) -> Any:
    """The same part of a model, or tuple of parts, without seconds."""
    if isinstance(part, tuple) and not hasattr(part, "_fields"):
        found = tuple(untimed(one) for one in part)
        return found if any(new is not old for new, old in zip(found, part, strict=True)) else part
    if not is_dataclass(part) or isinstance(part, type):
        return part
    changed = {}
    for one in fields(part):
        old = getattr(part, one.name)
        new = type(old)() if one.name in _NAMES and isinstance(old, float | dict) else untimed(old)
        if new is not old:
            changed[one.name] = new
    return replace(part, **changed) if changed else part
