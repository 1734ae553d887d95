"""Maps of data whose shape is known, with the verdict that they should get. Two halves of the same kinds.

The answers of the first half were written before any threshold was set, those of the second before it was run once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris
from sklearn.datasets import make_swiss_roll as sklearn_roll
from sklearn.manifold import TSNE

import gramfold
from benchmarks.data import cells, shared
from gramfold.datasets import make_gaussian_clusters, make_s_curve, make_swiss_roll, make_torus
from gramfold.types import Floats

SEEDS = (0, 1, 2)
_DRAWN = 0.9  # of the rows of a real table, for each seed
_FLAT_FAULTS = ("glued", "torn", "strained")


@dataclass(frozen=True, eq=False)
class JudgedSet:
    """Data and a map for each seed, and what should be said of them.

    `must` are faults that have to be named, `one_of` faults of which at least one has to be, `may` those that can be
    named too without being wrong.
    """

    name: str
    make: Callable[[int], tuple[Any, Floats] | None]  # None where the data are absent
    kinds: tuple[str, ...]
    must: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    may: tuple[str, ...] = ()

    def right_kind(self, kind: str) -> bool:
        """Whether the shape is as it should be."""
        return kind in self.kinds

    def right_faults(self, faults: tuple[str, ...]) -> bool:
        """Whether all that have to be named are, and no others but those that may be."""
        named = set(faults)
        found = set(self.must) <= named and (not self.one_of or bool(named & set(self.one_of)))
        return found and named <= {*self.must, *self.one_of, *self.may}


def first_half() -> Iterator[JudgedSet]:
    """The sets on which thresholds were set."""
    yield JudgedSet("roll, Isomap", _roll, ("sheet",))
    yield JudgedSet("S-curve, two rows far away", _collapsed_curve, ("sheet",), must=("collapsed",))
    yield JudgedSet("roll, Isomap of 40 neighbours", _short_circuited, ("sheet",), ("glued",), may=("strained", "torn"))
    yield JudgedSet("two moons and a ball, PCA", _apart, ("groups",))
    yield JudgedSet("sphere on two dimensions, PCA", _sphere, ("sphere",), ("glued",), may=("strained", "torn"))
    yield JudgedSet("noisy ring, PCA", _ring, ("ring",))
    yield JudgedSet("torus, PCA of three", _torus, ("unclear",))
    yield JudgedSet("noisy tree, Isomap", _tree, ("branches",), may=("strained",))
    yield JudgedSet("four clusters, PCA of three", _clusters, ("groups",), may=("strained",))
    yield JudgedSet("plane torn in three", _torn, ("sheet",), must=("torn",))
    yield JudgedSet("noise, t-SNE", _noise, ("noise",), one_of=("glued", "torn"), may=("strained",))
    yield JudgedSet("blood cells, Isomap", _blood, ("groups",), one_of=_FLAT_FAULTS)
    yield JudgedSet("embryo cells, Isomap", partial(_real, "guo_embryo_qpcr", 2, 10), ("branches",), may=_FLAT_FAULTS)
    yield JudgedSet("digits, Isomap", _digits, ("groups",), one_of=_FLAT_FAULTS)
    yield JudgedSet("faces, Isomap of three", partial(_real, "isomap_faces32", 3, 6), ("unclear",), may=("strained",))


def second_half() -> Iterator[JudgedSet]:
    """The sets on which nothing was set."""
    yield JudgedSet("S-curve in 12 noisy columns, Isomap", _noisy_curve, ("sheet",), may=("strained",))
    yield JudgedSet("bowl, 96% of the rows on a spot", _spot, ("sheet",), ("collapsed",), may=_FLAT_FAULTS)
    yield JudgedSet("uneven roll, Isomap of 50 neighbours", _uneven_roll, ("sheet",), ("glued",), may=_FLAT_FAULTS)
    yield JudgedSet("linked rings and a line, PCA of three", _linked, ("groups",))
    yield JudgedSet("ellipsoid, Isomap", _ellipsoid, ("sphere",), one_of=("glued", "torn"), may=("strained",))
    yield JudgedSet("noisy knot, PCA of three", _knot, ("ring",))
    yield JudgedSet("thin torus in 6 columns, PCA of three", _thin_torus, ("unclear",))
    yield JudgedSet("star of five arms, Isomap", _star, ("branches",), may=("strained",))
    yield JudgedSet("six clusters of unequal width, PCA of five", _unequal, ("groups",), may=("strained",))
    yield JudgedSet("S-curve cut in two", _halves, ("sheet",), must=("torn",))
    yield JudgedSet("heavy-tailed noise, t-SNE", _heavy_noise, ("noise",), one_of=("glued", "torn"), may=("strained",))
    yield JudgedSet("noisy open helix, Isomap of one", _helix, ("line",), may=("strained",))
    yield JudgedSet("teapots, Isomap", partial(_real, "teapots100_gray38x50", 2, 5), ("ring",), may=("strained",))
    yield JudgedSet("USPS digits, Isomap", _usps, ("groups",), one_of=_FLAT_FAULTS)
    yield JudgedSet("iris, PCA", _iris, ("groups",), may=("strained",))


# --- the first half


def _roll(seed: int) -> tuple[Floats, Floats]:
    X = make_swiss_roll(1_000, noise=0.1, random_state=seed).points
    return X, gramfold.Isomap(n_neighbors=8).fit_transform(X)


def _collapsed_curve(seed: int) -> tuple[Floats, Floats]:
    curve = make_s_curve(800, random_state=seed)
    places = curve.truth.copy()
    places[:2] += 1e3 * np.ptp(places, axis=0)
    return curve.points, places


def _short_circuited(seed: int) -> tuple[Floats, Floats]:
    X = make_swiss_roll(1_000, random_state=seed).points
    return X, gramfold.Isomap(n_neighbors=40).fit_transform(X)


def _apart(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    angle = random.uniform(0, np.pi, (2, 250))
    upper = np.column_stack([np.cos(angle[0]), np.sin(angle[0])])
    lower = np.column_stack([1 - np.cos(angle[1]), -0.8 - np.sin(angle[1])])
    flat = np.concatenate([upper, lower, 0.4 * random.standard_normal((300, 2)) + [5.0, 0.0]])
    X = in_columns(flat + 0.05 * random.standard_normal(flat.shape), 6, 0.01, random)
    return X, gramfold.PCA(2).fit_transform(X)


def _sphere(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    points = random.standard_normal((1_000, 3))
    X = in_columns(points / np.linalg.norm(points, axis=1, keepdims=True), 8, 0.01, random)
    return X, gramfold.PCA(2).fit_transform(X)


def _ring(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    angle = random.uniform(0, 2 * np.pi, 600)
    X = in_columns(np.column_stack([np.cos(angle), np.sin(angle)]), 15, 0.05, random)
    return X, gramfold.PCA(2).fit_transform(X)


def _torus(seed: int) -> tuple[Floats, Floats]:
    X = make_torus(1_500, random_state=seed).points
    return X, gramfold.PCA(3).fit_transform(X)


def _tree(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    X = in_columns(branching([(-1, 3.0), (0, 2.0), (0, 2.0), (1, 1.5), (1, 1.5)], 800, 6, random), 10, 0.04, random)
    return X, gramfold.Isomap(n_neighbors=10).fit_transform(X)


def _clusters(seed: int) -> tuple[Floats, Floats]:
    X = make_gaussian_clusters(1_000, n_clusters=4, n_features=10, separation=8.0, random_state=seed).points
    return X, gramfold.PCA(3).fit_transform(X)


def _torn(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    places = random.random((1_200, 2)) * [2.0, 1.5]
    stripe = np.minimum((places[:, 0] / 2.0 * 3).astype(int), 2)
    moved = places + np.column_stack([4.0 * np.array([1, 0, 2])[stripe], np.zeros(len(places))])
    return in_columns(places, 10, 0.01, random), moved


def _noise(seed: int) -> tuple[Floats, Floats]:
    X = np.random.default_rng(seed).standard_normal((800, 20))
    return X, TSNE(random_state=seed).fit_transform(X).astype(np.float64)


def _blood(seed: int) -> tuple[Floats, Floats] | None:
    X = cells()
    if X is None:
        return None
    X = gramfold.PCA(50).fit_transform(drawn(X, seed))
    return X, gramfold.Isomap(n_neighbors=10).fit_transform(X)


def _digits(seed: int) -> tuple[Floats, Floats]:
    X = drawn(load_digits().data, seed)
    return X, gramfold.Isomap(n_neighbors=10).fit_transform(X)


def _real(name: str, p: int, k: int, seed: int) -> tuple[Floats, Floats] | None:
    X = shared(name)
    if X is None:
        return None
    X = drawn(X, seed)
    return X, gramfold.Isomap(n_components=p, n_neighbors=k).fit_transform(X)


# --- the second half


def _noisy_curve(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(100 + seed)
    X = in_columns(make_s_curve(1_500, random_state=100 + seed).points, 12, 0.05, random)
    return X, gramfold.Isomap(n_neighbors=10).fit_transform(X)


def _spot(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(100 + seed)
    flat = random.uniform(-1, 1, (900, 2))
    X = in_columns(np.column_stack([flat, 0.8 * (flat**2).sum(axis=1)]), 5, 0.01, random)
    return X, np.where(random.random((900, 1)) < 0.96, 1e-6, 1.0) * flat


def _uneven_roll(seed: int) -> tuple[Floats, Floats]:
    X = sklearn_roll(700, noise=0.05, random_state=100 + seed)[0]
    return X, gramfold.Isomap(n_neighbors=50).fit_transform(X)


def _linked(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(100 + seed)
    a, b = random.uniform(0, 2 * np.pi, (2, 300))
    one = np.column_stack([np.cos(a), np.sin(a), np.zeros(300)])
    other = np.column_stack([1 + np.cos(b), np.zeros(300), np.sin(b)])
    line = np.column_stack([np.full(200, 4.0), np.zeros(200), random.uniform(-2, 2, 200)])
    X = in_columns(np.concatenate([one, other, line]), 8, 0.02, random)
    return X, gramfold.PCA(3).fit_transform(X)


def _ellipsoid(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(100 + seed)
    points = random.standard_normal((1_200, 3))
    X = in_columns(points / np.linalg.norm(points, axis=1, keepdims=True) * [1.0, 1.3, 0.8], 15, 0.02, random)
    return X, gramfold.Isomap(n_neighbors=10).fit_transform(X)


def _knot(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(100 + seed)
    t = random.uniform(0, 2 * np.pi, 500)
    knot = np.column_stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)])
    X = in_columns(knot, 10, 0.05, random)
    return X, gramfold.PCA(3).fit_transform(X)


def _thin_torus(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(100 + seed)
    points = make_torus(1_500, major_radius=3.0, minor_radius=1.0, random_state=100 + seed).points
    X = in_columns(points, 6, 0.02, random)
    return X, gramfold.PCA(3).fit_transform(X)


def _star(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(100 + seed)
    arm, along = random.integers(0, 5, 700), random.random(700)
    directions = np.linalg.qr(random.standard_normal((8, 8)))[0]
    bent = along[:, None] * 3 * directions[arm] + (0.5 * np.sin(3 * along))[:, None] * directions[5]
    X = in_columns(bent, 20, 0.06, random)
    return X, gramfold.Isomap(n_neighbors=12).fit_transform(X)


def _unequal(seed: int) -> tuple[Floats, Floats]:
    widths = [0.5, 0.7, 0.9, 1.1, 1.3, 1.5]
    X = make_gaussian_clusters(
        900, n_clusters=6, n_features=20, separation=10.0, spread=widths, random_state=100 + seed
    ).points
    return X, gramfold.PCA(5).fit_transform(X)


def _halves(seed: int) -> tuple[Floats, Floats]:
    curve = make_s_curve(1_000, random_state=100 + seed)
    length = np.ptp(curve.truth[:, 0])
    upper = curve.truth[:, 0] > curve.truth[:, 0].min() + 0.4 * length
    return curve.points, curve.truth + np.column_stack([np.where(upper, -3.0 * length, 0.0), np.zeros(len(upper))])


def _heavy_noise(seed: int) -> tuple[Floats, Floats]:
    X = np.random.default_rng(100 + seed).standard_t(5, (500, 12)) * np.linspace(1.0, 2.0, 12)
    return X, TSNE(random_state=seed).fit_transform(X).astype(np.float64)


def _helix(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(100 + seed)
    t = random.uniform(0, 5 * np.pi, 500)
    X = in_columns(np.column_stack([np.cos(t), np.sin(t), 0.3 * t]), 10, 0.05, random)
    return X, gramfold.Isomap(n_components=1, n_neighbors=8).fit_transform(X)


def _usps(seed: int) -> tuple[Floats, Floats] | None:
    X = shared("usps")
    if X is None:
        return None
    X = X[np.sort(np.random.default_rng(seed).choice(len(X), 1_500, replace=False))]
    return X, gramfold.Isomap(n_neighbors=10).fit_transform(X)


def _iris(seed: int) -> tuple[Floats, Floats]:
    X = drawn(load_iris().data, seed)
    return X, gramfold.PCA(2).fit_transform(X)


# --- what they are made of


def drawn(X: Floats, seed: int) -> Floats:
    """Nine tenths of the rows."""
    random = np.random.default_rng(seed)
    return X[np.sort(random.choice(len(X), int(_DRAWN * len(X)), replace=False))]


def in_columns(flat: Floats, d: int, noise: float, random: np.random.Generator) -> Floats:
    """The same points turned into d columns, with normal noise in each."""
    turned = np.linalg.qr(random.standard_normal((d, flat.shape[1])))[0].T
    return np.asarray(flat @ turned + noise * random.standard_normal((len(flat), d)))


def branching(parts: list[tuple[int, float]], n: int, d: int, random: np.random.Generator) -> Floats:
    """Points along straight parts of a tree in d dimensions: each starts at the end of another, in a new direction."""
    lengths = np.array([length for _, length in parts])
    directions = np.linalg.qr(random.standard_normal((d, d)))[0]
    starts: list[Floats] = []
    ends: list[Floats] = []
    for number, (parent, length) in enumerate(parts):
        starts.append(ends[parent] if parent >= 0 else np.zeros(d))
        ends.append(starts[-1] + length * directions[number % d])
    part = random.choice(len(parts), n, p=lengths / lengths.sum())
    along = random.random(n)[:, None]
    return np.asarray((1 - along) * np.array(starts)[part] + along * np.array(ends)[part])
