"""Read and write .h5ad files of anndata with h5py, an optional dependency."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError, MissingExtraError
from gramfold.io.columns import Columns
from gramfold.io.content import Content
from gramfold.io.mixed import as_column
from gramfold.io.reading import Reading
from gramfold.io.selection import Selection, listed, numbered, shortened
from gramfold.runtime.memory import require_room

INDEX = "obs_names"  # what the names of the rows are called
_PLACES = ("layers", "obsm")  # of other arrays


def read(content: Content, selection: Selection) -> Columns:
    """Read `X` or another array as the table; columns of `obs` and the names of the rows stand aside."""
    path = content.path
    selection.form.require("an .h5ad file", ("array",), path)
    h5py = require_h5py(path)
    try:
        with content.stream() as stream, h5py.File(stream, "r") as file:
            return _table(h5py, file, content, selection)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # damaged bytes make a parser raise anything
        raise InputError(
            f"'{path}' is not a readable .h5ad file of anndata ({shortened(str(error))}): save it again with "
            "write_h5ad of anndata 0.8 or later."
        ) from error


def write(
    path: Path,
    values: NDArray[Any],
    names: Sequence[str],
    ids: Mapping[str, NDArray[Any]],
    beside: Mapping[str, NDArray[Any]],
) -> None:
    """Write the values as `X`, ids as names of the rows, other columns as `obs`."""
    h5py = require_h5py(path)
    index = next(iter(ids.values()), np.arange(len(values)))
    with h5py.File(path, "w") as file:
        _set(file, "anndata", "0.1.0")
        _encoded(h5py, file, "X", values)
        _frame(h5py, file, "obs", index, beside)
        _frame(h5py, file, "var", np.array(names, dtype=object), {})
        for name in ("obsm", "varm", "obsp", "varp", "layers", "uns"):
            _set(file.create_group(name), "dict", "0.1.0")


def require_h5py(path: Path) -> Any:
    """Import h5py, or raise an error with the command that installs it."""
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is an .h5ad file and needs h5py, which is not installed: run `pip install \"gramfold[tables]\"`."
        ) from error
    return h5py


def _table(h5py: Any, file: Any, content: Content, selection: Selection) -> Columns:
    import pyarrow as pa

    key = _key(file, selection.form.array, content.path)
    matrix = _matrix(h5py, file[key], f"'{key}' of '{content.path}'")
    var, obs = file["var"], file["obs"]
    names = [str(name) for name in _column(h5py, var[var.attrs["_index"]])]
    if len(names) != matrix.shape[1]:
        prefix = key.removeprefix("obsm/")
        names = [f"{prefix}{j}" for j in range(matrix.shape[1])] if key != "X" else numbered(matrix.shape[1])
    names = _apart(names)
    index = str(obs.attrs["_index"])
    order = [str(name) for name in obs.attrs["column-order"]]
    aside = {INDEX if index == "_index" else index: index, **{name: name for name in order}}
    aside = {name: place for name, place in aside.items() if name not in set(names)}
    columns = [pa.array(_column(h5py, obs[place]), from_pandas=True) for place in aside.values()]
    arrays = {matrix.shape[1] + j: pa.chunked_array([column]) for j, column in enumerate(columns)}
    reading = Reading("h5ad", content.compression, part=None if key == "X" else key)
    return Columns(content.path, [*names, *aside], reading, arrays, matrix, list(aside))


def _key(file: Any, wanted: str | None, path: Path) -> str:
    able = ["X"] if "X" in file else []
    able += [f"{place}/{name}" for place in _PLACES if place in file for name in file[place]]
    for one in able:
        if wanted in (one, one.split("/")[-1]) or (wanted is None and one == "X"):
            return one
    if wanted is None:
        raise InputError(
            f"'{path}' has no array X; it has {listed(able) or 'none'}: name one (`--array`, or array= in Python)."
        )
    raise InputError(f"'{path}' has no array '{shortened(wanted)}'; it has {listed(able)}.")


def _matrix(h5py: Any, held: Any, source: str) -> NDArray[Any]:
    """An array of numbers, dense also where it is stored as sparse."""
    if isinstance(held, h5py.Dataset):
        if held.ndim != 2 or held.dtype.kind not in "biuf":
            raise InputError(f"{source} has shape {held.shape} and dtype {held.dtype}: a table of numbers is needed.")
        require_room(2 * held.size * held.dtype.itemsize, f"{source}, read as a table,")
        return np.asarray(held[:])
    kind = str(held.attrs.get("encoding-type", ""))
    if kind not in ("csr_matrix", "csc_matrix"):
        raise InputError(f"{source} is stored as '{shortened(kind)}', not as an array: name another array.")
    from scipy.sparse import csc_array, csr_array

    shape = tuple(int(length) for length in held.attrs["shape"])
    values = held["data"][:]
    require_room(2 * shape[0] * shape[1] * values.dtype.itemsize, f"{source}, read as a dense table,")
    parts = (values, held["indices"][:], held["indptr"][:])
    sparse = (csr_array if kind == "csr_matrix" else csc_array)(parts, shape=shape)
    sparse.check_format(full_check=True)  # indices beyond the matrix would read other memory
    return np.asarray(sparse.toarray())


def _column(h5py: Any, held: Any) -> NDArray[Any]:
    """One column of `obs` or `var`: numbers, or strings as objects, None where one is missing."""
    if isinstance(held, h5py.Dataset):
        return np.asarray(held.asstr()[:] if h5py.check_string_dtype(held.dtype) else held[:])
    if "codes" in held:  # categories
        codes = held["codes"][:]
        categories = as_column([*_column(h5py, held["categories"]).tolist(), None])
        return np.asarray(categories[codes])  # the code of a gap is -1
    values = _column(h5py, held["values"]).astype(object)
    values[held["mask"][:].astype(bool)] = None
    return values


def _apart(names: list[str]) -> list[str]:
    """Names that are all different, as anndata makes them: a gene may be listed twice."""
    taken: dict[str, int] = {}
    found = []
    for name in names:
        count = taken.get(name, 0)
        taken[name] = count + 1
        found.append(name if count == 0 else f"{name}-{count}")
    return found


def _set(group: Any, kind: str, version: str) -> None:
    group.attrs["encoding-type"], group.attrs["encoding-version"] = kind, version


def _encoded(h5py: Any, group: Any, name: str, values: NDArray[Any]) -> None:
    if values.dtype.kind in "biuf":
        _set(group.create_dataset(name, data=values), "array", "0.2.0")
        return
    words = ["" if value is None else str(value) for value in values.tolist()]
    _set(group.create_dataset(name, data=words, dtype=h5py.string_dtype()), "string-array", "0.2.0")


def _frame(h5py: Any, file: Any, name: str, index: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> None:
    group = file.create_group(name)
    _set(group, "dataframe", "0.2.0")
    group.attrs["_index"] = "_index"
    group.attrs["column-order"] = np.array(list(columns), dtype=h5py.string_dtype())
    _encoded(h5py, group, "_index", np.array([str(one) for one in index.tolist()], dtype=object))
    for key, values in columns.items():
        _encoded(h5py, group, key, values)
