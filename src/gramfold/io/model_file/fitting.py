"""Whether a value that was read fits the annotation of the field that it is for."""

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
from scipy.sparse import issparse

from gramfold.types import LeftOut


@cache
def field_types(cls: type) -> dict[str, Any]:
    """The annotation of each field."""
    return typing.get_type_hints(cls)


def fits(value: Any, kind: Any) -> bool:
    """Whether the value is of this kind."""
    if kind is Any or isinstance(value, LeftOut):
        return True
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _holds(value.dtype, get_args(inner[1]))
    if origin is tuple:
        return isinstance(value, tuple) and _all_fit(value, inner)
    if origin is Callable:
        return False
    if origin is Mapping:
        return isinstance(value, dict) and all(
            fits(one, kind) for item in value.items() for one, kind in zip(item, inner, strict=True)
        )
    if origin is not None:
        return isinstance(value, origin)
    return _plain(value, kind)


def _all_fit(values: tuple[Any, ...], kinds: tuple[Any, ...]) -> bool:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return all(fits(one, kinds[0]) for one in values)
    return len(values) == len(kinds) and all(fits(one, kind) for one, kind in zip(values, kinds, strict=True))


def _holds(dtype: np.dtype[Any], kinds: tuple[Any, ...]) -> bool:
    (kind,) = kinds or (Any,)
    return kind is Any or np.issubdtype(dtype, kind)


@cache
def _members(protocol: type) -> set[str]:
    """What a part of this kind has."""
    named = {*vars(protocol), *typing.get_type_hints(protocol)}
    return {name for name in named if not name.startswith("_")}


def _plain(value: Any, kind: Any) -> bool:
    if kind is None or kind is type(None):
        return value is None
    if kind is float:
        return isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, bool | np.bool_)
    if getattr(kind, "_is_protocol", False):
        return is_dataclass(value) and _members(kind) <= {*dir(type(value)), *(one.name for one in fields(value))}
    return issparse(value) if issparse(kind) else isinstance(value, kind)
