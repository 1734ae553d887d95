"""Several files as one table: Parquet files, or pictures, which are rows."""

import glob
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gramfold.errors import InputError, MissingExtraError
from gramfold.io import arrow
from gramfold.io.columns import Columns
from gramfold.io.content import content_of
from gramfold.io.reading import Reading
from gramfold.io.selection import Selection, listed, numbered
from gramfold.runtime.memory import require_room

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".webp")
FILE = "file"  # column with the names of the pictures


def several_files(path: Path) -> list[Path] | None:
    """Files of a folder or of a pattern such as parts/*.parquet, in the order of their names; None for other paths."""
    try:
        if path.is_dir():
            found = [one for one in path.rglob("*") if one.is_file()]
        elif glob.has_magic(str(path)) and not path.exists():
            found = [Path(name) for name in glob.glob(str(path), recursive=True)]  # noqa: PTH207 - of any folder
        else:
            return None
    except (OSError, ValueError):  # which the reader of a single file reports
        return None
    # what begins with a point or a low line is of a program that wrote the others
    return sorted(one for one in found if not one.name.startswith((".", "_")))


def read_folder(path: Path, files: Sequence[Path], selection: Selection) -> Columns:
    """Read Parquet files or pictures as one table."""
    tables = [one for one in files if one.suffix.lower() in arrow.PARQUET]
    pictures = [one for one in files if one.suffix.lower() in PICTURES]
    if tables and not pictures:
        return arrow.read_several(path, [content_of(one, arrow.PARQUET) for one in tables], selection)
    if pictures and not tables:
        return _pictures(path, pictures, selection)
    if not path.is_dir() and not files:
        raise InputError(f"No file fits '{path}': check the pattern and the folder.")
    held = listed(sorted({one.suffix or "no ending" for one in files})) or "no files"
    raise InputError(
        f"'{path}' is a folder that holds {held}: give the name of a file in it, or a folder of Parquet files or of "
        "pictures alone."
    )


def _pictures(path: Path, files: Sequence[Path], selection: Selection) -> Columns:
    """Pictures of one size as rows: their pixels row by row, in grey, or in red, green and blue."""
    import pyarrow as pa

    selection.form.require("a folder of pictures", (), path)
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is a folder of pictures and needs Pillow, which is not installed: run "
            '`pip install "gramfold[tables]"`.'
        ) from error
    rows, shape, grey = [], None, True
    for file in files:
        try:
            with Image.open(file) as picture:
                in_grey = picture.mode in ("1", "L", "LA", "I", "I;16", "F")
                kept = (
                    picture if picture.mode in ("L", "I", "I;16", "F") else picture.convert("L" if in_grey else "RGB")
                )
                pixels = np.asarray(kept, dtype=np.float32)
        except MemoryError:
            raise
        except Exception as error:  # damaged bytes make a parser raise anything
            raise InputError(f"'{file}' is not a readable picture: remove it, or save it again.") from error
        grey = grey and in_grey
        if shape is None:
            shape = pixels.shape
            require_room(2 * len(files) * pixels.nbytes, f"A table of {len(files):,} pictures")
        if pixels.shape != shape:
            raise InputError(
                f"'{file}' has {_size(pixels.shape)}, but '{files[0]}' has {_size(shape)}: all pictures need one size, "
                "and colours in all or in none."
            )
        rows.append(pixels.ravel())
    matrix = np.array(rows)
    shown = [str(file.relative_to(path)) if path.is_dir() else file.name for file in files]
    arrays = {matrix.shape[1]: pa.chunked_array([pa.array(shown)])}
    kind = "picture" if grey else "colour picture"
    names = [*numbered(matrix.shape[1]), FILE]
    return Columns(path, names, Reading(kind, files=len(files)), arrays, matrix, [FILE], picture=shape)


def _size(shape: tuple[int, ...]) -> str:
    height, width, *colours = shape
    return f"{width} × {height} pixels{' in colour' if colours else ''}"
