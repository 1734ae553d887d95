"""Maps whose faults are known: good ones, and good ones into which one fault was put. Two halves of the same kinds.

Thresholds were set on the first half; the second was run once, after that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import gramfold
from benchmarks.data import cells, ocean, shared
from gramfold.datasets import make_s_curve, make_swiss_roll
from gramfold.types import Floats


@dataclass(frozen=True, eq=False)
class FaultyMap:
    """A map of a table, and the fault that was put into it, "" if it is good."""

    name: str
    fault: str
    X: Any
    Y: Floats


def first_half() -> Iterator[FaultyMap]:
    """The maps on which thresholds were set."""
    plane, on_plane = _plane(800, 10, 0.01, seed=0)
    roll = make_swiss_roll(1_000, random_state=0)
    curve = make_s_curve(800, random_state=1)
    digits = load_digits().data
    digits_map = gramfold.PCA(n_components=20).fit_transform(digits)
    iris = load_iris().data
    blobs, on_blobs = _blobs(900, 6, seed=2)
    circle, on_circle = _circle(500, 20, seed=3)
    yield FaultyMap("plane, PCA", "", plane, gramfold.PCA(n_components=2).fit_transform(plane))
    yield FaultyMap("plane, truth", "", plane, on_plane)
    yield FaultyMap("roll, Isomap", "", roll.points, gramfold.Isomap().fit_transform(roll.points))
    yield FaultyMap("roll, truth", "", roll.points, roll.truth)
    yield FaultyMap("S-curve, Isomap", "", curve.points, gramfold.Isomap(n_neighbors=10).fit_transform(curve.points))
    yield FaultyMap("S-curve, landmarks", "", curve.points, gramfold.LandmarkIsomap().fit_transform(curve.points))
    small = make_swiss_roll(400, random_state=4)
    yield FaultyMap("roll of 400, SDE", "", small.points, gramfold.SDE().fit_transform(small.points))
    yield FaultyMap("groups, truth", "", blobs, on_blobs)
    yield FaultyMap("groups, MDS", "", blobs, gramfold.ClassicalMDS().fit_transform(blobs))
    yield FaultyMap("circle, PCA", "", circle, gramfold.PCA(n_components=2).fit_transform(circle))
    ball = np.random.default_rng(5).standard_normal((700, 3)) @ _directions(3, 12, 5)
    yield FaultyMap("Gaussian of three dimensions, PCA", "", ball, gramfold.PCA(n_components=3).fit_transform(ball))
    yield FaultyMap("iris, PCA", "", iris, gramfold.PCA(n_components=2).fit_transform(iris))
    yield FaultyMap("iris, MDS of three", "", iris, gramfold.ClassicalMDS(n_components=3).fit_transform(iris))
    wine = StandardScaler().fit_transform(load_wine().data)
    yield FaultyMap("wine, PCA of 8", "", wine, gramfold.PCA(n_components=8).fit_transform(wine))
    yield FaultyMap("digits, PCA of 20", "", digits, digits_map)
    helix, along = _helix(600, seed=6)
    yield FaultyMap("helix, truth", "", helix, along)
    yield FaultyMap("helix, Isomap", "", helix, gramfold.Isomap(n_components=1).fit_transform(helix))
    for name, p in (("isomap_faces32", 3), ("teapots100_gray38x50", 8), ("guo_embryo_qpcr", 12)):
        X = shared(name)
        if X is not None:
            model = gramfold.PCA(n_components=p) if p > 3 else gramfold.Isomap(n_components=p, n_neighbors=6)
            yield FaultyMap(f"{name}, {type(model).__name__} of {p}", "", X, model.fit_transform(X))

    yield FaultyMap("plane, folded", "glued", plane, _folded(on_plane))
    yield FaultyMap("roll, folded at its middle", "glued", roll.points, _folded(roll.truth))
    yield FaultyMap("groups, two on one another", "glued", blobs, _group_moved(on_blobs))
    yield FaultyMap("digits, a class on another", "glued", digits, _class_moved(digits_map, load_digits().target, 0, 1))
    yield FaultyMap("S-curve, crushed along its length", "glued", curve.points, _crumpled(curve.truth))
    yield FaultyMap("plane, cut in two", "torn", plane, _cut(on_plane, 2))
    yield FaultyMap("roll, cut in four", "torn", roll.points, _cut(roll.truth, 4))
    yield FaultyMap("circle, opened", "torn", circle, _opened(on_circle))
    yield FaultyMap("digits, two classes halved", "torn", digits, _halved(digits_map, load_digits().target, (0, 3)))
    yield FaultyMap("groups, halved", "torn", blobs, _split_at_random(on_blobs, seed=7))
    yield FaultyMap("roll, stretched along", "strained", roll.points, _stretched(roll.truth))
    yield FaultyMap("plane, one side six times", "strained", plane, on_plane * [6.0, 1.0])
    yield FaultyMap("plane, blown up in the middle", "strained", plane, _blown(on_plane))
    yield FaultyMap("plane, LaplacianEigenmaps", "strained", plane, gramfold.LaplacianEigenmaps().fit_transform(plane))
    yield FaultyMap("iris, a power of the radius", "strained", iris, _power(gramfold.PCA(2).fit_transform(iris), 3.0))
    yield FaultyMap("plane, one row far away", "collapsed", plane, _far_row(on_plane, 3))
    yield FaultyMap("roll, five places", "collapsed", roll.points, _places(roll.truth, 5, seed=8))
    yield FaultyMap("plane, flat", "collapsed", plane, on_plane * [1.0, 1e-6])
    yield FaultyMap("digits, 95% on one spot", "collapsed", digits, _spot(digits_map, 0.95, seed=9))
    yield FaultyMap("iris, a coarse grid", "collapsed", iris, _grid(gramfold.PCA(2).fit_transform(iris), 3))


def second_half() -> Iterator[FaultyMap]:
    """The maps on which nothing was set."""
    plane, on_plane = _plane(1_500, 30, 0.02, seed=20)
    roll = make_swiss_roll(2_000, noise=0.2, random_state=21)
    curve = make_s_curve(1_200, random_state=22)
    usps = shared("usps")
    digits = load_digits().data[::2]
    target = load_digits().target[::2]
    digits_map = gramfold.ClassicalMDS(n_components=16).fit_transform(digits)
    cancer = StandardScaler().fit_transform(load_breast_cancer().data)
    blobs, on_blobs = _blobs(600, 10, seed=23)
    strip, on_strip = _plane(700, 5, 0.0, seed=24, sides=(8.0, 1.0))
    yield FaultyMap("plane, MDS", "", plane, gramfold.ClassicalMDS().fit_transform(plane))
    yield FaultyMap("plane, Isomap", "", plane, gramfold.Isomap(n_neighbors=12).fit_transform(plane))
    yield FaultyMap("noisy roll, Isomap", "", roll.points, gramfold.Isomap(n_neighbors=10).fit_transform(roll.points))
    yield FaultyMap("noisy roll, truth", "", roll.points, roll.truth)
    yield FaultyMap("noisy roll, landmarks", "", roll.points, gramfold.LandmarkIsomap().fit_transform(roll.points))
    yield FaultyMap("S-curve, truth", "", curve.points, curve.truth)
    yield FaultyMap("S-curve, SDE", "", curve.points[:500], gramfold.SDE().fit_transform(curve.points[:500]))
    yield FaultyMap("S-curve, Isomap", "", curve.points, gramfold.Isomap().fit_transform(curve.points))
    yield FaultyMap("groups, truth", "", blobs, on_blobs)
    yield FaultyMap("groups, PCA", "", blobs, gramfold.PCA(n_components=2).fit_transform(blobs))
    yield FaultyMap("strip, PCA", "", strip, gramfold.PCA(n_components=2).fit_transform(strip))
    yield FaultyMap("strip, Isomap", "", strip, gramfold.Isomap().fit_transform(strip))
    sphere = np.random.default_rng(25).standard_normal((800, 3))
    sphere = (sphere / np.linalg.norm(sphere, axis=1, keepdims=True)) @ _directions(3, 9, 25)
    yield FaultyMap("sphere, PCA of 3", "", sphere, gramfold.PCA(n_components=3).fit_transform(sphere))
    yield FaultyMap("cancer, PCA of 12", "", cancer, gramfold.PCA(n_components=12).fit_transform(cancer))
    yield FaultyMap("digits, MDS of 16", "", digits, digits_map)
    diabetes = StandardScaler().fit_transform(load_diabetes().data)
    yield FaultyMap("diabetes, PCA of 7", "", diabetes, gramfold.PCA(n_components=7).fit_transform(diabetes))
    many = np.random.default_rng(26).standard_t(4, (900, 4)) @ _directions(4, 15, 26)
    yield FaultyMap("heavy tails, PCA of 4", "", many, gramfold.PCA(n_components=4).fit_transform(many))
    for name, X, p in (("olivetti", shared("olivetti"), 40), ("pbmc3k", cells(), 20), ("ocean", ocean(2_000), 4)):
        if X is not None:
            yield FaultyMap(f"{name}, PCA of {p}", "", X, gramfold.PCA(n_components=p).fit_transform(X))

    yield FaultyMap("strip, folded", "glued", strip, _folded(on_strip))
    yield FaultyMap("noisy roll, crushed", "glued", roll.points, _crumpled(roll.truth))
    yield FaultyMap("groups, two on one another", "glued", blobs, _group_moved(on_blobs))
    yield FaultyMap("S-curve, folded", "glued", curve.points, _folded(curve.truth))
    if usps is not None:
        few = usps[::5]
        usps_map = gramfold.PCA(n_components=20).fit_transform(few)
        yield FaultyMap("usps, folded", "glued", few, np.abs(usps_map))
    else:
        yield FaultyMap("digits, a class on another", "glued", digits, _class_moved(digits_map, target, 4, 7))
    yield FaultyMap("S-curve, cut in three", "torn", curve.points, _cut(curve.truth, 3))
    yield FaultyMap("plane, cut in two", "torn", plane, _cut(on_plane, 2))
    yield FaultyMap("groups, halved", "torn", blobs, _split_at_random(on_blobs, seed=27))
    yield FaultyMap("digits, two classes halved", "torn", digits, _halved(digits_map, target, (1, 6)))
    around = _circle(800, 7, seed=28)
    yield FaultyMap("circle, opened", "torn", around[0], _opened(around[1]))
    yield FaultyMap("noisy roll, stretched along", "strained", roll.points, _stretched(roll.truth))
    yield FaultyMap("strip, LaplacianEigenmaps", "strained", strip, gramfold.LaplacianEigenmaps().fit_transform(strip))
    yield FaultyMap("S-curve, one side five times", "strained", curve.points, curve.truth * [1.0, 5.0])
    yield FaultyMap("plane, blown up in the middle", "strained", plane, _blown(on_plane))
    yield FaultyMap("groups, a power of the radius", "strained", blobs, _power(on_blobs - on_blobs.mean(axis=0), 2.5))
    yield FaultyMap("S-curve, two rows far away", "collapsed", curve.points, _far_row(curve.truth, 10, 500))
    yield FaultyMap("plane, eight places", "collapsed", plane, _places(on_plane, 8, seed=29))
    yield FaultyMap("noisy roll, flat", "collapsed", roll.points, roll.truth * [1.0, 1e-5])
    yield FaultyMap("digits, 97% on one spot", "collapsed", digits, _spot(digits_map, 0.97, seed=30))
    yield FaultyMap("cancer, a coarse grid", "collapsed", cancer, _grid(gramfold.PCA(2).fit_transform(cancer), 4))


# --- data


def _directions(p: int, d: int, seed: int) -> Floats:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, p)))[0].T


def _plane(
    n: int, d: int, noise: float, *, seed: int, sides: tuple[float, float] = (2.0, 1.5)
) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    places = random.random((n, 2)) * sides
    return places @ _directions(2, d, seed) + noise * random.standard_normal((n, d)), places


def _blobs(n: int, d: int, seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [9.0, 1.0], [3.0, 8.0]])
    places = centers[np.arange(n) % 3] + random.standard_normal((n, 2))
    return places @ _directions(2, d, seed) + 0.02 * random.standard_normal((n, d)), places


def _circle(n: int, d: int, seed: int) -> tuple[Floats, Floats]:
    angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) @ _directions(2, d, seed), angle


def _helix(n: int, seed: int) -> tuple[Floats, Floats]:
    t = np.sort(np.random.default_rng(seed).uniform(0, 6 * np.pi, n))
    return np.column_stack([3 * np.cos(t), 3 * np.sin(t), t]), t[:, None]


# --- faults


def _folded(Y: Floats) -> Floats:
    """The first axis folded at its middle."""
    middle = 0.5 * (Y[:, 0].min() + Y[:, 0].max())
    return np.column_stack([np.abs(Y[:, 0] - middle), Y[:, 1:]])


def _crumpled(Y: Floats) -> Floats:
    """The first axis folded three times."""
    length = np.ptp(Y[:, 0]) / 4
    turns = np.abs((Y[:, 0] - Y[:, 0].min() + length) % (2 * length) - length)
    return np.column_stack([turns, Y[:, 1:]])


def _group_moved(Y: Floats) -> Floats:
    group = np.arange(len(Y)) % 3
    moved = Y.copy()
    moved[group == 1] += Y[group == 0].mean(axis=0) - Y[group == 1].mean(axis=0)
    return moved


def _class_moved(Y: Floats, target: np.ndarray, one: int, other: int) -> Floats:
    """One class at the places of rows of another, which are some of its axes' noise away."""
    random = np.random.default_rng(0)
    moved, here = Y.copy(), np.flatnonzero(target == one)
    chosen = random.choice(np.flatnonzero(target == other), len(here))
    moved[here] = Y[chosen] + 0.05 * Y.std(axis=0) * random.standard_normal((len(here), Y.shape[1]))
    for third in (4, 7):
        here = np.flatnonzero(target == third)
        chosen = random.choice(np.flatnonzero(target == 6), len(here))
        moved[here] = Y[chosen] + 0.05 * Y.std(axis=0) * random.standard_normal((len(here), Y.shape[1]))
    return moved


