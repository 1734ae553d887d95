import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.manifold import MDS

from gramfold import ClassicalMDS, Isomap, OrdinalMDS
from gramfold.datasets import make_swiss_roll
from gramfold.errors import DisconnectedGraphError, InputError, NotConvergedWarning
from gramfold.methods.ordinal_mds.guttman import EqualWeights
from gramfold.methods.ordinal_mds.majorization import lay_out
from gramfold.methods.ordinal_mds.monotone import rank_order
from tests.methods.maps import difference, s_curve

RNG = np.random.default_rng(0)
PLANE = RNG.random((150, 2))
CLOUD = RNG.standard_normal((80, 5))
INCREASING = {
    "exp": np.exp,
    "log1p": np.log1p,
    "cube": lambda d: d**3,
    "root": np.sqrt,
    "tenth power": lambda d: d**10,
    "log, negative": lambda d: np.log(d + 1e-3),
    "steps": lambda d: d + 100 * np.floor(3 * d),
    "ranks": lambda d: np.unique(d, return_inverse=True)[1].reshape(d.shape).astype(float),
    "last bits lost": lambda d: np.ldexp(np.round(np.ldexp(d, 40)), -40),
}


def ordinal(D, **settings):
    return OrdinalMDS(metric="precomputed", **settings).fit(D)


# --- theory


@pytest.mark.parametrize("transform", INCREASING.values(), ids=INCREASING)
def test_order_alone_tells_where_points_of_a_plane_lie(transform):
    model = ordinal(transform(cdist(PLANE, PLANE)))
    assert procrustes(PLANE, model.embedding_)[2] < 1e-5  # disparity to the truth
    assert model.stress_ < 1e-3


def test_at_no_stress_the_map_is_kernel_pca_on_the_disparities():
    model = OrdinalMDS(tol=1e-8, max_iter=2000).fit(PLANE)
    assert model.stress_ < 1e-6
    spectrum = model.spectrum_
    assert difference(model.embedding_, spectrum.eigenvectors * np.sqrt(spectrum.eigenvalues)) < 1e-5
    assert model.negative_part().mass < 1e-5


def test_kernel_holds_the_disparities():
    model = OrdinalMDS().fit(CLOUD)
    ascending = np.argsort(pdist(CLOUD))
    disparities = np.sqrt(squareform(model.kernel_.squared_distances(np.arange(len(CLOUD))), checks=False))
    assert (np.diff(disparities[ascending]) > -1e-7).all()
    distances = pdist(model.embedding_)
    stress = np.sqrt(np.square(distances - disparities).sum() / np.square(distances).sum())
    assert model.stress_ == pytest.approx(stress, abs=1e-6)


def test_geodesics_of_a_roll_unroll_it():
    roll = make_swiss_roll(300, length=40, random_state=0)
    model = OrdinalMDS(n_neighbors=8).fit(roll.points)
    assert procrustes(roll.truth, model.embedding_)[2] < 0.05
    assert procrustes(roll.truth, OrdinalMDS().fit(roll.points).embedding_)[2] > 0.1  # straight distances do not
    isomap = Isomap(n_neighbors=8).fit(roll.points)
    walks = np.sqrt(np.maximum(isomap.kernel_.squared_distances(np.arange(300)), 0))
    np.fill_diagonal(walks, 0)
    assert difference(model.embedding_, ordinal(walks).embedding_) < 1e-6


def test_geodesics_of_precomputed_distances():
    roll = make_swiss_roll(200, length=40, random_state=1).points
    rows, known = OrdinalMDS(n_neighbors=7).fit(roll), ordinal(cdist(roll, roll), n_neighbors=7)
    assert difference(rows.embedding_, known.embedding_) < 1e-6


def test_components_of_the_graph_are_not_guessed_at():
    with pytest.raises(DisconnectedGraphError, match="n_neighbors=3 the neighbour graph has 2 connected components"):
        OrdinalMDS(n_neighbors=3).fit(np.vstack([CLOUD, CLOUD + 1000]))


# --- reference


def plain_stress(Y, D, ties="primary"):
    """Kruskal's stress-1, the disparities and their pairs, with a loop for each sum."""
    pairs = [(i, j) for i in range(len(Y)) for j in range(i)]
    apart = {pair: float(np.linalg.norm(Y[pair[0]] - Y[pair[1]])) for pair in pairs}
    pairs.sort(key=lambda pair: (D[pair], apart[pair]))
    d = np.array([apart[pair] for pair in pairs])
    if ties == "secondary":
        values = np.array([D[pair] for pair in pairs])
        means = np.array([d[values == value].mean() for value in np.unique(values)])
        counts = np.array([(values == value).sum() for value in np.unique(values)])
        disparities = np.repeat(isotonic_regression(means, weights=counts).x, counts)
    else:
        disparities = isotonic_regression(d).x
    return np.sqrt(((d - disparities) ** 2).sum() / (d**2).sum()), dict(zip(pairs, disparities, strict=True))


