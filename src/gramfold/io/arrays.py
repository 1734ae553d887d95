"""npy and npz: arrays without names, and arrays with names beside them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError
from gramfold.io.selection import Contents, Selection


def numbered(width: int) -> list[str]:
    """Names for columns that have none, as scikit-learn gives them: x0, x1, …."""
    return [f"x{j}" for j in range(width)]


def read_npy(path: Path, selection: Selection) -> Contents:
    """One array."""
    array = _load(path)
    return _selected(array, numbered(array.shape[-1] if array.ndim else 0), selection, f"'{path}'")


def read_npz(path: Path, selection: Selection) -> Contents:
    """The array `X`, or the only 2-D array there is; with `names` if stored beside it, and labels likewise."""
    with _load(path) as archive:
        members = {key: _member(archive, key, path) for key in archive.files}
    names = members.pop("names", None)
    tables = [key for key, array in members.items() if array.ndim == 2]
    key = "X" if "X" in members else tables[0] if len(tables) == 1 else None
    if key is None:
        held = ", ".join(f"{key} {array.shape}" for key, array in members.items()) or "nothing"
        raise InputError(f"'{path}' holds {held}, and which is the table is not clear: name it X.")
    array = members[key]
    fits = names is not None and array.ndim == 2 and names.shape == array.shape[1:]
    columns = [str(name) for name in names] if names is not None and fits else numbered(array.shape[-1])
    beside = selection.labels not in columns and selection.labels in members
    if not beside:
        return _selected(array, columns, selection, f"'{key}' of '{path}'")
    assert selection.labels is not None
    labels = _labels(members[selection.labels], len(array), f"'{selection.labels}' of '{path}'")
    found = _selected(array, columns, replace(selection, labels=None), f"'{key}' of '{path}'")
    return replace(found, labels=labels)


def write_npy(path: Path, values: NDArray[Any], names: Sequence[str]) -> None:  # noqa: ARG001 - one shape of writer
    """The values alone: the format has no place for names."""
    with path.open("wb") as stream:
        np.save(stream, values, allow_pickle=False)


def write_npz(path: Path, values: NDArray[Any], names: Sequence[str]) -> None:
    """Values as `X`, names as `names`."""
    with path.open("wb") as stream:
        np.savez_compressed(stream, X=values, names=np.array(names, dtype=np.str_))


def _load(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)  # pickles run code: a data file must not
    except (ValueError, EOFError, BadZipFile) as error:
        raise InputError(
            f"'{path}' is not a readable {path.suffix} file of numbers: save it again with numpy.save or numpy.savez."
        ) from error


def _member(archive: Any, key: str, path: Path) -> NDArray[Any]:
    try:
        return np.asarray(archive[key])
    except (ValueError, EOFError, BadZipFile) as error:
        raise InputError(f"'{key}' of '{path}' is not a readable array of numbers: save it again.") from error


def _labels(array: NDArray[Any], n: int, source: str) -> NDArray[Any]:
    """An array of words or numbers, one for each row."""
    if array.shape != (n,):
        raise InputError(
            f"{source} is an array of shape {array.shape} and the table has {n} rows: save one label for each row."
        )
    if array.dtype.kind not in "biufU":
        raise InputError(f"{source} holds values of type {array.dtype}, neither words nor numbers: save it as either.")
    return np.strings.strip(array) if array.dtype.kind == "U" else array


def _selected(array: NDArray[Any], names: list[str], selection: Selection, source: str) -> Contents:
    if array.ndim != 2:
        change = "reshape(-1, 1)" if array.ndim < 2 else "reshape(len(array), -1)"
        raise InputError(
            f"{source} is an array of shape {array.shape}, and a table has rows and columns: save array.{change}."
        )
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"{source} holds values of type {array.dtype}, which are not real numbers: save it as floating point."
        )
    kept = selection.positions(names, source)
    dtype = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    values = array if kept == list(range(array.shape[1])) else array[:, kept]
    labels = None if selection.labels is None else array[:, names.index(selection.labels)]
    return Contents(np.ascontiguousarray(values, dtype=dtype), [names[j] for j in kept], labels)