def _cut(Y: Floats, parts: int) -> Floats:
    """Stripes across the first axis, each as far from the next as the map is long."""
    low, length = Y[:, 0].min(), np.ptp(Y[:, 0])
    stripe = np.minimum((Y[:, 0] - low) / length * parts, parts - 1e-9).astype(int)
    order = np.random.default_rng(parts).permutation(parts) if parts > 2 else np.array([0, 1])
    return np.column_stack([Y[:, 0] + 2.0 * length * order[stripe], Y[:, 1:]])


def _opened(angle: Floats) -> Floats:
    return angle[:, None]


def _halved(Y: Floats, target: np.ndarray, classes: tuple[int, ...]) -> Floats:
    """Half of the rows of these classes, at random, moved away as one."""
    random = np.random.default_rng(1)
    moved = Y.copy()
    moved[np.isin(target, classes) & (random.random(len(Y)) < 0.5)] += 3.0 * np.ptp(Y[:, 0]) * np.eye(Y.shape[1])[0]
    return moved


def _split_at_random(Y: Floats, seed: int) -> Floats:
    away = np.random.default_rng(seed).random(len(Y)) < 0.5
    return np.asarray(Y + away[:, None] * np.array([0.0, 3.0 * np.ptp(Y[:, 1])]))


def _stretched(Y: Floats) -> Floats:
    along = (Y[:, 0] - Y[:, 0].min()) / np.ptp(Y[:, 0])
    return np.column_stack([np.ptp(Y[:, 0]) * np.expm1(4 * along) / np.expm1(4), Y[:, 1:]])


