"""In which units columns of numbers should be measured, by a sample of the rows.

columns that drown the others (neighbors/scales.py)     standardise
counts: whole, mostly 0                                 logarithms, and rows of unit length
spreads that differ more than tenfold                   standardise, unless the quiet columns are noise: no function
                                                        of the others, and uncorrelated
else                                                    as they are
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from gramfold.neighbors.scales import LoudColumns, counts, spreads
from gramfold.types import Floats

_TENFOLD = 10.0
_MANY = 16  # columns: from there on the typical one is compared, since edges of an image hardly vary
_ROWS, _NEAREST = 500, 10
_EXPLAINED = 0.2  # of a column's variance by rows that are near in the loud columns
_ABOVE_CHANCE = 1.2  # of the largest eigenvalue that correlations of noise have
_FEWEST = 30  # rows of which noise can be told


@dataclass(frozen=True)
class Scaling:
    """What to do, and why."""

    value: str  # "none", "standardise" or "logarithm"
    reason: str


def choose_scaling(some: Floats, shown: list[str]) -> Scaling:
    """Of the columns (m, d) of numbers, NaN at gaps, with these names in sentences."""
    width = some.shape[1]
    if width >= 2 and counts(some):
        return Scaling(
            "logarithm",
            f"values are counts, {(some == 0).mean():.0%} of them 0: their logarithms differ less by how common a "
            "column is, and rows of length 1 less by how much was counted",
        )
    loud = LoudColumns.of(some)
    if loud is not None:
        names = " and ".join(shown[j] for j in loud.columns)
        return Scaling("standardise", f"{_column(loud.columns)} {names} would be {loud.share:.1%} of the variance")
    found = spreads(some)
    largest, least = float(found.max()), float(np.median(found) if width >= _MANY else found.min())
    ratio = largest / least if least > 0 else np.inf
    if width < 3 or ratio <= _TENFOLD:
        return Scaling("none", f"the spreads of the columns differ {_fold(ratio)}, as those of one unit may")
    quiet = found < largest / _TENFOLD
    if quiet.sum() > width / 2 and _noise(some, quiet):
        return Scaling(
            "none",
            f"{int(quiet.sum())} columns vary {ratio:.0f} times less than others and look like noise: standardised "
            "they would hide the others",
        )
    wide, narrow = shown[int(found.argmax())], shown[int(found.argmin())]
    return Scaling("standardise", f"column {wide} varies {largest / found.min():,.0f} times as much as column {narrow}")


def _fold(ratio: float) -> str:
    return f"{ratio:.1f}-fold" if ratio < _TENFOLD else f"{ratio:,.0f}-fold"


def _column(columns: Any) -> str:
    return "column" if len(columns) == 1 else "columns"


def _noise(some: Floats, quiet: Any) -> bool:
    """Whether quiet columns are no function of the loud ones and uncorrelated among themselves."""
    rows = some[~np.isnan(some).any(axis=1)][:_ROWS]
    if len(rows) < _FEWEST:
        return False
    varies = np.ptp(rows, axis=0) > 0  # a column that is one value in these rows says nothing of noise
    quiet, loud = quiet & varies, ~quiet & varies
    if not (quiet.any() and loud.any()):
        return False
    unit = np.where(varies, (rows - rows.mean(axis=0)) / np.where(varies, rows.std(axis=0), 1.0), 0.0)
    nearest = cKDTree(unit[:, loud]).query(unit[:, loud], min(_NEAREST, len(rows) - 1) + 1)[1][:, 1:]
    left = np.square(unit[:, quiet] - unit[:, quiet][nearest].mean(axis=1)).mean(axis=0) / (1 + 1 / nearest.shape[1])
    related = np.linalg.eigvalsh(unit[:, quiet].T @ unit[:, quiet] / len(rows))[-1]
    chance = (1 + np.sqrt(quiet.sum() / len(rows))) ** 2
    return bool((1 - left < _EXPLAINED).all() and related < _ABOVE_CHANCE * chance)
