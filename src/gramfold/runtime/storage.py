"""Large arrays in memory-mapped temporary files, which are deleted together with the array."""

import shutil
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gramfold.errors import InputError, MemoryForecastError
from gramfold.runtime.memory import GIGABYTE


def array_in_file(folder: str | PathLike[str], shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Create an array of zeros in an unnamed file of this folder, which is deleted with the array or the process."""
    check_room(folder, shape, dtype)
    with TemporaryFile(dir=fspath(folder), prefix="gramfold-") as file:
        return np.asarray(np.memmap(file, dtype=dtype, mode="w+", shape=shape))


def most_room() -> float:
    """Free bytes on disk in the working directory or the temporary folder, whichever has more."""
    return float(max(shutil.disk_usage(folder).free for folder in (Path.cwd(), gettempdir())))


def check_room(folder: str | PathLike[str], shape: tuple[int, ...], dtype: DTypeLike) -> None:
    """Raise an error if the folder does not exist or has too little space."""
    if not Path(folder).is_dir():
        raise InputError(
            f"storage={fspath(folder)!r} is not a folder: give an existing folder on a disk with enough space."
        )
    need = float(np.prod(shape, dtype=np.float64)) * np.dtype(dtype).itemsize
    free = shutil.disk_usage(folder).free
    if need > free:
        raise MemoryForecastError(
            f"a matrix of {' x '.join(f'{size:,}' for size in shape)} needs {need / GIGABYTE:.1f} GB on disk, but only "
            f"{free / GIGABYTE:.1f} GB are free in storage={fspath(folder)!r}: give a folder with more space, or use "
            "landmarks."
        )