def _blown(Y: Floats) -> Floats:
    """Distances from the middle to the power 1/4: the middle is spread out, the rim is pressed together."""
    return _power(Y - Y.mean(axis=0), 0.25)


def _power(Y: Floats, power: float) -> Floats:
    radius = np.linalg.norm(Y, axis=1, keepdims=True)
    return np.asarray(Y * np.maximum(radius, 1e-12) ** (power - 1.0))


def _far_row(Y: Floats, *rows: int) -> Floats:
    moved = Y.copy()
    moved[list(rows)] += 1e3 * np.ptp(Y, axis=0)
    return moved


def _places(Y: Floats, count: int, seed: int) -> Floats:
    from sklearn.cluster import KMeans

    found = KMeans(count, n_init=3, random_state=seed).fit(Y)
    return np.asarray(found.cluster_centers_[found.labels_])


def _spot(Y: Floats, share: float, seed: int) -> Floats:
    crushed = np.random.default_rng(seed).random(len(Y)) < share
    return np.asarray(np.where(crushed[:, None], 1e-6, 1.0) * Y)


def _grid(Y: Floats, cells: int) -> Floats:
    """Every coordinate rounded to a few values."""
    low, length = Y.min(axis=0), np.ptp(Y, axis=0)
    return np.asarray(low + np.floor((Y - low) / length * (cells - 1e-9)) * length / cells)
