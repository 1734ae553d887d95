"""Quality of `gramfold.advise` beside the best of a grid over methods, scalings and numbers of neighbours.

Run with `python -m benchmarks.advice [NAME ...]`; it prints a table. The truth of every set is known: coordinates, for
which quality is 1 − the disparity of Procrustes' superposition, or labels, for which it is the share of rows whose five
nearest neighbours on the map have mostly the row's own label. A set may come with what a user leaves in a table (an id, other
units, gaps, outliers); the grid gets the clean columns, the advice the table as it is.
"""

import sys
import time
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


def _turned(rows: Floats, width: int, noise: float, seed: int = 0) -> Floats:
    """Rows in more columns, turned at random, with noise in each."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(width, width)))[0][: rows.shape[1]]
    return np.asarray(rows @ axes + noise * rng.normal(size=(len(rows), width)))


def _plane(width: int, noise: float, dimensions: int = 2) -> Known:
    truth = np.random.default_rng(1).uniform(size=(ROWS, dimensions)) * [2.0, 1.0, 0.7][:dimensions]
    rows = _turned(truth, width, noise)
    return Known(rows, rows, truth)


def _roll(**options: Any) -> Known:
    points, truth = make_swiss_roll(ROWS, random_state=0, **options)
    return Known(points, points, truth)


def _with_id() -> Known:
    roll = _roll()
    return Known(
        np.column_stack([np.random.default_rng(0).permutation(ROWS) + 1000, roll.clean]), roll.clean, roll.truth
    )


def _other_units() -> Known:
    roll = _roll()
    return Known(roll.clean * [1.0, 1000.0, 0.01], roll.clean, roll.truth)


def _outliers() -> Known:
    roll = _roll()
    rows, rng = roll.clean.copy(), np.random.default_rng(0)
    rows[rng.choice(ROWS, 7, replace=False)] += rng.normal(size=(7, 3)) * 60
    return Known(rows, rows, roll.truth)


def _gaps() -> Known:
    truth = make_s_curve(ROWS, random_state=0)
    clean = _turned(truth.points, 12, 0.02)
    rows = np.where(np.random.default_rng(0).random(clean.shape) < 0.03, np.nan, clean)
    return Known(rows, clean, truth.truth)


def _closed() -> Known:
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, ROWS)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    rows = _turned(np.column_stack([circle, 0.5 * np.cos(2 * angle), 0.5 * np.sin(3 * angle)]), 10, 0.03)
    return Known(rows, rows, circle)


def _groups(width: int, units: bool) -> Known:
    points, labels = make_gaussian_clusters(ROWS, n_clusters=5, n_features=width, random_state=0)
    given = points * np.geomspace(1e-2, 1e3, width) if units else points
    return Known(given, points, labels)


def _sample(sample: Any) -> Known:
    return Known(sample.points, sample.points, sample.truth)


def _helix() -> Known:
    sample = make_helix(ROWS, random_state=0)
    angle = sample.truth.ravel()
    return Known(sample.points, sample.points, np.column_stack([np.cos(angle), np.sin(angle)]))


def _labelled(loaded: Any, clean: Callable[[Floats], Floats] = lambda rows: rows) -> Known:
    return Known(loaded.data, clean(loaded.data), loaded.target)


def _standardized(rows: Floats) -> Floats:
    return np.asarray(StandardScaler().fit_transform(rows))


SETS: dict[str, Callable[[], Known]] = {
    "roll": _roll,
    "roll, noise 0.5": lambda: _roll(noise=0.5),
    "roll, 20 columns of noise": lambda: _roll(extra_dimensions=20),
    "roll with an id": _with_id,
    "roll in other units": _other_units,
    "roll with outliers": _outliers,
    "S-curve, noise 0.05": lambda: _sample(make_s_curve(ROWS, noise=0.05, random_state=0)),
    "S-curve in 12 columns, gaps": _gaps,
    "plane in 20 columns": lambda: _plane(20, 0.03),
    "box of 3 sides in 15 columns": lambda: _plane(15, 0.03, dimensions=3),
    "twin peaks": lambda: _sample(make_twin_peaks(ROWS, random_state=0)),
    "severed sphere": lambda: _sample(make_severed_sphere(ROWS, random_state=0)),
    "closed curve in 10 columns": _closed,
    "helix": _helix,
    "groups in 10 columns": lambda: _groups(10, units=False),
    "groups in other units": lambda: _groups(8, units=True),
    "iris (labels)": lambda: _labelled(load_iris()),
    "wine (labels)": lambda: _labelled(load_wine(), _standardized),
    "breast cancer (labels)": lambda: _labelled(load_breast_cancer(), _standardized),
    "digits (labels)": lambda: _labelled(load_digits()),
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


def main(names: list[str]) -> None:
    """Print the table."""
    print(f"{'set':<30} {'advised':<34} {'quality':>8} {'best':>8} {'ratio':>6}  of the grid")
    met = 0
    chosen = [name for name in SETS if not names or any(part in name for part in names)]
    for name in chosen:
        known, started = SETS[name](), time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            advice = gramfold.advise(known.given)
            seconds = time.perf_counter() - started
            reached = known.quality(advice.estimator.fit_transform(known.given))
            best, how = best_of_grid(known, 2 if known.truth.ndim == 1 else known.truth.shape[1])
        met += reached >= ALLOWED * best
        short = "" if reached >= ALLOWED * best else "   MISS"
        print(
            f"{name:<30} {advice.summary:<34} {reached:>8.3f} {best:>8.3f} {reached / best:>6.2f}  {how}{short} ({seconds:.1f} s)"
        )
    print(f"{met} of {len(chosen)} within {1 - ALLOWED:.0%} of the best of the grid")


if __name__ == "__main__":
    main(sys.argv[1:])
