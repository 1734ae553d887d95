"""Columns of a map that may be no coordinates, by their names and their variance."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gramfold.errors import GramfoldWarning

_NEARLY_ALL = 0.9  # of the variance of a map in one column: more than a map that is merely long
_NUMBER = re.compile(r"(.*?)[\W_]*\d+\W*")  # umap_1, tSNE-2, PC1, latent[0]
_LETTER = re.compile(r"(?:(.*)[\W_])?([xyz]|[uvw])|([xyz]|[uvw])[\W_](.*)")  # x, umap_y, x_umap
_FEW = 3  # names that are to be copied
_TRIPLES = ("xyz", "uvw")


def warn_of_no_coordinates(path: Path, names: Sequence[str], places: Any) -> None:
    """Warn of columns whose names are not of the family that the others are, or that hide the others."""
    from gramfold.io.selection import quoted
    from gramfold.runtime.warning import warn

    if len(names) < 2:
        return
    family = _largest_family(names)
    others = [name for name in names if name not in family]
    if family and others:
        warn(
            f"In '{path}' {quoted(others)} {_is_one(others)} beside {quoted(family)}, but the names do not look alike: "
            f"name the coordinates with --map-columns{_written(family)}.",
            GramfoldWarning,
        )
    elif others:
        loud, share = _loudest(names, places)
        if share >= _NEARLY_ALL:
            warn(
                f"In '{path}' column '{loud}' has {share:.1%} of the variance of the map, so that the others hardly "
                "count: if it is no coordinate, name those that are with --map-columns.",
                GramfoldWarning,
            )


def _largest_family(names: Sequence[str]) -> list[str]:
    """The names with one stem, where at least two have it."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(_stem(name) or name, []).append(name)
    largest = max(families.values(), key=len)
    return largest if len(largest) > 1 else []


def _stem(name: str) -> str | None:
    """What a coordinate has in common with the others of its map; None of a name that is no coordinate's."""
    low = name.strip().lower()
    numbered = _NUMBER.fullmatch(low)
    if numbered:
        return f"{numbered[1]} #"
    lettered = _LETTER.fullmatch(low)
    if lettered is None:
        return None
    before, last, first, after = lettered.groups()
    letters = next(triple for triple in _TRIPLES if (last or first) in triple)
    return f"{before or ''} {letters} {after or ''}"


def _loudest(names: Sequence[str], places: Any) -> tuple[str, float]:
    """The column of largest variance, and its share in that of all."""
    import numpy as np

    known = places[~np.isnan(places).any(axis=1)]
    if not len(known):
        return names[0], 0.0
    scale = np.abs(known).max() or 1.0  # in which no square overflows
    variances = (known / scale).var(axis=0)
    column = int(variances.argmax())
    return names[column], float(variances[column] / (variances.sum() or 1.0))


def _is_one(names: Sequence[str]) -> str:
    return "counts as a coordinate" if len(names) == 1 else "count as coordinates"


def _written(family: Sequence[str]) -> str:
    """Few names as they stand on a command line."""
    from shlex import quote

    return f" {quote(','.join(family))}" if len(family) <= _FEW and not re.search('[,"]', "".join(family)) else ""
