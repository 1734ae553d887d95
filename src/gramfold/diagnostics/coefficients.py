"""Entries of the kernel as rows are appended: whether it settles as the number of rows grows.

    m rows:  K_ij of chosen pairs;    normalised:  K_ij / (tr K / m), relative to the mean of the diagonal

A kernel of a neighbour graph depends on all rows, and its scale on their number; the scale does not change the map.
Ham, Lee, Mika, Schölkopf, ICML 2004, fig 5.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.randomness import drawn_from
from gramfold.diagnostics.refits import Table, Told, refuse_numbered_rows, require_map, require_other_rows
from gramfold.diagnostics.rows_kernel import RowsKernel
from gramfold.errors import InputError
from gramfold.runtime.counting import counted
from gramfold.runtime.progress import Progress, Stages
from gramfold.types import Floats, Integers

_PAIRS = 8  # drawn where none are given
_SIZES = 9  # from a fifth of the rows to all of them, as 600 to 3,000 in the paper


@dataclass(frozen=True, eq=False, repr=False)
class Coefficients:
    """Entries of a kernel, at several numbers of rows.

    Attributes
    ----------
    sizes : ndarray of int of shape (n_sizes,)
        Numbers of rows.
    pairs : ndarray of int of shape (n_pairs, 2)
        Rows i and j of each entry K_ij, as numbered in X.
    raw : ndarray of shape (n_sizes, n_pairs)
        K_ij; NaN where the kernel has no such rows (another connected component, no landmark).
    traces : tuple of Measure
        Trace of each kernel, with a 95% interval where it was estimated.
    rows : ndarray of int of shape (n_sizes,)
        The number of rows that each kernel is of: all, those of the largest connected component, or the landmarks.
    warned : dict of str to int
        Number of fits that gave a warning of each category.
    examples : dict of str to str
        One of the warnings of each category.
    """

    sizes: Integers
    pairs: Integers
    raw: Floats
    traces: tuple[Measure, ...]
    rows: Integers
    warned: Mapping[str, int]
    examples: Mapping[str, str]

    @property
    def normalized(self) -> Floats:
        """K_ij over the mean of the diagonal, tr K / m, (n_sizes, n_pairs)."""
        return np.asarray(self.raw / (np.array([float(one) for one in self.traces]) / self.rows)[:, None])

    @property
    def changes(self) -> Floats:
        """How much the normalised entries change from each size to the next, (n_sizes − 1,).

        Root mean square over the pairs, relative to the root mean square of all normalised entries.
        """
        return _changes(self.normalized)

    @property
    def raw_changes(self) -> Floats:
        """The same of the raw entries, (n_sizes − 1,)."""
        return _changes(self.raw)

    @property
    def settling(self) -> float:
        """Mean change over the later half of the steps, relative to that over the earlier half; below 1 they settle."""
        changes = self.changes
        half = len(changes) // 2
        early, late = changes[:half].mean(), changes[len(changes) - half :].mean()
        return float(late / early) if early > 0 else (0.0 if late == 0 else np.inf)

    def __repr__(self) -> str:
        return (
            f"Coefficients({counted(len(self.pairs), 'entry').replace('entrys', 'entries')} at {self.sizes[0]:,} to "
            f"{self.sizes[-1]:,} rows, settling {self.settling:.2g})"
        )


def kernel_coefficients(
    model: Any,
    X: Any,
    *,
    sizes: Any = None,
    pairs: Any = None,
    y: Any = None,
    random_state: Any = None,
    verbose: int = 0,
    progress: Progress | None = None,
) -> Coefficients:
    """Follow entries of the kernel as rows are appended.

    A clone of the model is fitted on the first m rows for each m of `sizes`.

    Parameters
    ----------
    model : estimator
        A model with the attribute `kernel_`. It is not changed.
    X : array-like of shape (n_rows, n_features)
        Rows, or precomputed values between all of them, as for `fit`.
    sizes : array-like of int, default=None
        Numbers of rows, at least 3 of them and ascending. None: 9 from a fifth of the rows to all of them.
    pairs : array-like of int of shape (n_pairs, 2), default=None
        Rows i and j of the entries K_ij. Without `random_state` they must be among the first ``sizes[0]`` rows. None: 8
        pairs of different rows, drawn at random from these.
    y : array-like of shape (n_rows,), default=None
        As for `fit`.
    random_state : int, RandomState instance or None, default=None
        None: rows are appended in the order of X, which should then be random. A seed: in random order, after those of
        the pairs.
    verbose : int, default=0
        Report progress on standard error.
    progress : callable, default=None
        Function that is called as ``progress(stage, done, total)``, as that of an estimator is; an error that it raises
        ends the work.

    Returns
    -------
    coefficients : Coefficients
        `raw` and `normalized` entries for each size, and by how much they change.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.diagnostics import kernel_coefficients
    >>> X = make_s_curve(500, random_state=0).points
    >>> found = kernel_coefficients(Isomap(), X, sizes=[100, 200, 300, 400, 500], pairs=[(0, 1), (2, 3)])
    >>> found.normalized.shape, found.changes.shape
    ((5, 2), (4,))
    """
    require_map(model)
    refuse_numbered_rows(model)
    require_other_rows(model)
    table = Table.of(model, X, y)
    counts = _read_sizes(sizes, len(table))
    chosen = _read_pairs(pairs, counts[0] if random_state is None else len(table), counts[0])
    order = np.arange(len(table))
    if random_state is not None:
        first = np.unique(chosen)
        others = np.setdiff1d(order, first)
        if len(first) > counts[0]:
            raise InputError(
                f"pairs name {len(first)} rows, but the first fit is on {counts[0]}: use a larger first size, or fewer "
                "pairs."
            )
        order = np.concatenate([first, drawn_from(random_state).permutation(others)])
    stages, told, found = Stages(verbose, "coefficients", progress), Told(), []
    place = np.argsort(order)  # of a row of X among the appended ones
    with stages("fits"):
        for count in stages.bar(counts, len(counts), "sizes"):
            with told.hearing():
                fitted, _ = table.take(order[:count]).fitted(model)
            kernel = RowsKernel.of(fitted, "model")
            values = kernel.entries(place[chosen[:, 0]], place[chosen[:, 1]])
            found.append((values, kernel.trace(), len(kernel)))
    entries, traces, rows = zip(*found, strict=True)
    return Coefficients(
        np.array(counts), chosen, np.array(entries), traces, np.array(rows), told.by_category, told.examples
    )


def _changes(values: Floats) -> Floats:
    known = values[:, ~np.isnan(values).any(axis=0)]
    if not known.shape[1]:
        return np.full(len(values) - 1, np.nan)
    size = np.sqrt(np.mean(known**2))
    return np.asarray(np.sqrt(np.mean(np.diff(known, axis=0) ** 2, axis=1)) / (size if size > 0 else 1.0))


def _read_sizes(sizes: Any, n: int) -> list[int]:
    given = np.unique(np.linspace(n / 5, n, _SIZES).round()) if sizes is None else _array(sizes, "sizes")
    counts = given.astype(np.intp) if given.dtype.kind in "iuf" and given.ndim == 1 else np.empty(0, np.intp)
    if len(counts) < 3 or (np.diff(counts) <= 0).any() or (counts != given).any() or counts[0] < 2 or counts[-1] > n:
        raise InputError(
            f"sizes={sizes!r} are not at least 3 ascending numbers of rows, from 2 to the {n:,} of X: pass such "
            "numbers."
        )
    return [int(count) for count in counts]


def _array(given: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(f"{name} holds entries of different lengths: pass an array of row numbers.") from error


def _read_pairs(pairs: Any, n: int, first: int) -> Integers:
    if pairs is None:
        drawn = np.random.default_rng(0)
        return np.array([drawn.choice(first, 2, replace=False) for _ in range(_PAIRS)])
    given = _array(pairs, "pairs")
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu" or not len(given):
        raise InputError(f"pairs is an array of {given.dtype} of shape {given.shape}: pass rows (i, j) of each entry.")
    wrong = given[(given < 0) | (given >= n)]
    if wrong.size:
        raise InputError(
            f"pairs contains row {wrong[0]}, but only rows 0 to {n - 1} are in every fit: use other rows, a larger "
            "first size, or a random_state, with which the rows of pairs come first."
        )
    return given.astype(np.intp)