def plain_step(Y, D, ties="primary"):
    """Guttman's transform as V⁺ B Y, matrices written out."""
    n = len(Y)
    _, disparities = plain_stress(Y, D, ties)
    apart = {(i, j): np.linalg.norm(Y[i] - Y[j]) for i, j in disparities}
    scale = sum(d**2 for d in apart.values()) / sum(d**2 for d in disparities.values())
    B = np.zeros((n, n))
    for (i, j), disparity in disparities.items():
        B[i, j] = B[j, i] = -scale * disparity / apart[i, j]
    B -= np.diag(B.sum(axis=1))
    V = n * np.eye(n) - np.ones((n, n))
    return np.linalg.pinv(V) @ B @ Y


@pytest.mark.parametrize("ties", ["primary", "secondary"])
@pytest.mark.parametrize("tied", [False, True])
def test_a_step_is_the_plain_one(ties, tied):
    D = cdist(CLOUD[:40], CLOUD[:40])
    D = np.ceil(3 * D) if tied else D
    Y = CLOUD[:40, :2] - CLOUD[:40, :2].mean(axis=0)
    order = rank_order(squareform(D, checks=False), np.ones(40 * 39 // 2), ties)
    layout = lay_out(Y, order, EqualWeights(np.ones(40)))
    assert layout.stress == pytest.approx(plain_stress(Y, D, ties)[0], rel=1e-10)
    np.testing.assert_allclose(layout.stepped, plain_step(Y, D, ties), atol=1e-12)


def test_start_is_classical_scaling_of_the_ranks():
    D = cdist(CLOUD, CLOUD)
    ranks = np.unique(D, return_inverse=True)[1].reshape(D.shape).astype(float)
    classical = ClassicalMDS(metric="precomputed").fit(ranks).embedding_
    assert ordinal(D).stress_path_[0] == pytest.approx(plain_stress(classical, D)[0], rel=1e-9)


@pytest.mark.parametrize("data", [PLANE[:60], CLOUD[:60], s_curve()[:80]], ids=["plane", "cloud", "S-curve"])
def test_stress_is_not_above_scikit_learns(data):
    D = cdist(data, data)
    theirs = MDS(
        2, metric="precomputed", metric_mds=False, n_init=2, init="random", max_iter=500, eps=1e-7, random_state=0
    ).fit_transform(D)
    ours = ordinal(D)
    assert ours.stress_ == pytest.approx(plain_stress(ours.embedding_, D)[0], rel=1e-6, abs=1e-6)
    assert ours.stress_ < 1.01 * plain_stress(theirs, D)[0] + 1e-4


# --- itself


@pytest.mark.parametrize("transform", INCREASING.values(), ids=INCREASING)
@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_only_the_order_counts(transform, ties):
    D = cdist(CLOUD, CLOUD)
    plain, changed = ordinal(D, ties=ties), ordinal(transform(D), ties=ties)
    np.testing.assert_allclose(changed.embedding_, plain.embedding_, atol=1e-6)
    assert changed.n_iter_ == plain.n_iter_


def test_only_the_order_of_ties_and_copies_counts():
    whole = RNG.integers(0, 4, (40, 3)).astype(float)  # some rows occur twice
    D = cdist(whole, whole, "cityblock")
    assert len(np.unique(whole, axis=0)) < 40
    for transform in (np.exp, np.sqrt, lambda d: d**3 - 5):
        np.testing.assert_allclose(ordinal(transform(D)).embedding_, ordinal(D).embedding_, atol=1e-6)


@pytest.mark.parametrize("shift", [-3.0, -1.0, 2.0])
def test_twins_that_are_apart_are_no_copies_wherever_zero_lies(shift):
    rows = np.arange(12) % 11
    D = np.ceil(6 * cdist(PLANE[:11], PLANE[:11]))[np.ix_(rows, rows)]
    D[0, 11] = D[11, 0] = 1.0  # row 11 has the dissimilarities of row 0, and is not at the least one from it
    assert len(ordinal(D + shift).kernel_.mass) == 12


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), steps=st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=60), ties=st.booleans())
def test_any_increasing_values_give_the_same_map(seed, steps, ties):
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 12, 66) if ties else rng.permutation(66) + 1  # of the pairs of 12 points
    increasing = np.cumsum(np.resize(steps, 67))
    plain = ordinal(squareform(values.astype(float)), max_iter=2000)
    changed = ordinal(squareform(increasing[values]), max_iter=2000)
    assert difference(plain.embedding_, changed.embedding_) < 1e-6


@pytest.mark.parametrize("ties", ["primary", "secondary"])
@pytest.mark.parametrize("data", [PLANE, CLOUD, np.round(2 * CLOUD)], ids=["plane", "cloud", "ties"])
def test_stress_never_rises(data, ties):
    model = OrdinalMDS(ties=ties, tol=1e-7, max_iter=3000).fit(data)
    assert len(model.stress_path_) == model.n_iter_ + 1
    assert (np.diff(model.stress_path_) < 1e-12).all()
    assert model.stress_path_[-1] == model.stress_
    assert model.stress_ < model.stress_path_[0]


