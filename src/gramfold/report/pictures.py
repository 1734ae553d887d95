"""Pictures of rows: the rows themselves where they are images, or one picture for each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramfold.errors import InputError
from gramfold.report.blocks import Blocks
from gramfold.report.subject import Subject
from gramfold.report.thinning import Thinned
from gramfold.types import Floats

_MOST_BYTES = 24_000_000  # of all pictures: with more they are made smaller, so that the page still opens
_SMALLEST = 8  # pixels of a side, below which a picture shows nothing
_LARGEST = 128  # pixels of a side: a larger one is shown no larger
_GRAY, _COLOR, _WITH_ALPHA = 1, 3, 4
_WHITE = 255.0


@dataclass(frozen=True, eq=False)
class Pictures:
    """Bytes (n, height, width, channels) from 0 (black) to 255."""

    pixels: NDArray[np.uint8]
    note: str = ""

    def written(self, blocks: Blocks) -> dict[str, Any]:
        """As the manifest has them."""
        _, height, width, channels = self.pixels.shape
        return {"width": width, "height": height, "channels": channels, "pixels": blocks.add(self.pixels)}


def are_pixels(given: Any, X: Any) -> bool:
    """Whether the columns of X are the pixels of the pictures, so that none says anything by itself."""
    width = np.shape(X)[1:]
    if given is None or len(width) != 1:
        return False
    shape = tuple(given) if isinstance(given, tuple | list) and np.ndim(given) == 1 else np.shape(given)[1:]
    return bool(np.prod(shape) == width[0])


def pictures_of(given: Any, subject: Subject, drawn: Thinned, table: Any = None) -> Pictures | None:
    """Of a shape (height, width[, 3]) that rows have, or of an array with a picture for each row."""
    if given is None:
        return None
    n = len(subject.Y)
    if isinstance(given, tuple | list) and all(isinstance(one, int | np.integer) for one in given):
        values = _of_rows(tuple(int(one) for one in given), subject, drawn, table)
    else:
        values = np.asarray(given)
        if values.ndim not in (3, 4) or len(values) != n or values.dtype.kind not in "biuf":
            raise InputError(
                f"pictures has shape {values.shape} for {n} rows: pass the height and width of the rows, as in "
                "pictures=(28, 28), or an array (n_rows, height, width) or (n_rows, height, width, 3) of numbers."
            )
        values = drawn.take(values)
    if values.ndim == 3:
        values = values[..., None]
    if values.shape[3] not in (_GRAY, _COLOR, _WITH_ALPHA) or 0 in values.shape[1:]:
        raise InputError(
            f"pictures have {values.shape[3]} values for each pixel: give one (grey), three (red, green, blue) or four "
            "(and opacity)."
        )
    pixels = _bytes(values)
    if pixels.shape[3] == _WITH_ALPHA:
        pixels = _on_white(pixels)
    return _small(pixels)


def _of_rows(shape: tuple[int, ...], subject: Subject, drawn: Thinned, table: Any) -> NDArray[Any]:
    if len(shape) not in (2, 3) or min(shape) < 1:
        raise InputError(f"pictures={shape} is not a shape: pass (height, width) or (height, width, 3).")
    size = int(np.prod(shape))
    rows = _numbers(table, size)  # as they were measured, where the rows of the method were scaled
    if rows is None:
        rows = subject.X if subject.X is not None and not subject.precomputed else None
    if rows is None or rows.shape[1] != size:
        width = "no columns that are known" if rows is None else f"{rows.shape[1]} columns"
        raise InputError(
            f"pictures={shape} needs rows of {size} columns, but they have {width}: pass the shape that they have, or "
            "an array with a picture for each row."
        )
    taken = drawn.take(rows)
    dense = taken.toarray() if hasattr(taken, "toarray") else np.asarray(taken, dtype=np.float64)
    return dense.reshape(len(dense), *shape)


def _numbers(table: Any, size: int) -> Any:
    if table is None or not hasattr(table, "shape") or len(table.shape) != 2 or table.shape[1] != size:
        return None
    try:
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):  # it holds other things
        return None


def _bytes(values: NDArray[Any]) -> NDArray[np.uint8]:
    """From black to white: bytes as they are, numbers from 0 to 1 or to 255, or from the least to the largest."""
    if values.dtype == np.uint8:
        return values
    if values.dtype == np.bool_:
        return values.astype(np.uint8) * 255
    floats: Floats = np.asarray(values, dtype=np.float64)
    known = np.isfinite(floats)
    low, high = (float(floats[known].min()), float(floats[known].max())) if known.any() else (0.0, 1.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low >= 0 and 16 < high <= 255:
        low, high = 0.0, 255.0
    half = high / 2 - low / 2 or 0.5
    share = (np.where(known, floats, low) / 2 - low / 2) / half
    return np.rint(255 * np.clip(share, 0.0, 1.0)).astype(np.uint8)


def _on_white(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    opacity = pixels[..., 3:].astype(np.float32) / _WHITE
    return np.rint(_WHITE + opacity * (pixels[..., :3] - _WHITE)).astype(np.uint8)


def _small(pixels: NDArray[np.uint8]) -> Pictures | None:
    """The same in fewer pixels, where they are many."""
    n, height, width, channels = pixels.shape
    step = max(1, -(-max(height, width) // _LARGEST))
    while n * (height // step) * (width // step) * channels > _MOST_BYTES:
        step += 1
    if step == 1:
        return Pictures(pixels)
    if min(height, width) // step < min(_SMALLEST, height, width):
        return Pictures(pixels[:, :0, :0], f"Pictures of {n:,} rows are too many for a page, and are left out.")
    smaller = _mean(pixels, step)
    note = f"Pictures are shown in {smaller.shape[2]} × {smaller.shape[1]} pixels in place of {width} × {height}."
    return Pictures(smaller, note)


def _mean(pixels: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    n, height, width, channels = pixels.shape
    tall, wide = height // step, width // step
    cut = pixels[:, : tall * step, : wide * step].reshape(n, tall, step, wide, step, channels)
    mean: Floats = cut.mean(axis=(2, 4), dtype=np.float32)
    return np.rint(mean).astype(np.uint8)
