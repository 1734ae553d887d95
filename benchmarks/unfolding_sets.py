"""Data sets on which the defaults of unfolding are chosen: rows, and what a good map of them is known to show.

Truth is one of three things: coordinates (a map is judged by its Procrustes disparity), labels (by the error of the 5
nearest neighbours on the map), or nothing (by the trustworthiness of the map). Real data are not part of the package:
a set that is absent is None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.spatial import procrustes
from sklearn.datasets import load_digits, load_iris
from sklearn.datasets import make_swiss_roll as uneven_roll
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

from benchmarks.data import ocean
from gramfold.datasets import (
    make_gaussian_clusters,
    make_s_curve,
    make_swiss_roll,
    make_twin_peaks,
)

_FOLDER = Path(__file__).parents[2] / "shared" / "data"
_JUDGED_BY = 5  # neighbours on the map that vote for a label
_TRUSTED = 10  # neighbours on the map that should be neighbours in the rows


@dataclass(frozen=True, eq=False)
class Rows:
    """One data set."""

    points: np.ndarray
    coordinates: np.ndarray | None = None  # true ones, of the rows that are judged
    labels: np.ndarray | None = None
    dimensions: int = 2
    judged: int | None = None  # the truth is of so many rows, the first; None: all

    @property
    def kind(self) -> str:
        """By what a map is judged."""
        if self.coordinates is not None:
            return "disparity"
        return "distrust" if self.labels is None else "label error"

    def error(self, places: np.ndarray) -> float:
        """Of a map of all rows; 0 is perfect."""
        places = places[: self.judged]
        if self.coordinates is not None:
            return float(procrustes(self.coordinates, places)[2])
        if self.labels is None:
            return float(1 - trustworthiness(self.points[: self.judged], places, n_neighbors=_TRUSTED))
        near = NearestNeighbors(n_neighbors=_JUDGED_BY).fit(places).kneighbors(return_distance=False)  # not itself
        names = np.unique(self.labels)
        votes = (self.labels[near][:, :, None] == names).sum(axis=1)
        return float(np.mean(names[votes.argmax(axis=1)] != self.labels))


def _sheet(sample: tuple[np.ndarray, np.ndarray]) -> Rows:
    points, truth = sample
    return Rows(points, coordinates=truth)


def _uneven(n: int) -> Rows:
    """The roll of Tenenbaum et al. 2000: even in the angle, so that rows are sparse outside."""
    points, angle = uneven_roll(n, random_state=0)
    length = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2
    return Rows(points, coordinates=np.column_stack([length, points[:, 1]]))


def _cap() -> Rows:
    """Within 60° of the pole; the truth keeps directions and distances from it."""
    rng = np.random.default_rng(0)
    polar, around = np.arccos(1 - rng.random(800) / 2), 2 * np.pi * rng.random(800)
    plane = np.column_stack([np.cos(around), np.sin(around)])
    return Rows(np.column_stack([plane * np.sin(polar)[:, None], np.cos(polar)]), coordinates=plane * polar[:, None])


def _open_box() -> Rows:
    """Five sides of a cube without its lid; the truth is the cross that they unfold to."""
    rng = np.random.default_rng(0)
    side, (a, b) = rng.integers(0, 5, 1000), rng.random((2, 1000))
    zero, one = np.zeros(1000), np.ones(1000)
    space = np.stack([(a, b, zero), (zero, b, a), (one, b, a), (b, zero, a), (b, one, a)])
    plane = np.stack([(a, b), (-a, b), (1 + a, b), (b, -a), (b, 1 + a)])
    pick = np.arange(1000)
    return Rows(space[side, :, pick], coordinates=plane[side, :, pick])


def _copies() -> Rows:
    points, truth = make_swiss_roll(700, length=60, random_state=1)
    again = np.random.default_rng(0).integers(0, 700, 500)
    return Rows(np.vstack([points, points[again]]), coordinates=np.vstack([truth, truth[again]]))


def _outliers() -> Rows:
    points, truth = make_s_curve(800, random_state=0)
    far = np.random.default_rng(0).uniform(-6, 6, (12, 3))
    return Rows(np.vstack([points, far]), coordinates=truth, judged=800)


def _groups() -> Rows:
    points, labels = make_gaussian_clusters(600, n_clusters=4, n_features=5, separation=12, random_state=0)
    return Rows(points, labels=labels)


def _file(name: str) -> dict[str, np.ndarray] | None:
    path = _FOLDER / f"{name}.npz"
    return dict(np.load(path)) if path.exists() else None


def _teapots() -> Rows | None:
    found = _file("teapots100_gray38x50")
    if found is None:
        return None
    angle = 2 * np.pi * np.arange(100) / 100
    return Rows(found["X"].reshape(100, -1), coordinates=np.column_stack([np.cos(angle), np.sin(angle)]))


def _faces() -> Rows | None:
    found = _file("isomap_faces32")
    return None if found is None else Rows(found["X"].reshape(698, -1), dimensions=3)


def _olivetti() -> Rows | None:
    found = _file("olivetti")
    return None if found is None else Rows(found["X"].reshape(400, -1) / 255, labels=found["y"])


def _embryo() -> Rows | None:
    found = _file("guo_embryo_qpcr")
    return None if found is None else Rows(found["X_norm"], labels=found["num_cells"])


def _usps() -> Rows | None:
    found = _file("usps")
    if found is None:
        return None
    some = np.random.default_rng(0).permutation(len(found["X"]))[:1000]
    return Rows(found["X"][some], labels=found["y"][some])


def _cells() -> Rows | None:
    """Counts of 2,700 cells: per cell, log, 50 principal components."""
    found = _file("pbmc3k")
    if found is None:
        return None
    parts = found["data"].astype(float), found["indices"].astype(np.int32), found["indptr"]
    counts = csr_array(parts, shape=tuple(found["shape"]))
    counts = csr_array(diags_array(1e4 / counts.sum(axis=1)) @ counts)
    counts.data = np.log1p(counts.data)
    return Rows(PCA(50, svd_solver="arpack", random_state=0).fit_transform(counts))


def _ocean() -> Rows | None:
    found = ocean(1500)
    return None if found is None else Rows(found)


def _digits() -> Rows:
    points, labels = load_digits(return_X_y=True)
    return Rows(points, labels=labels)


def _iris() -> Rows:
    points, labels = load_iris(return_X_y=True)
    return Rows(points, labels=labels)


SETS: dict[str, Callable[[], Rows | None]] = {
    "roll, 1,000 rows": lambda: _sheet(make_swiss_roll(1000)),
    "roll, 2,000": lambda: _sheet(make_swiss_roll(2000)),
    "roll, 5,000": lambda: _sheet(make_swiss_roll(5000)),
    "roll, 1,000, height 5": lambda: _sheet(make_swiss_roll(1000, height=5)),
    "roll, 2,000, height 60": lambda: _sheet(make_swiss_roll(2000, height=60)),
    "roll, 2,000, noise": lambda: _sheet(make_swiss_roll(2000, noise=0.4)),
    "roll, 2,000, uneven": lambda: _uneven(2000),
    "roll, 800, 23 columns": lambda: _sheet(make_swiss_roll(800, extra_dimensions=20)),
    "roll, 1,500, hole": lambda: _sheet(make_swiss_roll(1500, hole=True)),
    "roll, 200": lambda: _sheet(make_swiss_roll(200)),
    "S-curve, 1,000": lambda: _sheet(make_s_curve(1000)),
    "S-curve, 60": lambda: _sheet(make_s_curve(60)),
    "S-curve, 30": lambda: _sheet(make_s_curve(30)),
    "twin peaks, 800": lambda: _sheet(make_twin_peaks(800, peak=0.5)),
    "cap of a sphere, 800": _cap,
    "open box, 1,000": _open_box,
    "copies, 1,200": _copies,
    "outliers, 812": _outliers,
    "groups, 600": _groups,
    "iris, 150": _iris,
    "digits, 1,797": _digits,
    "teapots, 100": _teapots,
    "faces, 698": _faces,
    "olivetti, 400": _olivetti,
    "embryo, 428": _embryo,
    "USPS, 1,000": _usps,
    "cells, 2,700": _cells,
    "ocean, 1,500": _ocean,
}
