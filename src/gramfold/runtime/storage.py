"""Large arrays in a file that the system pages in and out: as large as the disk, and gone with their last user."""

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
    """An array of zeros in a file of this folder that has no name: it vanishes when the array does, or the process."""
    check_room(folder, shape, dtype)
    with TemporaryFile(dir=fspath(folder), prefix="gramfold-") as file:
        return np.asarray(np.memmap(file, dtype=dtype, mode="w+", shape=shape))


def most_room() -> float:
    """Bytes that are free where the user works, or where temporary files go."""
    return float(max(shutil.disk_usage(folder).free for folder in (Path.cwd(), gettempdir())))


def check_room(folder: str | PathLike[str], shape: tuple[int, ...], dtype: DTypeLike) -> None:
    """Refuse a folder that is not there or has no room."""
    if not Path(folder).is_dir():
        raise InputError(f"storage={fspath(folder)!r} is not a folder: name one that exists on a disk with room.")
    need = float(np.prod(shape, dtype=np.float64)) * np.dtype(dtype).itemsize
    free = shutil.disk_usage(folder).free
    if need > free:
        raise MemoryForecastError(
            f"a matrix of {' x '.join(f'{size:,}' for size in shape)} needs {need / GIGABYTE:.1f} GB on disk and "
            f"{free / GIGABYTE:.1f} GB are free in storage={fspath(folder)!r}: name a folder with more room, or use "
            "landmarks."
        )
