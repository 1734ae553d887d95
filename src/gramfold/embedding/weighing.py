"""The weights of rows (`sample_weight`), read once: a row of weight 2 is a row that is given twice.

Within a fit they are the mass of vertices: identical rows are one vertex, whose mass is the sum of their weights
(`Collapse.weighted`). A class whose mathematics has no mass says so in `_without_mass`, and refuses weights by name.
"""

from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.types import Floats

_DO = "pass one positive number for each row"
# Products of two weights, and sums of them over the rows, must be numbers.
_LARGEST = 1e30


def read_weights(given: Any, n: int) -> Floats:
    """`sample_weight` as an array (n,) of float64 that no change of the user's reaches."""
    weights = _numbers(given)
    if weights.shape != (n,):
        what = f"is the single number {weights:g}" if weights.ndim == 0 else f"has the shape {weights.shape}"
        raise InputError(f"sample_weight {what}, but X has {n} rows: {_DO}, of shape ({n},).")
    bad = np.flatnonzero(~np.isfinite(weights))
    if bad.size:
        what = "NaN" if np.isnan(weights[bad[0]]) else "infinite"
        raise InputError(f"sample_weight of row {bad[0]} is {what}, and a row has a finite weight: {_DO}.")
    bad = np.flatnonzero(weights <= 0)
    if bad.size:
        raise InputError(
            f"sample_weight of row {bad[0]} is {weights[bad[0]]:g} ({bad.size} such row{'s' * (bad.size > 1)}), but a "
            "weight says how many times a row is given: leave rows of zero or negative weight out."
        )
    bad = np.flatnonzero((weights > _LARGEST) | (weights < 1.0 / _LARGEST))
    if bad.size:
        raise InputError(
            f"sample_weight of row {bad[0]} is {weights[bad[0]]:g}, whose products overflow or vanish: weights must be "
            f"between {1.0 / _LARGEST:g} and {_LARGEST:g}; divide them by a constant."
        )
    return weights


def refuse_weights(name: str, why: str, given: dict[str, Any]) -> None:
    """Refuse what a `fit` without weights was given; another name than `sample_weight` is a mistake in the call."""
    others = [other for other in given if other != "sample_weight"]
    if others:
        raise TypeError(f"{name}.fit() got an unexpected keyword argument '{others[0]}'")
    if given.get("sample_weight") is not None:
        raise InputError(
            f"{name} takes no sample_weight, because {why}: leave it out, or give rows as often as they count."
        )


def require_more_than_one(name: str, total: float) -> None:
    """Refuse weights whose sum leaves nothing of the n − 1 in the denominator of a variance."""
    if total <= 1.0:
        raise InputError(
            f"sample_weight sums to {total:g}, but {name} has variances with n − 1 in the denominator, and n is that "
            "sum: multiply the weights by a constant, so that they sum to the number of rows, say."
        )


def _numbers(given: Any) -> Floats:
    try:
        values = np.asarray(given)
        numbers = None if _are_words(values) else np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:  # of unequal lengths, or a missing value of pandas
        raise InputError(f"sample_weight contains values that are not numbers ({error}): {_DO}.") from error
    if numbers is None:
        raise InputError(f"sample_weight contains values that are not numbers (of type {values.dtype}): {_DO}.")
    return numbers


def _are_words(values: Any) -> bool:
    """Whether these are texts, dates or complex numbers; a column of Python's objects may hold numbers."""
    if values.dtype.kind == "O":
        return any(isinstance(one, str | bytes) for one in values.ravel())
    return values.dtype.kind not in "biuf"