def test_freed_ties_have_the_lower_stress():
    D = np.ceil(2 * cdist(CLOUD, CLOUD))
    assert ordinal(D).stress_ < 0.99 * ordinal(D, ties="secondary").stress_


def test_copies_count_as_often_as_they_occur():
    doubled = np.vstack([CLOUD, CLOUD[:30], CLOUD[:10]])
    rows, known = OrdinalMDS().fit(doubled), ordinal(cdist(doubled, doubled))
    np.testing.assert_array_equal(rows.embedding_[80:110], rows.embedding_[:30])
    assert difference(rows.embedding_, known.embedding_) < 1e-6
    # the stress over all pairs of rows, copies at distance 0 included
    assert rows.stress_ == pytest.approx(plain_stress(rows.embedding_, cdist(doubled, doubled))[0], rel=1e-9)


@pytest.mark.parametrize("ties", ["primary", "secondary"])
@pytest.mark.parametrize("seed", range(6))
def test_stress_is_over_all_pairs_where_others_are_as_alike_as_copies(ties, seed):
    rng = np.random.default_rng(seed)
    judged = np.triu(rng.integers(0, 4, (8, 8)), 1)  # 0 is as alike as copies are, and most such pairs are none
    rows = np.concatenate([np.arange(8), rng.integers(0, 8, 5)])
    D = (judged + judged.T)[np.ix_(rows, rows)].astype(float)
    model = ordinal(D - 1.5, ties=ties, max_iter=3000)
    assert model.stress_ == pytest.approx(plain_stress(model.embedding_, D, ties)[0], abs=1e-9)
    assert (np.diff(model.stress_path_) < 1e-12).all()


@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_copies_of_parallel_rows(ties):
    rays = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 4.0], [1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [0.0, 1.0]])
    D = np.round(cdist(rays, rays, "cosine"), 12)
    model = OrdinalMDS(ties=ties, metric="cosine", max_iter=2000).fit(rays)
    assert model.stress_ == pytest.approx(plain_stress(model.embedding_, D, ties)[0], abs=1e-6)


@pytest.mark.parametrize("size", [1e-300, 1e-165, 1e155, 1e300])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "sqeuclidean", "cosine", "minkowski"])
def test_size_of_the_rows_does_not_count(metric, size):
    parameters = {"metric": metric, "metric_params": {"p": 3.5} if metric == "minkowski" else None}
    plain, scaled = OrdinalMDS(**parameters).fit(CLOUD), OrdinalMDS(**parameters).fit(size * CLOUD)
    assert difference(scaled.embedding_, plain.embedding_) < 1e-8
    assert scaled.stress_ == pytest.approx(plain.stress_, abs=1e-8)


@pytest.mark.parametrize("size", [1e-300, 1e300])
@pytest.mark.parametrize("n_neighbors", [None, 8])
def test_size_of_precomputed_dissimilarities_does_not_count(size, n_neighbors):
    D = cdist(CLOUD, CLOUD)
    plain, scaled = ordinal(D, n_neighbors=n_neighbors), ordinal(size * D, n_neighbors=n_neighbors)
    assert difference(scaled.embedding_, plain.embedding_) < 1e-8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_geodesics_of_any_size(dtype):
    rows = CLOUD.astype(dtype)
    plain = OrdinalMDS(n_neighbors=8).fit(rows)
    for size in (2.0**-100, 2.0**100):
        scaled = OrdinalMDS(n_neighbors=8).fit(rows * dtype(size))
        np.testing.assert_array_equal(scaled.embedding_, plain.embedding_)


@pytest.mark.parametrize("n", [3, 6])
def test_equal_dissimilarities(n):
    D = np.ones((n, n)) - np.eye(n)
    assert ordinal(D).stress_ < 1e-12  # any map has their order
    model = ordinal(D, ties="secondary")
    assert model.stress_ == pytest.approx(plain_stress(model.embedding_, D, "secondary")[0], abs=1e-9)
    if n == 3:
        assert model.stress_ < 1e-9  # an equilateral triangle


@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_rows_that_are_all_the_same(ties):
    with pytest.raises(InputError, match="all rows are identical"):
        OrdinalMDS(ties=ties).fit(np.ones((5, 3)))
    with pytest.raises(InputError, match="all rows are identical"):
        ordinal(np.zeros((5, 5)), ties=ties)


def test_map_is_upright():
    places = OrdinalMDS(3).fit(CLOUD).embedding_
    spread = places.T @ places
    np.testing.assert_allclose(places.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(spread, np.diag(np.diag(spread)), atol=1e-10)
    assert (np.diff(np.diag(spread)) < 0).all()
    assert np.square(pdist(places)).mean() == pytest.approx(1)


def test_stopping_short_is_said():
    with pytest.warns(NotConvergedWarning, match="after max_iter=3 iterations"):
        model = OrdinalMDS(max_iter=3).fit(CLOUD)
    assert model.n_iter_ == 3


def test_new_rows_have_no_place():
    assert not hasattr(OrdinalMDS, "transform")
    assert not hasattr(OrdinalMDS, "inverse_transform")
