"""Quality of `gramfold.advise` beside the best of a grid over methods, scalings and numbers of neighbours.

Run with `python -m benchmarks.advice [SEED] [NAME ...]`; it prints a table. The rules were made with seed 0. The
truth of every set is known: coordinates, for which quality is 1 − the disparity of Procrustes' superposition, or
labels, for which it is the share of rows whose five nearest neighbours on the map have mostly the row's own label. A
set may come with what users leave in a table (an id, other units, gaps, outliers): the advice gets the table as it is,
the grid its clean columns.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import procrustes
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gramfold
from gramfold.datasets import (
    make_gaussian_clusters,
    make_helix,
    make_s_curve,
    make_severed_sphere,
    make_swiss_roll,
    make_twin_peaks,
)
from gramfold.errors import GramfoldError

ROWS = 700
NEIGHBORS = (5, 8, 12, 20, 30)
GRAPH_METHODS = ("Isomap", "LaplacianEigenmaps", "DiffusionMap", "LLE", "ModifiedLLE", "HessianLLE", "LTSA")
ALLOWED = 0.9  # of the best quality
VOTERS = 5

Floats = np.ndarray


@dataclass(frozen=True)
class Known:
    """A table, its clean columns, and its truth: coordinates (n, p) or labels (n,)."""

    given: Any
    clean: Floats
    truth: Floats

    def quality(self, places: Floats) -> float:
        """Of a map: 1 is the best."""
        if self.truth.ndim == 1:
            voters = KNeighborsClassifier(VOTERS).fit(places, self.truth).kneighbors(return_distance=False)
            votes = self.truth[voters]
            own = (votes == self.truth[:, None]).sum(axis=1)
            return float((own > VOTERS / 2).mean())
        width = max(places.shape[1], self.truth.shape[1])
        wide = [np.pad(one, ((0, 0), (0, width - one.shape[1]))) for one in (self.truth, places)]
        return 1.0 - float(procrustes(*wide)[2])


def _turned(rows: Floats, width: int, noise: float, seed: int) -> Floats:
    """Rows in more columns, turned at random, with noise in each."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(width, width)))[0][: rows.shape[1]]
    return np.asarray(rows @ axes + noise * rng.normal(size=(len(rows), width)))


def _plane(seed: int, width: int, noise: float, dimensions: int = 2) -> Known:
    truth = np.random.default_rng(seed + 1).uniform(size=(ROWS, dimensions)) * [2.0, 1.0, 0.7][:dimensions]
    rows = _turned(truth, width, noise, seed)
    return Known(rows, rows, truth)


def _roll(seed: int, **options: Any) -> Known:
    return _sample(make_swiss_roll(ROWS, random_state=seed, **options))


def _with_id(seed: int) -> Known:
    roll = _roll(seed)
    number = np.random.default_rng(seed).permutation(ROWS) + 1000
    return Known(np.column_stack([number, roll.clean]), roll.clean, roll.truth)


def _other_units(seed: int) -> Known:
    roll = _roll(seed)
    return Known(roll.clean * [1.0, 1000.0, 0.01], roll.clean, roll.truth)


def _outliers(seed: int) -> Known:
    roll = _roll(seed)
    rows, rng = roll.clean.copy(), np.random.default_rng(seed)
    rows[rng.choice(ROWS, 7, replace=False)] += rng.normal(size=(7, 3)) * 60
    return Known(rows, rows, roll.truth)


def _gaps(seed: int) -> Known:
    truth = make_s_curve(ROWS, random_state=seed)
    clean = _turned(truth.points, 12, 0.02, seed)
    rows = np.where(np.random.default_rng(seed).random(clean.shape) < 0.03, np.nan, clean)
    return Known(rows, clean, truth.truth)


def _closed(seed: int) -> Known:
    angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, ROWS)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    curve = np.column_stack([circle, 0.5 * np.cos(2 * angle), 0.5 * np.sin(3 * angle)])
    rows = _turned(curve, 10, 0.03, seed)
    return Known(rows, rows, circle)


def _groups(seed: int, width: int, units: bool) -> Known:
    points, labels = make_gaussian_clusters(ROWS, n_clusters=5, n_features=width, random_state=seed)
    given = points * np.geomspace(1e-2, 1e3, width) if units else points
    return Known(given, points, labels)


