"""From what a user passes to rows in partitions."""

import re
from collections.abc import Sequence
from glob import glob, has_magic
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gramfold.distributed.batches import ArrayRows, ParquetRows, require_batches
from gramfold.distributed.partitions import Partitions
from gramfold.distributed.unchanged import mapped
from gramfold.errors import InputError
from gramfold.neighbors.columns import is_dask, require_numeric_types
from gramfold.runtime.progress import SILENT, Stages

_SIZE = re.compile(r"\s*([0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+)\s*([kmgtpe]?i?b?)\s*", re.IGNORECASE)
_NO_NAMES = "has no names of columns: leave columns out."
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}


def open_rows(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    memory_limit: float | str | None = None,
    client: Any = None,
) -> Partitions:
    """Rows in partitions, for `fit` and `transform` of every class that takes them.

    Parameters
    ----------
    source : Dask array or dataframe, str, path-like, list of these, or numpy.ndarray
        A Dask collection; a Parquet file, a folder, a pattern (``"big/*.parquet"``) or a list of these; a .npy file; or
        an array that is mapped into memory.
    columns : list of str, optional
        Columns that are the data, in this order. None: all.
    memory_limit : float or str, optional
        Memory that files and arrays are streamed within, in bytes or as ``"2 GB"``. None: a quarter of what is free.
        For Dask its workers have limits of their own.
    client : distributed.Client, optional
        The cluster that a Dask collection is computed on. None: the current one, or Dask's own choice.

    Returns
    -------
    rows : Partitions
        Nothing has been read of it but the columns and sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import PCA
    >>> from gramfold.distributed import open_rows
    >>> X = np.random.default_rng(0).standard_normal((100_000, 5)) * [5, 4, 1, 1, 1]
    >>> PCA().fit(open_rows(X, memory_limit="10 MB")).explained_variance_ratio_.round(2)
    array([0.57, 0.36])
    """
    return partitions_of(source, columns=columns, memory_limit=memory_limit, client=client)


def partitions_of(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    memory_limit: float | str | None = None,
    client: Any = None,
    gaps: bool = False,
    stages: Stages = SILENT,
    known: Sequence[str] | None = None,
) -> Partitions:
    """The same for a fit: `gaps` are missing values that its method knows, `stages` are told of the work.

    `known` are the columns of a model, which are read of Parquet files, whatever else these have.
    """
    found: ArrayRows | ParquetRows
    if isinstance(source, Partitions):
        return source.read_for(stages, gaps=gaps)
    if is_dask(source):
        from gramfold.distributed.dask_rows import DaskRows, is_frame

        if columns is not None:
            if not is_frame(source):
                raise InputError(f"X is a Dask array, which {_NO_NAMES}")
            source = source[list(columns)]
        return DaskRows.of(source, gaps=gaps, client=client, stages=stages)
    limit = None if memory_limit is None else in_bytes(memory_limit)
    files = files_of(source) if isinstance(source, str | PathLike) or _are_paths(source) else None
    if files is None or files[0].suffix == ".npy":
        if columns is not None:
            raise InputError(f"X is an array, which {_NO_NAMES}")
        array = np.asanyarray(source) if files is None else mapped(files[0])
        found = ArrayRows(array, limit, gaps=gaps)
        require_numeric_types([(j, array.dtype) for j in range(found.width)], array)
    else:
        found = ParquetRows(files, limit, columns=known if columns is None else columns, gaps=gaps)
        found.require_numeric()
    require_batches(limit, found.width)
    found.stages = stages
    return found


def files_of(source: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    """The files of a path, a folder or a pattern, in the order of their names; of several, in their order."""
    if not isinstance(source, str | PathLike):
        return _of_one_kind([file for one in source for file in files_of(one)])
    text, path = str(source), Path(source)
    if path.is_dir():
        found = sorted(path.glob("*.parquet"))
    elif has_magic(text) and not path.exists():
        found = sorted(Path(one) for one in glob(text))  # noqa: PTH207  of any folder, also an absolute one
    elif path.exists():
        found = [path]
    else:
        raise InputError(f"there is no '{text}': check the path.")
    # what begins with a point or a low line is of a program that wrote the others
    found = [one for one in found if one == path or not one.name.startswith((".", "_"))]
    if not found:
        _refuse_hive(sorted(path.glob("*=*")) if path.is_dir() else [], text)
        raise InputError(f"'{text}' matches no Parquet file: check the folder or the pattern.")
    if len({file.parent for file in found}) > 1:
        _refuse_hive([file.parent for file in found if "=" in file.parent.name], text)
    return _of_one_kind(found)


def _of_one_kind(found: list[Path]) -> list[Path]:
    odd = [file for file in found if file.suffix not in {".parquet", ".pq", ".npy"}]
    if odd or (len(found) > 1 and any(file.suffix == ".npy" for file in found)):
        raise InputError(
            f"'{odd[0] if odd else found[0]}' cannot be read in parts: pass Parquet files, or one .npy file; other "
            "tables are read whole by gramfold.io.read_table."
        )
    return found


def _refuse_hive(folders: Sequence[Path], text: str) -> None:
    """Raise an error where a column is in the names of folders (month=1)."""
    if folders:
        name = folders[0].name
        raise InputError(
            f"'{text}' has folders such as '{name}', whose names are a column '{name.split('=')[0]}' that is in no "
            "file: read them with dask.dataframe.read_parquet, which has such columns as categories (.astype(float)), "
            "or pass the files of one folder."
        )


def _are_paths(source: Any) -> bool:
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(one, str | PathLike) for one in source)


def in_bytes(size: float | str) -> float:
    """A size such as "2 GB" in bytes."""
    if isinstance(size, int | float) and not isinstance(size, bool) and size > 0:
        return float(size)
    found = _SIZE.fullmatch(str(size))
    if found is None or float(found[1]) == 0:
        raise InputError(f"memory_limit={size!r} is no size: pass a number of bytes, or a text such as '2 GB'.")
    unit = found[2].lower()
    base = 1024 if "i" in unit else 1000
    return float(found[1]) * float(base) ** _POWERS[unit.rstrip("ib")]
