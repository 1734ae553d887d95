"""A model as a tree of JSON values and a list of arrays.

JSON's own values are themselves: null, true, numbers (finite), texts and lists. All else is an object of one entry,
whose name says what it is: {"tuple": […]}, {"array": 3}, {"part": 7}. Parts, the objects of a model, stand in a list of
their own, each after those that it holds; so one that is held twice is written once, and no tree has a loop.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from gramfold.errors import ModelFileError
from gramfold.io.model_file.container import storable
from gramfold.io.model_file.parts import FUNCTIONS, NOT_STORED, name_of_estimator, name_of_part
from gramfold.io.model_file.searches import rows_of_search

_FORMATS = ("csr", "csc", "coo")


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
            return {"tuple": [self.value(one, f"{path}[{i}]") for i, one in enumerate(value)]}
        if isinstance(value, Mapping):
            return {"dict": [[self._key(k, path), self.value(v, f"{path}[{k!r}]")] for k, v in value.items()]}
        if isinstance(value, np.generic) and (plain := storable(np.asarray(value))) is not None:
            return {"number": [plain.dtype.str, plain.tobytes().hex()]}
        return self._special(value, path)

    def _special(self, value: Any, path: str) -> Any:
        if isinstance(value, np.dtype) and value.kind in "biuf":
            return {"dtype": value.str}
        if isinstance(value, type) and issubclass(value, np.generic):  # as numpy's and scikit-learn's parameters have
            return {"dtype class": np.dtype(value).str}
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
            return {"texts": [array.dtype.str, list(array.shape), items]}
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
        if matrix.format not in _FORMATS or len(matrix.shape) != 2:
            matrix = matrix.tocsr()
        kind = ("matrix " if isinstance(matrix, np.matrix) or not _is_array(matrix) else "array ") + matrix.format
        held = (matrix.row, matrix.col) if matrix.format == "coo" else (matrix.indices, matrix.indptr)
        return {"sparse": [kind, list(matrix.shape), *(self._array(one, path) for one in (matrix.data, *held))]}

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
            one.name: self.value(getattr(value, one.name), f"{path}.{one.name}")
            for one in fields(value)
            if one.name not in left_out
        }
        return {"is": name, "holds": held}

    def _estimator(self, value: BaseEstimator, path: str) -> dict[str, Any]:
        name = name_of_estimator(value)
        if name is None:
            raise _refused(value, path)
        if (rows := rows_of_search(value)) is not None:
            parameters = self.value(value.get_params(deep=False), f"{path}({name})")
            return {"estimator": name, "parameters": parameters, "rows": self.value(rows, path)}
        held = {key: one for key, one in value.__getstate__().items() if key != "_sklearn_version"}
        parameters = {key: held.pop(key) for key in value.get_params(deep=False) if key in held}
        if "progress" in parameters:
            parameters["progress"] = None  # what watched a fit is no part of the model
        return {
            "estimator": name,
            "parameters": self.value(parameters, f"{path}({name})"),
            "learned": self.value(held, f"{path}({name})"),
        }


def _is_array(matrix: Any) -> bool:
    from scipy.sparse import sparray

    return isinstance(matrix, sparray)


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
            f"{path} is a random generator, which a model file does not hold: set_params(random_state=0), which changes "
            "nothing of a fitted model, and save again."
        )
    if callable(value):
        name = getattr(value, "__name__", kind.__name__)
        return ModelFileError(
            f"{path} is the function {name}, and a model file holds no code: use a metric, kernel or transformation "
            "that has a name, or compute it before and fit on the result ('precomputed')."
        )
    return ModelFileError(
        f"{path} is a {kind.__module__}.{kind.__qualname__}, which a model file cannot hold: use numbers, texts, arrays "
        "and the transformers of scikit-learn."
    )
