"""A model from the tree of a file. Whatever does not fit its class is refused before anything uses it."""

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector

from gramfold.embedding import Estimator, Fitted
from gramfold.io.model_file.fitting import field_types, fits
from gramfold.io.model_file.parts import FUNCTIONS, NOT_STORED, TYPES, estimator_class, estimator_homes, part_classes
from gramfold.io.model_file.soundness import Soundness
from gramfold.neighbors.index import VectorIndex

_SPARSE = {
    "array csr": csr_array,
    "array csc": csc_array,
    "matrix csr": csr_matrix,
    "matrix csc": csc_matrix,
}
_COUNTED = {"<i4", "<i8"}  # what indices of sparse matrices are
_MOST_WRITTEN_OUT = 100_000  # parts of a model, if one that is held twice is counted twice, or ...
_TIMES_HELD = 100  # ... so many for each part
_MOST_SEARCHES = 16  # of scikit-learn, each of which builds a tree
_MOST_PADDING = 1 << 28  # bytes of an array of texts, or ...
_MOST_PADDED = 8  # ... so many times those of the texts themselves
_FLOATS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


class NotAModelError(Exception):
    """The tree is none that was ever written; the sentence says where."""


class Decoder:
    """Makes the parts of one model, each once."""

    def __init__(self, arrays: list[np.ndarray], *, scan: bool) -> None:
        self._arrays, self._scan = arrays, scan  # whether values of arrays are looked at, or only their shapes
        self._parts: list[Any] = []
        self._written_out: list[int] = []  # how many parts each is, with all that it holds
        self._held = 0  # by the part that is made
        self._searches = 0
        self._matrices: dict[str, Any] = {}  # sparse ones, each made and looked at once
        self._soundness = Soundness(scan=scan)
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "float": lambda word: _FLOATS[word],
            "tuple": lambda items: tuple(self.value(one) for one in _list(items)),
            "dict": self._dict,
            "array": lambda number: self._arrays[_index(number)],
            "array by columns": lambda number: self._arrays[_index(number)].T,
            "texts": self._texts,
            "objects": self._objects,
            "sparse": self._sparse,
            "number": self._number,
            "dtype": _dtype,
            "type": lambda name: TYPES[name],
            "column selector": self._selector,
            "slice": lambda ends: slice(*(self.value(one) for one in _list(ends, 3))),
            "function": lambda name: FUNCTIONS[name],
            "part": self._part_before,
        }

    def model(self, parts: Any, root: Any) -> Any:
        """The model itself, after all its parts."""
        for part in _list(parts):
            self._held = 1
            self._parts.append(self._made(part))
            self._written_out.append(self._held)
            if self._held > max(_MOST_WRITTEN_OUT, _TIMES_HELD * len(parts)):
                raise NotAModelError("its parts hold each other too often")
        return self.value(root)

    def value(self, value: Any) -> Any:
        """One value of the tree."""
        if value is None or isinstance(value, str | bool | int | float):
            return value
        if isinstance(value, list):
            return [self.value(one) for one in value]
        ((kind, held),) = value.items()
        return self._kinds[kind](held)

    def _dict(self, entries: Any) -> dict[Any, Any]:
        return {self.value(key): self.value(one) for key, one in map(_pair, _list(entries))}

    def _part_before(self, number: Any) -> Any:
        """A part that was made already; so none holds itself."""
        if _index(number) >= len(self._parts):
            raise NotAModelError("a part is held by one before it")
        self._held += self._written_out[number]
        return self._parts[number]

    def _objects(self, held: Any) -> np.ndarray:
        shape, items = _list(held, 2)
        made = [self.value(one) for one in _list(items)]
        return np.fromiter(made, dtype=object, count=len(made)).reshape([_index(length) for length in shape])

    def _texts(self, held: Any) -> np.ndarray:
        objects = self._objects(held)
        if not all(isinstance(one, str) for one in objects.flat):
            raise NotAModelError("a text is none")
        lengths = [1, *(len(one) for one in objects.flat)]
        room = 4 * max(lengths) * len(lengths)  # bytes; each takes as much as the longest
        if room > max(_MOST_PADDING, _MOST_PADDED * 4 * sum(lengths)):
            raise NotAModelError("a text is too long for an array of texts")
        return objects.astype(f"U{max(lengths)}")

    def _selector(self, held: Any) -> make_column_selector:
        pattern, include, exclude = (self.value(one) for one in _list(held, 3))
        return make_column_selector(pattern, dtype_include=include, dtype_exclude=exclude)

    def _number(self, held: Any) -> Any:
        dtype, digits = _list(held, 2)
        (number,) = np.frombuffer(bytes.fromhex(digits), dtype=_dtype(dtype))
        return number

    def _sparse(self, held: Any) -> Any:
        words = repr(held)
        if words not in self._matrices:
            self._matrices[words] = self._matrix(held)
        return self._matrices[words]

    def _matrix(self, held: Any) -> Any:
        kind, shape, *arrays = _list(held, 5)
        data, indices, starts = (self.value(one) for one in arrays)
        rows, columns = (_index(length) for length in _list(shape, 2))
        lists = rows if kind.endswith("csr") else columns
        flat = all(isinstance(one, np.ndarray) and one.ndim == 1 for one in (data, indices, starts))
        if not flat or len(starts) != lists + 1 or not {indices.dtype.str, starts.dtype.str} <= _COUNTED:
            raise NotAModelError("a sparse matrix is none")
        # not made of its arrays: that would copy some, and read all
        matrix = _SPARSE[kind]((rows, columns), dtype=data.dtype)
        matrix.data, matrix.indices, matrix.indptr = data, indices, starts
        matrix.check_format(full_check=self._scan)
        return matrix

    # --- parts

    def _made(self, part: Any) -> Any:
        if not isinstance(part, dict):
            raise NotAModelError("a part has no name")
        return self._part(part["is"], part["holds"]) if "is" in part else self._estimator(part)

    def _part(self, name: Any, holds: Any) -> Any:
        cls = part_classes()[name]
        types, values = field_types(cls), {key: self.value(one) for key, one in holds.items()}
        for key, value in values.items():
            if key not in types:
                raise NotAModelError(f"{name} has no {key}")
            if not fits(value, types[key]):
                raise NotAModelError(f"{name}.{key} is a {type(value).__name__}, which it cannot be")
        left_out = NOT_STORED.get(name, ())
        for one in fields(cls):
            given = one.name in values or one.default is not MISSING or one.default_factory is not MISSING
            if not given and one.name not in left_out:
                raise NotAModelError(f"{name} lacks {one.name}")
        points = values["points"] if issubclass(cls, VectorIndex) else None
        if isinstance(points, np.ndarray) and not points.flags.c_contiguous:  # it would be copied
            raise NotAModelError(f"{name}.points lie column by column")
        made = cls(**values, **dict.fromkeys(left_out))
        self._soundness.require(made)
        return made

    def _estimator(self, part: dict[str, Any]) -> BaseEstimator:
        name = part["estimator"]
        if name not in estimator_homes():
            raise NotAModelError(f"there is no estimator {name!r}")
        cls, parameters = estimator_class(name), self.value(part["parameters"])
        if parameters.get("memory") is not None:
            raise NotAModelError(f"{name} would read what is kept in a folder")
        made: BaseEstimator = cls(**parameters)
        if hasattr(cls, "_parameter_constraints"):
            made._validate_params()  # noqa: SLF001 - scikit-learn's name for it
        if "rows" in part:
            self._searches += 1
            if self._searches > _MOST_SEARCHES:
                raise NotAModelError("there are too many searches to build")
            return made.fit(self.value(part["rows"]))
        learned = self.value(part["learned"])
        for key, value in learned.items():
            if not isinstance(key, str) or not key.isidentifier() or hasattr(cls, key) or key in parameters:
                raise NotAModelError(f"{name} learns no {key}")
            vars(made)[key] = value
        if isinstance(made, Estimator) and not (isinstance(learned.get("model_"), Fitted) and made.model_.name == name):
            raise NotAModelError(f"{name} has no model of its own")
        return made


def _list(value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise NotAModelError("a list is none")
    return value


def _pair(entry: Any) -> list[Any]:
    return _list(entry, 2)


def _index(number: Any) -> int:
    """A number of an array or part; Python would count negative ones from the end."""
    if type(number) is not int or number < 0:
        raise NotAModelError("a number of an array is none")
    return number


def _dtype(word: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = np.dtype(word)
    if found.kind not in "biufOU":
        raise NotAModelError("a type of numbers or texts is none")
    return found