def _sample(sample: Any) -> Known:
    return Known(sample.points, sample.points, sample.truth)


def _helix(seed: int) -> Known:
    sample = make_helix(ROWS, random_state=seed)
    angle = sample.truth.ravel()
    return Known(sample.points, sample.points, np.column_stack([np.cos(angle), np.sin(angle)]))


def _labelled(loaded: Any, clean: Callable[[Floats], Floats] = lambda rows: rows) -> Known:
    return Known(loaded.data, clean(loaded.data), loaded.target)


def _standardized(rows: Floats) -> Floats:
    return np.asarray(StandardScaler().fit_transform(rows))


SETS: dict[str, Callable[[int], Known]] = {
    "roll": _roll,
    "roll, noise 0.5": lambda seed: _roll(seed, noise=0.5),
    "roll, 20 columns of noise": lambda seed: _roll(seed, extra_dimensions=20),
    "roll with an id": _with_id,
    "roll in other units": _other_units,
    "roll with outliers": _outliers,
    "S-curve, noise 0.05": lambda seed: _sample(make_s_curve(ROWS, noise=0.05, random_state=seed)),
    "S-curve in 12 columns, gaps": _gaps,
    "plane in 20 columns": lambda seed: _plane(seed, 20, 0.03),
    "box of 3 sides in 15 columns": lambda seed: _plane(seed, 15, 0.03, dimensions=3),
    "twin peaks": lambda seed: _sample(make_twin_peaks(ROWS, random_state=seed)),
    "severed sphere": lambda seed: _sample(make_severed_sphere(ROWS, random_state=seed)),
    "closed curve in 10 columns": _closed,
    "helix": _helix,
    "groups in 10 columns": lambda seed: _groups(seed, 10, units=False),
    "groups in other units": lambda seed: _groups(seed, 8, units=True),
    "iris (labels)": lambda _: _labelled(load_iris()),
    "wine (labels)": lambda _: _labelled(load_wine(), _standardized),
    "breast cancer (labels)": lambda _: _labelled(load_breast_cancer(), _standardized),
    "digits (labels)": lambda _: _labelled(load_digits()),
}


def candidates(dimensions: int) -> Iterator[tuple[str, Any]]:
    """What the grid tries."""
    for scaled in (False, True):
        first, word = ([StandardScaler()], ", standardised") if scaled else ([], "")
        yield f"PCA{word}", make_pipeline(*first, gramfold.PCA(dimensions))
        for name in GRAPH_METHODS:
            for k in NEIGHBORS:
                yield f"{name} k={k}{word}", make_pipeline(*first, getattr(gramfold, name)(dimensions, n_neighbors=k))


def best_of_grid(known: Known, dimensions: int) -> tuple[float, str]:
    """The best quality, and what has it."""
    found = (0.0, "nothing")
    for name, model in candidates(dimensions):
        try:
            places = model.fit_transform(known.clean)
        except (GramfoldError, ValueError):  # too few neighbours for this method
            continue
        found = max(found, (known.quality(places), name))
    return found


def main(seed: int, names: list[str]) -> None:
    """Print the table."""
    print(f"{'set':<29} {'advised':<28} {'quality':>7} {'best':>6} {'ratio':>6}  best of the grid")
    chosen = [name for name in SETS if not names or any(part in name for part in names)]
    met = 0
    for name in chosen:
        known = SETS[name](seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the grid's many maps
            advice = gramfold.advise(known.given)
            reached = known.quality(advice.estimator.fit_transform(known.given))
            best, how = best_of_grid(known, 2 if known.truth.ndim == 1 else known.truth.shape[1])
        within = reached >= ALLOWED * best
        met += within
        ratio, miss = reached / best, "" if within else "   MISS"
        print(f"{name:<29} {advice.summary:<28} {reached:>7.3f} {best:>6.3f} {ratio:>6.2f}  {how}{miss}", flush=True)
    print(f"{met} of {len(chosen)} within {1 - ALLOWED:.0%} of the best of the grid, seed {seed}")


if __name__ == "__main__":
    given = sys.argv[1:]
    number = int(given.pop(0)) if given and given[0].isdigit() else 0
    main(number, given)
