"""A model as a tree of JSON values and a list of arrays.

JSON's own values are themselves: null, true, numbers (finite), texts and lists. All else is an object of one entry,
whose name says what it is: {"tuple": […]}, {"array": 3}, {"part": 7}. Parts, the objects of a model, stand in a list of
their own, each after those that it holds; so one that is held twice is written once, and no tree has a loop.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import issparse, sparray
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector

from gramfold.errors import ModelFileError
from gramfold.io.model_file.container import storable
from gramfold.io.model_file.parts import FUNCTIONS, NOT_STORED, TYPES, name_of_estimator, name_of_part
from gramfold.io.model_file.searches import rows_of_search

# Of an estimator's parameters: what watched a fit, and where a pipeline kept what it computed, are no part of it.
_ONLY_OF_A_FIT = ("progress", "memory")


class Encoder:
    """Collects the parts and arrays of one model."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self.arrays: list[np.ndarray] = []
        self._known: dict[Any, dict[str, int]] = {}  # of arrays and parts that were written
        self._held: list[Any] = []  # the same: what is held is not replaced by another at its address

    def value(self, value: Any, path: str) -> Any:
        """One value; `path` names it where it cannot be written."""
        if value is None or isinstance(value, str | bool) or type(value) is int:
            return value
        if type(value) is float:
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if issparse(value):
            return self._sparse(value, path)
        if isinstance(value, list):
            return [self.value(one, f"{path}[{i}]") for i, one in enumerate(value)]
        if type(value) is tuple:
            return {"tuple": [self.value(one, where) for where, one in zip(_places(value, path), value, strict=True)]}
        if isinstance(value, Mapping):
            return {"dict": [[self._key(k, path), self.value(v, f"{path}[{k!r}]")] for k, v in value.items()]}
        if isinstance(value, np.generic) and (plain := storable(np.asarray(value))) is not None:
            return {"number": [plain.dtype.str, plain.tobytes().hex()]}
        return self._special(value, path)

    def _special(self, value: Any, path: str) -> Any:
        if isinstance(value, np.dtype) and value.kind in "biufOU":
            return {"dtype": value.str}
        if isinstance(value, type) and value in TYPES.values():
            return {"type": value.__name__}
        if type(value) is make_column_selector:
            asked = (value.pattern, value.dtype_include, value.dtype_exclude)
            return {"column selector": [self.value(one, path) for one in asked]}
        if isinstance(value, slice):
            return {"slice": [self.value(one, path) for one in (value.start, value.stop, value.step)]}
        if name_of_part(value) is not None or isinstance(value, BaseEstimator):
            return self._once(value, path)
        for name, function in FUNCTIONS.items():
            if value is function:
                return {"function": name}
        raise _refused(value, path)

    def _key(self, key: Any, path: str) -> Any:
        if isinstance(key, str | bool) or type(key) is int or key is None:
            return key
        if isinstance(key, np.generic):
            return self.value(key, path)
        raise _refused(key, path)

    # --- arrays

    def _array(self, array: np.ndarray, path: str) -> Any:
        if array.dtype.kind in "OU":
            items = [self.value(one, path) for one in array.ravel().tolist()]
            return {"texts" if array.dtype.kind == "U" else "objects": [list(array.shape), items]}
        columns = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
        place = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        if place not in self._known:
            plain = storable(array.T if columns else array)
            if plain is None:
                raise _refused(array, path)
            self._known[place] = {"array by columns" if columns else "array": len(self.arrays)}
            self._held.append(array)
            self.arrays.append(plain)
        return self._known[place]

    def _sparse(self, matrix: Any, path: str) -> Any:
        matrix = matrix if matrix.format == "csc" else matrix.tocsr()  # itself where it is one
        kind = f"{'array' if isinstance(matrix, sparray) else 'matrix'} {matrix.format}"
        held = (self._array(one, path) for one in (matrix.data, matrix.indices, matrix.indptr))
        return {"sparse": [kind, list(matrix.shape), *held]}

    # --- parts

    def _once(self, value: Any, path: str) -> dict[str, int]:
        if id(value) not in self._known:
            part = self._estimator(value, path) if isinstance(value, BaseEstimator) else self._part(value, path)
            self._known[id(value)] = {"part": len(self.parts)}
            self._held.append(value)
            self.parts.append(part)
        return self._known[id(value)]

    def _part(self, value: Any, path: str) -> dict[str, Any]:
        name = name_of_part(value)
        assert name is not None
        left_out = NOT_STORED.get(name, ())
        held = {
            one.name: self.value(getattr(value, one.name), f"{one.name} of {path}")
            for one in fields(value)
            if one.name not in left_out
        }
        return {"is": name, "holds": held}

    def _estimator(self, value: BaseEstimator, path: str) -> dict[str, Any]:
        name = name_of_estimator(value)
        if name is None:
            raise _refused(value, path)
        if (rows := rows_of_search(value)) is not None:
            parameters = self._named(value.get_params(deep=False), path)
            return {"estimator": name, "parameters": parameters, "rows": self.value(rows, path)}
        held = {key: one for key, one in value.__getstate__().items() if key != "_sklearn_version"}
        parameters = {key: held.pop(key) for key in value.get_params(deep=False) if key in held}
        parameters |= {key: None for key in _ONLY_OF_A_FIT if key in parameters}
        return {
            "estimator": name,
            "parameters": self._named(parameters, path),
            "learned": self._named(held, path),
        }

    def _named(self, held: Mapping[str, Any], path: str) -> Any:
        """Parameters or attributes of an estimator."""
        return {"dict": [[key, self.value(one, f"{key} of {path}")] for key, one in held.items()]}


def _places(values: tuple[Any, ...], path: str) -> list[str]:
    """What the entries of a tuple are called: those of (name, transformer, columns) by the name."""
    if values and isinstance(values[0], str) and any(isinstance(one, BaseEstimator) for one in values):
        return [f"step {values[0]!r}"] * len(values)
    return [f"{path}[{i}]" for i in range(len(values))]


def _refused(value: Any, path: str) -> ModelFileError:
    """What cannot be written, by its name."""
    kind = type(value)
    if isinstance(value, BaseEstimator):
        what = f"{kind.__name__} of {kind.__module__}"
        change = "use transformers of scikit-learn that model files know (docs/models.md), or save the model without it"
        return ModelFileError(
            f"{path} is {what}, which a model file cannot hold, because loading it would run its code: {change}."
        )
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return ModelFileError(
            f"{path} is a random generator, which a model file does not hold: set_params(random_state=0), which "
            "changes nothing of a fitted model, and save again."
        )
    if callable(value):
        name = getattr(value, "__name__", kind.__name__)
        return ModelFileError(
            f"{path} is the function {name}, and a model file holds no code: use a metric, kernel or transformation "
            "that has a name, or compute it before and fit on the result ('precomputed')."
        )
    return ModelFileError(
        f"{path} is a {kind.__module__}.{kind.__qualname__}, which a model file cannot hold: use numbers, texts, "
        "arrays and the transformers of scikit-learn."
    )
