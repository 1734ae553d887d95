"""Rows far outside of those that a model was fitted on: noted, counted, and named in a line."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gramfold.errors import ExtrapolationWarning

_SHOWN = 5  # rows in a line


def far_rows(outside: Any) -> Any:
    """Rows far outside of the training rows, or of the map, the farthest first."""
    import numpy as np

    from gramfold.extension.extrapolation import LIMIT

    if outside is None:
        return np.empty(0, dtype=int)
    far = np.flatnonzero(outside > LIMIT)
    return far[np.argsort(-outside[far], kind="stable")]


def outside_line(outside: Any, what: str, makes: str) -> str:
    """Summary line: how many rows lie far outside of `what`, which of them, and what that `makes` of the result."""
    from gramfold.extension.extrapolation import LIMIT
    from gramfold.runtime.counting import counted

    far = far_rows(outside)
    if not far.size:
        return f"outside   no row lies far outside of {what}"
    shown = ", ".join(f"{row} ({outside[row]:.3g})" for row in far[:_SHOWN])
    more = " …" if len(far) > _SHOWN else ""
    count = counted(len(far), "row")
    beyond = f"farther than {LIMIT:g} neighbourhood radii from {what}"
    return f"outside   {count} {beyond}, {makes}: {shown}{more} (rows counted from 0)"


@contextmanager
def outside_noted() -> Iterator[list[Any]]:
    """Note what is said of rows far outside, which is told with their numbers; other warnings are given as they are."""
    noted: list[Any] = []
    shown = warnings.showwarning

    def note(message: Any, category: Any, *where: Any, **more: Any) -> None:
        if issubclass(category, ExtrapolationWarning) and "neighbourhood radii" in str(message):
            noted.append(message)
        else:
            shown(message, category, *where, **more)

    with warnings.catch_warnings():
        warnings.simplefilter("always", ExtrapolationWarning)
        warnings.showwarning = note
        yield noted
