"""How far each row moves on the map when the map is fitted again on some of the rows.

    refit b: a clone, on a share of the distinct rows drawn at random, each with its copies
    y_ib: the place of row i in it, turned onto the map by the rows in common
    moved² of row i = mean over b of |y_ib − y_i|² / size²,    size² = mean over i of |y_i − ȳ|²
                    = |mean of y_ib − y_i|² + variance of y_ib      (a drift of all refits, and a scatter about it)

Rotations, reflections, scale and shift of the whole map are taken out (alignment.py), so that the signs of
eigenvectors, and turns among near-equal eigenvalues of the map, are not counted. An eigenvector that gives way to one
that is not on the map is counted: no turn of the map undoes it. Politis, Romano, Wolf, Subsampling, Springer 1999.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from gramfold.alignment import similarity
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.randomness import drawn_from
from gramfold.diagnostics.refits import (
    FAILS,
    Table,
    Told,
    check_whole,
    coordinates,
    refuse_numbered_rows,
    require_other_rows,
    rows_of,
)
from gramfold.embedding import Embedding
from gramfold.errors import GramfoldError, InputError, RefitWarning
from gramfold.runtime.counting import counted
from gramfold.runtime.progress import Progress, Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers

_SURE = 0.975  # quantile at the upper end of an interval that holds the truth 95 times of 100
_NARROW_GAP = 0.1  # relative eigengap below which the last coordinate may change places with the next


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Measure):
    """How far rows move on the map, over refits on some of the rows.

    Attributes
    ----------
    value : float
        Root mean square distance of rows from their place on the map, over rows and refits, relative to the size of the
        map (the root mean square distance of its rows from their mean). 0: nothing moves; 1: no better than all rows at
        their mean.
    interval : pair of float
        In which `value` would lie with 95% confidence after very many refits.
    per_point : ndarray of shape (n_rows,)
        The same of each row, over the refits that placed it; NaN where none did.
    drift : ndarray of shape (n_rows,)
        Distance of the mean of a row's places from its place on the map: what all refits have in common, such as a
        neighbourhood that is wider among fewer rows. per_point² = drift² + scatter².
    scatter : ndarray of shape (n_rows,)
        Root mean square distance of a row's places from their mean.
    placed : ndarray of int of shape (n_rows,)
        In how many refits each row had a place.
    fitted, new : float
        `value` over rows that were in the refit, and over those that `transform` placed; NaN where there are none.
    per_refit : ndarray of shape (n_refits,)
        `value` of each refit that did not fail.
    embedding : ndarray of shape (n_rows, n_components)
        The map that they are compared with.
    shown : int
        The number of its coordinates, the first ones, that distances are measured in.
    share : float
        Of the distinct rows in a refit.
    eigengap : float or None
        1 − λ' / λ, for the eigenvalue λ of the last coordinate and the next one λ'; None where there is no such kernel.
        Near 0 another subsample may have the next eigenvector in its place, which no rotation of the map undoes.
    warned : dict of str to int
        Number of refits that gave a warning of each category.
    examples : dict of str to str
        One of the warnings of each category.
    failures : tuple of str
        What each failed refit said.
    """

    drift: Floats = field(kw_only=True)
    scatter: Floats = field(kw_only=True)
    placed: Integers = field(kw_only=True)
    fitted: float = field(kw_only=True)
    new: float = field(kw_only=True)
    per_refit: Floats = field(kw_only=True)
    embedding: Floats = field(kw_only=True)
    shown: int = field(kw_only=True)
    share: float = field(kw_only=True)
    eigengap: float | None = field(kw_only=True)
    warned: Mapping[str, int] = field(kw_only=True)
    examples: Mapping[str, str] = field(kw_only=True)
    failures: tuple[str, ...] = field(kw_only=True)

    @property
    def size(self) -> float:
        """Of the map: root mean square distance of its rows from their mean, in the coordinates that are measured."""
        return _size(self.embedding[:, : self.shown])

    def __repr__(self) -> str:
        low, high = self.interval or (np.nan, np.nan)
        return (
            f"Stability({self.value:.2g} of the size of the map, 95% interval {low:.2g} to {high:.2g}, "
            f"{counted(len(self.per_refit), 'refit')})"
        )

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """All that was found, in words."""
        assert self.per_point is not None
        assert self.interval is not None
        known = np.flatnonzero(~np.isnan(self.per_point))
        worst = int(known[np.argmax(self.per_point[known])])
        moved = (
            f"Over {counted(len(self.per_refit), 'refit')} on {self.share:.0%} of the rows, rows moved by "
            f"{self.value:.1%} of the size of the map (95% interval {self.interval[0]:.1%} to {self.interval[1]:.1%}): "
            f"half of them by less than {np.median(self.per_point[known]):.1%}, row {worst} most, by "
            f"{self.per_point[worst]:.1%}."
        )
        words = [moved]
        if len(known) < len(self.per_point):
            words.append(f"{len(self.per_point) - len(known):,} rows had no place on the map or in any refit.")
        if self.eigengap is not None and self.eigengap < _NARROW_GAP:
            words.append(
                f"The eigenvalue after that of the last coordinate is only {max(self.eigengap, 0.0):.1%} smaller, so "
                "both may change places between refits: fit more components and measure the first ones (n_shown)."
            )
        if self.warned:
            words.append(f"Warnings: {_listing(self.warned)}.")
        if self.failures:
            words.append(f"{counted(len(self.failures), 'refit')} failed, the first with: {self.failures[0]}")
        return " ".join(words)


def stability(
    model: Any,
    X: Any = None,
    *,
    y: Any = None,
    sample_weight: Any = None,
    refits: int = 20,
    share: Any = 0.8,
    n_shown: int | None = None,
    random_state: Any = 0,
    verbose: int = 0,
    progress: Progress | None = None,
) -> Stability:
    """Measure how far each row moves when the map is fitted again on a part of the rows.

    Clones of the model are fitted on rows drawn at random without replacement, and turned onto the map of all rows by
    the rows in common. Copies of a row are drawn or left out together: one that stayed would hold the place of the
    others. Rows that were left out are placed by `transform`, where the model has it.

    Parameters
    ----------
    model : estimator
        Anything with `fit_transform`. It is not changed. `random_state` of the model is kept, so that only the rows
        differ between refits.
    X : array-like of shape (n_rows, n_features), default=None
        Rows, or precomputed values between all of them, as for `fit`; a clone of the model is fitted on them for the
        map that refits are compared with. None: the map is that of `model`, which is fitted, and the rows are those
        that it keeps.
    y, sample_weight : array-like of shape (n_rows,), default=None
        As for `fit`. A model that was fitted with them needs X here too: it does not keep them.
    refits : int, default=20
        Number of refits, at least 2.
    share : float, default=0.8
        Share of the distinct rows in a refit, between 0 and 1.
    n_shown : int, default=None
        Measure distances in the first `n_shown` coordinates; maps are turned onto each other in all of them. Where the
        eigenvalues of the last coordinate and of the next are near each other, fit more components than are shown.
        None: all coordinates.
    random_state : int, RandomState instance or None, default=0
        Of the rows that are drawn.
    verbose : int, default=0
        Report progress on standard error.
    progress : callable, default=None
        Function that is called as ``progress(stage, done, total)``, as that of an estimator is; an error that it raises
        ends the work.

    Returns
    -------
    stability : Stability
        Per row and in total, relative to the size of the map; `sentence` says it in words.

    Warns
    -----
    RefitWarning
        Some refits failed. What the others warned of is counted in `warned`, and not repeated.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_s_curve
    >>> from gramfold.diagnostics import stability
    >>> X = make_s_curve(400, random_state=0).points
    >>> found = stability(Isomap().fit(X), refits=5)
    >>> bool(found.value < 0.1), found.per_point.shape
    (True, (400,))
    """
    refits = check_whole(refits, "refits", 2)
    if not isinstance(share, float | np.floating) or not 0 < share < 1:
        raise InputError(f"share={share!r} is not a part of the rows: pass a number between 0 and 1.")
    require_other_rows(model)
    table = rows_of(model, X, y, sample_weight)
    refuse_numbered_rows(model)
    stages = Stages(verbose, "stability", progress)
    if X is None:
        reference, places = model, coordinates(model.embedding_)
    else:
        with stages("map"):
            reference, places = table.fitted(model)
    unit = float(np.nanmax(np.abs(places), initial=0.0)) or 1.0  # whose squares may be no numbers
    places = places / unit
    columns = places.shape[1] if n_shown is None else check_whole(n_shown, "n_shown", 1)
    if columns > places.shape[1]:
        raise InputError(f"n_shown={columns}, but the map has {places.shape[1]} coordinates: pass at most as many.")
    copies = table.copies(model)
    count = round(float(share) * len(copies))
    if count <= places.shape[1] + 1 or count == len(copies):
        raise InputError(
            f"share={share:g} of {len(copies)} distinct rows are {count}, but a refit needs more than n_components + 1 "
            f"= {places.shape[1] + 1} rows and fewer than all: use another share, or more rows."
        )
    tally, rng = _Tally.of(places, columns), drawn_from(random_state)
    with stages("refits"):
        for _ in stages.bar(range(refits), refits, "drawn rows"):
            chosen = np.zeros(len(copies), dtype=bool)
            chosen[rng.choice(len(copies), count, replace=False)] = True
            tally.add(model, table, np.flatnonzero(chosen[copies.vertex]))
    found = tally.result(float(share), _eigengap(reference, columns))
    return replace(found, embedding=unit * found.embedding)


@dataclass(eq=False)
class _Tally:
    """Sums over refits, so that no more than one of them is held."""

    places: Floats  # (n, p) the map
    columns: int
    size: float
    count: Integers  # (n,) refits in which a row had a place
    moved: Floats  # (n, columns) sum of its displacements
    squares: Floats  # (n,) and of their squared lengths
    by_refit: list[tuple[float, int, float, int]]  # of each refit: squares and rows, of those in it and of new ones
    told: Told
    failures: list[str]

    @classmethod
    def of(cls, places: Floats, columns: int) -> "_Tally":
        n, size = len(places), _size(places[:, :columns])
        if not size > 0:
            raise InputError("all rows of the map have the same coordinates, so it has no size to compare with.")
        return cls(places, columns, size, np.zeros(n, np.intp), np.zeros((n, columns)), np.zeros(n), [], Told(), [])

    def add(self, model: Any, table: Table, drawn: Integers) -> None:
        """One more refit, on these rows."""
        try:
            with self.told.hearing():
                found = self._refit(model, table, drawn)
        except FAILS as error:
            self.failures.append(f"{type(error).__name__}: {error}")
            return
        step = (found - self.places)[:, : self.columns] / self.size
        here = np.asarray(~np.isnan(step).any(axis=1))
        squares = np.where(here, np.sum(step**2, axis=1), 0.0)
        inside = np.isin(np.arange(len(step)), drawn)
        self.count += here
        self.moved[here] += step[here]
        self.squares += squares
        fresh = here & ~inside
        self.by_refit.append(
            (
                float(squares[here & inside].sum()),
                int((here & inside).sum()),
                float(squares[fresh].sum()),
                int(fresh.sum()),
            )
        )

    def _refit(self, model: Any, table: Table, drawn: Integers) -> Floats:
        """The places (n, p) of all rows, in the frame of the map; NaN where there is none."""
        fresh, inner = table.take(drawn).fitted(model)
        if inner.shape[1] != self.places.shape[1]:
            raise InputError(
                f"a refit has {inner.shape[1]} coordinates and the map {self.places.shape[1]}: give the model a number "
                "of components."
            )
        both = ~np.isnan(inner).any(axis=1) & ~np.isnan(self.places[drawn]).any(axis=1)
        if both.sum() <= inner.shape[1]:
            raise InputError(
                f"only {int(both.sum())} rows have coordinates in the refit and on the map, too few to compare them: "
                "where another connected component may be the largest, use on_disconnected='bridge' or 'separate'."
            )
        pairs = np.column_stack([np.flatnonzero(both), drawn[both]])
        alignment, _ = similarity(inner, self.places, pairs)
        found = np.full(self.places.shape, np.nan)
        found[drawn] = alignment.outward(inner, np.float64)
        others = np.setdiff1d(np.arange(len(table)), drawn)
        if hasattr(fresh, "transform"):
            placed = coordinates(fresh.transform(table.against(others, drawn)))
            found[others] = alignment.outward(placed, np.float64)
        return found

    def result(self, share: float, eigengap: float | None) -> Stability:
        """All of it."""
        if len(self.by_refit) < 2:
            raise InputError(
                f"{counted(len(self.failures), 'refit')} of {len(self.failures) + len(self.by_refit)} failed, so "
                f"nothing is known of how far rows move; the first said: {self.failures[0]}"
            )
        if self.failures:
            warn(
                f"{counted(len(self.failures), 'refit')} of {len(self.failures) + len(self.by_refit)} failed and "
                f"stability is measured on the others; the first said: {self.failures[0]}",
                RefitWarning,
            )
        sums = np.array(self.by_refit)  # (refits, 4)
        squares, rows = sums[:, 0] + sums[:, 2], sums[:, 1] + sums[:, 3]
        mean = float(squares.sum() / rows.sum())
        low, high = _around(mean, squares - mean * rows, float(rows.sum()))
        with np.errstate(invalid="ignore", divide="ignore"):
            per_point = self.squares / self.count
            drift = np.sum((self.moved / self.count[:, None]) ** 2, axis=1)
            fitted, new = (float(np.sqrt(sums[:, c].sum() / sums[:, c + 1].sum())) for c in (0, 2))
        return Stability(
            float(np.sqrt(mean)),
            (float(np.sqrt(max(0.0, low))), float(np.sqrt(high))),
            np.sqrt(per_point),
            drift=np.sqrt(drift),
            scatter=np.sqrt(np.maximum(per_point - drift, 0.0)),
            placed=self.count,
            fitted=fitted,
            new=new,
            per_refit=np.sqrt(squares / rows),
            embedding=self.places,
            shown=self.columns,
            share=share,
            eigengap=eigengap,
            warned=self.told.by_category,
            examples=self.told.examples,
            failures=tuple(self.failures),
        )


def _around(mean: float, off: Floats, total: float) -> tuple[float, float]:
    """95% interval of a ratio of sums over refits, `off` (refits,) being what each adds to it beyond the mean.

    Few refits move far and most do not. A t interval, which takes them to be spread evenly about the mean, holds the
    truth 88 times of 100 where their skewness γ is 3; with t turned into one that is, by Hall's cubic
    T + aT² + a²T³/3 + γ/(6√n), a = γ/(3√n), it is 93 times. Hall, Journal of the Royal Statistical Society B 54 (1992).
    """
    n, spread = len(off), float(off.std(ddof=1))
    if spread == 0:
        return mean, mean
    error, t = np.sqrt(n) * spread / total, float(stdtrit(n - 1, _SURE))
    biased = float(np.mean(off**3)) / spread**3 * (n / (n - 1)) ** 1.5
    skewness = biased * np.sqrt(n * (n - 1)) / (n - 2) if n > 2 else 0.0
    a, shift = skewness / (3.0 * np.sqrt(n)), skewness / (6.0 * np.sqrt(n))
    above, below = ((np.cbrt(1.0 + 3.0 * a * (z - shift)) - 1.0) / a if a else z for z in (t, -t))
    return float(mean - above * error), float(mean - below * error)


def _size(places: Floats) -> float:
    known = places[~np.isnan(places).any(axis=1)]
    return float(np.sqrt(np.mean(np.sum((known - known.mean(axis=0)) ** 2, axis=1)))) if len(known) else 0.0


def _eigengap(model: Any, columns: int) -> float | None:
    """Between the last coordinate that is shown and the next; None where coordinates are not leading eigenvectors."""
    if not isinstance(model, Embedding):
        return None
    spectrum = model.spectrum_
    if spectrum.taken is not None or len(spectrum) < columns:
        return None
    try:
        values = model.leading_eigenvalues(columns + 1)
    except GramfoldError:  # the kernel has no more of them, or they did not converge: the gap is not known
        return None
    if len(values) <= columns or not values[columns - 1] > 0:
        return None
    return float(1.0 - values[columns] / values[columns - 1])


def _listing(warned: Mapping[str, int]) -> str:
    return ", ".join(f"{name} in {counted(count, 'refit')}" for name, count in warned.items())
