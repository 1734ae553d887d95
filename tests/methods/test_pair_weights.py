"""`OrdinalMDS.fit(X, pair_weights=W)`."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import load_digits
from sklearn.isotonic import IsotonicRegression

from gramfold import OrdinalMDS
from gramfold.errors import DisconnectedGraphError, InputError, MemoryForecastError
from gramfold.methods.ordinal_mds.guttman import EqualWeights, GivenWeights
from gramfold.methods.ordinal_mds.majorization import descend, lay_out
from gramfold.methods.ordinal_mds.monotone import rank_order
from gramfold.methods.ordinal_mds.ordinal_mds import _BYTES_PER_WEIGHTED_PAIR
from gramfold.methods.ordinal_mds.start import completed
from tests.methods.maps import difference

RNG = np.random.default_rng(0)
PLANE = RNG.random((100, 2))
CLOUD = RNG.standard_normal((40, 4))
D = cdist(CLOUD, CLOUD)
TIED = np.ceil(3 * D)


def symmetric(values):
    upper = np.triu(values, 1)
    return upper + upper.T


def some_weights(n, share=0.6, seed=1):
    """Weights of pairs at random, the others 0."""
    rng = np.random.default_rng(seed)
    return symmetric(rng.uniform(0.1, 3.0, (n, n)) * (rng.random((n, n)) < share))


W = some_weights(40)


def shape(Y):
    """Distances on a map, whatever its scale."""
    distances = pdist(Y)
    return distances / np.sqrt(np.square(distances).mean())


def ordinal(dissimilarities, weights, **parameters):
    return OrdinalMDS(metric="precomputed", **parameters).fit(dissimilarities, pair_weights=weights)


# --- reference: everything written out, pair by pair


def pool_adjacent_violators(values, weights):
    blocks = []
    for value, weight in zip(values, weights, strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (one, w_one, n_one), (other, w_other, n_other) = blocks[-2:]
            blocks[-2:] = [[(w_one * one + w_other * other) / (w_one + w_other), w_one + w_other, n_one + n_other]]
    return [value for value, _, count in blocks for _ in range(count)]


def plain_disparities(Y, dissimilarities, weights, ties="primary"):
    """Of each pair with a weight."""
    pairs = [(i, j) for i in range(len(Y)) for j in range(i) if weights[i, j] > 0]
    apart = {pair: float(np.linalg.norm(Y[pair[0]] - Y[pair[1]])) for pair in pairs}
    if ties == "secondary":
        groups = {}
        for pair in pairs:
            groups.setdefault(dissimilarities[pair], []).append(pair)
        values = sorted(groups)
        sums = [sum(weights[pair] for pair in groups[value]) for value in values]
        means = [sum(weights[pair] * apart[pair] for pair in groups[value]) for value in values]
        means = [total / weight for total, weight in zip(means, sums, strict=True)]
        fitted = pool_adjacent_violators(means, sums)
        return {pair: fitted[k] for k, value in enumerate(values) for pair in groups[value]}
    pairs.sort(key=lambda pair: (dissimilarities[pair], apart[pair]))
    fitted = pool_adjacent_violators([apart[pair] for pair in pairs], [weights[pair] for pair in pairs])
    return dict(zip(pairs, fitted, strict=True))


def plain_stress(Y, dissimilarities, weights, ties="primary"):
    misfit = size = 0.0
    for (i, j), disparity in plain_disparities(Y, dissimilarities, weights, ties).items():
        distance = np.linalg.norm(Y[i] - Y[j])
        misfit += weights[i, j] * (distance - disparity) ** 2
        size += weights[i, j] * distance**2
    return np.sqrt(misfit / size)


def plain_step(Y, dissimilarities, weights, ties="primary"):
    """Guttman's transform as V⁺ B Y."""
    disparities = plain_disparities(Y, dissimilarities, weights, ties)
    apart = {(i, j): np.linalg.norm(Y[i] - Y[j]) for i, j in disparities}
    scale = sum(weights[pair] * apart[pair] ** 2 for pair in apart)
    scale /= sum(weights[pair] * disparities[pair] ** 2 for pair in apart)
    B, V = np.zeros((2, len(Y), len(Y)))
    for (i, j), distance in apart.items():
        B[i, j] = B[j, i] = -scale * weights[i, j] * disparities[i, j] / distance
        V[i, j] = V[j, i] = -weights[i, j]
    for matrix in (B, V):
        matrix -= np.diag(matrix.sum(axis=1))
    return np.linalg.pinv(V) @ B @ Y


def plain_start(dissimilarities, weights):
    """Classical scaling of weighted ranks, those of unknown pairs by shortest paths."""
    n = len(weights)
    unit = weights[weights > 0].mean()
    pairs = sorted((dissimilarities[i, j], i, j) for i in range(n) for j in range(i) if weights[i, j] > 0)
    ranks, below = np.zeros((n, n)), 0.0
    for _, i, j in pairs:
        ranks[i, j] = ranks[j, i] = below + 0.5 * (weights[i, j] / unit + 1)
        below += weights[i, j] / unit
    ranks = np.where(weights > 0, ranks, shortest_path(ranks))
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * H @ ranks**2 @ H)
    return vectors[:, :-3:-1] * np.sqrt(values[:-3:-1])


@pytest.mark.parametrize("ties", ["primary", "secondary"])
@pytest.mark.parametrize("dissimilarities", [D, TIED], ids=["distinct", "tied"])
def test_a_step_is_the_plain_one(dissimilarities, ties):
    Y = CLOUD[:, :2] - CLOUD[:, :2].mean(axis=0)
    pairs = squareform(W, checks=False)
    order = rank_order(squareform(dissimilarities, checks=False), pairs, ties)
    layout = lay_out(Y, order, GivenWeights.of(pairs, np.ones(40)))
    assert layout.stress == pytest.approx(plain_stress(Y, dissimilarities, W, ties), rel=1e-12)
    np.testing.assert_allclose(layout.stepped, plain_step(Y, dissimilarities, W, ties), atol=1e-12)


@pytest.mark.filterwarnings("ignore:after max_iter")
def test_a_fit_is_the_plain_one():
    model = ordinal(D, W, max_iter=60, tol=1e-300)
    now = plain_start(D, W)
    stresses = [plain_stress(now, D, W)]
    before, since_restart = now, 0
    for _ in range(model.n_iter_):
        stepped, momentum = plain_step(now, D, W), since_restart / (since_restart + 3)
        ahead, since_restart = stepped + momentum * (stepped - before), since_restart + 1
        if momentum > 0 and plain_stress(ahead, D, W) > stresses[-1]:
            ahead, since_restart = stepped, 0
        before, now = stepped, ahead
        stresses.append(plain_stress(now, D, W))
    np.testing.assert_allclose(model.stress_path_, stresses, atol=1e-10)
    np.testing.assert_allclose(shape(model.embedding_), shape(now), atol=1e-10)


def test_stress_by_scikit_learns_isotonic_regression():
    model = ordinal(D, W)
    i, j = np.nonzero(np.triu(W))
    distances = np.linalg.norm(model.embedding_[i] - model.embedding_[j], axis=1)
    fitted = IsotonicRegression().fit_transform(D[i, j], distances, sample_weight=W[i, j])
    stress = np.sqrt((W[i, j] * (distances - fitted) ** 2).sum() / (W[i, j] * distances**2).sum())
    assert model.stress_ == pytest.approx(stress, rel=1e-10)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(3, 60), share=st.floats(0.02, 0.9))
def test_unknown_ranks_are_shortest_paths(seed, n, share):
    rng = np.random.default_rng(seed)
    ranks = symmetric(rng.random((n, n)) + 0.01)
    known = symmetric(rng.random((n, n)) < share).astype(bool)
    chain = np.arange(n - 1)
    known[chain, chain + 1] = known[chain + 1, chain] = True  # connected
    paths = shortest_path(np.where(known, ranks, 0.0))
    found = completed(np.where(known | np.eye(n, dtype=bool), ranks, np.nan))
    np.testing.assert_allclose(found, np.where(known, ranks, paths), rtol=1e-12)
    np.testing.assert_array_equal(found, found.T)


# --- theory


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_some_of_the_order_tells_where_points_of_a_plane_lie(share):
    weights = some_weights(100, share)
    model = ordinal(np.where(weights > 0, cdist(PLANE, PLANE), np.nan), weights)
    assert model.stress_ < 1e-3
    assert procrustes(PLANE, model.embedding_)[2] < 1e-4


def test_pairs_of_near_rows_are_enough():
    far = cdist(PLANE, PLANE)
    near = (np.argsort(np.argsort(far, axis=1), axis=1) <= 12).astype(float)
    model = ordinal(far, np.maximum(near, near.T) - np.eye(100), max_iter=2000)
    assert procrustes(PLANE, model.embedding_)[2] < 1e-3


@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_the_map_is_a_stationary_point(ties):
    model = ordinal(TIED if ties == "secondary" else D, W, ties=ties, tol=1e-9, max_iter=20_000)
    pairs = squareform(W, checks=False)
    order = rank_order(squareform(TIED if ties == "secondary" else D, checks=False), pairs, ties)
    guttman = GivenWeights.of(pairs, np.ones(40))

    def stress(flat):
        return lay_out(flat.reshape(-1, 2), order, guttman).stress

    here = model.embedding_.ravel()
    elsewhere = here + 0.1 * RNG.standard_normal(80)
    assert np.abs(approx_fprime(here, stress, 1e-7)).max() < 1e-3 * np.abs(approx_fprime(elsewhere, stress, 1e-7)).max()


@pytest.mark.parametrize("ties", ["primary", "secondary"])
@pytest.mark.parametrize("dissimilarities", [D, TIED], ids=["distinct", "tied"])
def test_stress_never_rises(dissimilarities, ties):
    model = ordinal(dissimilarities, W, ties=ties, tol=1e-7, max_iter=5000)
    assert (np.diff(model.stress_path_) < 1e-12).all()
    assert model.stress_ == pytest.approx(plain_stress(model.embedding_, dissimilarities, W, ties), rel=1e-9)


@pytest.mark.parametrize("weights", [np.ones((40, 40)), 0.3 * (np.ones((40, 40)) - np.eye(40))])
def test_equal_weights_are_no_weights(weights):
    plain, weighted = OrdinalMDS().fit(CLOUD), OrdinalMDS().fit(CLOUD, pair_weights=weights)
    np.testing.assert_array_equal(weighted.embedding_, plain.embedding_)
    np.testing.assert_array_equal(weighted.stress_path_, plain.stress_path_)


def test_nearly_equal_weights_are_nearly_none():
    nearly = 1.0 + symmetric(1e-9 * RNG.random((40, 40)))
    plain, weighted = OrdinalMDS().fit(CLOUD), OrdinalMDS().fit(CLOUD, pair_weights=nearly)
    assert weighted.n_iter_ == plain.n_iter_
    np.testing.assert_allclose(weighted.embedding_, plain.embedding_, atol=1e-7)


@pytest.mark.parametrize("factor", [3.3, 1e-200, 1e305])
def test_only_ratios_of_weights_count(factor):
    plain, scaled = ordinal(D, W), ordinal(D, factor * W)
    np.testing.assert_allclose(scaled.embedding_, plain.embedding_, atol=1e-10)
    assert scaled.stress_ == pytest.approx(plain.stress_, rel=1e-10)


def test_pairs_without_a_weight_may_hold_anything():
    known = W > 0
    anything = np.where(known, D, symmetric(RNG.normal(scale=100.0, size=(40, 40))))
    np.fill_diagonal(anything, 0.0)
    missing = np.where(known, D, np.nan)  # also on the diagonal
    for spoilt in (anything, missing):
        np.testing.assert_array_equal(ordinal(spoilt, W).embedding_, ordinal(D, W).embedding_)
    copied = np.where(known, TIED, 0.0)  # as if those were copies
    np.testing.assert_array_equal(ordinal(copied, W).embedding_, ordinal(TIED, W).embedding_)


def test_multiplicities_are_weights():
    counts = RNG.integers(1, 5, 40)
    pairs = squareform(np.outer(counts, counts) * (1.0 - np.eye(40)))
    order = rank_order(pdist(CLOUD), pairs, "primary")
    start = CLOUD[:, :2]
    copies = descend(start, order, EqualWeights(counts.astype(float)), max_iter=50, tol=1e-300)
    weights = descend(start, order, GivenWeights.of(pairs, np.ones(40)), max_iter=50, tol=1e-300)
    np.testing.assert_allclose(weights.stresses, copies.stresses, atol=1e-12)
    np.testing.assert_allclose(shape(weights.layout.places), shape(copies.layout.places), atol=1e-10)


@pytest.mark.parametrize("seed", [0, 2, 5, 9])  # where both starts, which differ, lead to the same minimum
def test_copies_are_weights(seed):
    rng = np.random.default_rng(seed)
    points, counts = rng.standard_normal((20, 4)), rng.integers(1, 4, 20)
    rows = np.repeat(np.arange(20), counts)
    model = OrdinalMDS(tol=1e-12, max_iter=5000)
    copied = model.fit_transform(points[rows])[np.searchsorted(rows, np.arange(20))], model.stress_
    weighted = model.fit_transform(points, pair_weights=np.outer(counts, counts)), model.stress_
    assert weighted[1] == pytest.approx(copied[1], rel=1e-12)
    np.testing.assert_allclose(shape(weighted[0]), shape(copied[0]), atol=1e-8)


@pytest.mark.parametrize("ties", ["primary", "secondary"])
@pytest.mark.parametrize("seed", range(4))
def test_stress_is_over_all_pairs_of_rows_where_some_are_copies(ties, seed):
    rng = np.random.default_rng(seed)
    rows = np.concatenate([np.arange(12), rng.integers(0, 12, 8)])
    points = rng.permutation(np.arange(12.0))[rows, None]
    weights = some_weights(20, 0.7, seed)

    def metric(a, b):
        return abs(a[0] // 3 - b[0] // 3)  # 0 for some pairs of distinct rows too

    model = OrdinalMDS(metric=metric, ties=ties, max_iter=3000).fit(points, pair_weights=weights)
    known = cdist(points, points, metric)
    assert model.stress_ == pytest.approx(plain_stress(model.embedding_, known, weights, ties), abs=1e-9)
    assert len(model.kernel_.mass) == 12


def test_kernel_holds_the_disparities_and_elsewhere_the_distances():
    model = ordinal(D, W)
    found = np.sqrt(model.kernel_.squared_distances(np.arange(40)))
    for (i, j), disparity in plain_disparities(model.embedding_, D, W).items():
        assert found[i, j] == pytest.approx(disparity, abs=1e-7)
    unknown = (W == 0) & ~np.eye(40, dtype=bool)
    np.testing.assert_allclose(found[unknown], cdist(model.embedding_, model.embedding_)[unknown], atol=1e-7)


def test_geodesics_have_weights_too():
    rows = RNG.standard_normal((60, 3))
    weights = some_weights(60)
    model = OrdinalMDS(n_neighbors=6).fit(rows, pair_weights=weights)
    far = cdist(rows, rows)
    nearest = np.argsort(far, axis=1)[:, 1:7]
    graph = np.zeros((60, 60))
    np.put_along_axis(graph, nearest, np.take_along_axis(far, nearest, axis=1), axis=1)
    geodesics = np.round(shortest_path(np.maximum(graph, graph.T)), 12)
    assert difference(model.embedding_, ordinal(geodesics, weights).embedding_) < 1e-6


@pytest.mark.parametrize("weights", [csr_array(W), coo_array(W), W.tolist(), pd.DataFrame(W), W.astype(np.float32)])
def test_weights_of_any_kind(weights):
    before = pickle.dumps(weights)
    model = OrdinalMDS().fit(CLOUD, pair_weights=weights)
    np.testing.assert_allclose(model.embedding_, OrdinalMDS().fit(CLOUD, pair_weights=W).embedding_, atol=1e-5)
    np.testing.assert_array_equal(model.embedding_, OrdinalMDS().fit_transform(CLOUD, pair_weights=weights))
    assert pickle.dumps(weights) == before  # the user's own is left as it was


def test_the_diagonal_is_not_used():
    with np.errstate(divide="ignore"):
        weights = 1 / D**2  # infinite on the diagonal
    plain = np.where(np.eye(40, dtype=bool), 0.0, weights)
    np.testing.assert_array_equal(
        OrdinalMDS().fit_transform(CLOUD, pair_weights=weights), OrdinalMDS().fit_transform(CLOUD, pair_weights=plain)
    )


def test_rows_of_small_weights_are_embedded_as_well():
    small = np.where(np.arange(100) < 5, 1e-13, 1.0)
    model = OrdinalMDS(tol=1e-6, max_iter=2000).fit(PLANE, pair_weights=np.outer(small, small))
    assert procrustes(PLANE, model.embedding_)[2] < 1e-3


def test_half_of_the_pairs_of_digits():
    rows = load_digits().data[:300]
    weights = symmetric(np.random.default_rng(0).random((300, 300)) < 0.5).astype(float)
    whole, half = OrdinalMDS().fit(rows), OrdinalMDS().fit(rows, pair_weights=weights)
    order = np.argsort(pdist(rows))
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    unseen = squareform(weights, checks=False) == 0
    agreement = [np.corrcoef(rank[unseen], pdist(model.embedding_)[unseen])[0, 1] for model in (whole, half)]
    assert agreement[1] > agreement[0] - 0.05  # pairs that were never given


def test_forecast_of_memory_holds():
    rows = RNG.standard_normal((300, 3))
    weights = some_weights(300, 0.5)
    model = OrdinalMDS().fit(rows, pair_weights=weights)
    tracemalloc.start()
    try:
        model.fit(rows, pair_weights=weights)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < _BYTES_PER_WEIGHTED_PAIR * 300 * 299 / 2


def test_weights_need_more_memory(monkeypatch):
    monkeypatch.setattr("gramfold.runtime.memory.available_memory", lambda: 110.0 * 40 * 39 / 2 / 0.9)
    OrdinalMDS().fit(CLOUD)
    with pytest.raises(MemoryForecastError, match="OrdinalMDS on 40 rows needs"):
        OrdinalMDS().fit(CLOUD, pair_weights=W)


# --- what cannot be used


def spoilt(value, *entries):
    weights = W.copy()
    for entry in entries:
        weights[entry] = value
    return weights


def in_two():
    weights = np.ones((40, 40))
    weights[:25, 25:] = weights[25:, :25] = 0
    return weights


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (W[:30, :30], "pair_weights is of shape (30, 30), but X has 40 rows: pass an array of shape (40, 40)"),
        (np.ones(40), "pair_weights is of shape (40,), but X has 40 rows"),
        ("distance", "pair_weights is a str, but X has 40 rows"),
        (spoilt(-1.0, (3, 7), (7, 3)), "pair_weights has -1 in row 3, column 7: weights must be finite and at least 0"),
        (spoilt(np.nan, (3, 7), (7, 3)), "pair_weights has nan in row 3, column 7"),
        (spoilt(np.inf, (3, 7), (7, 3)), "pair_weights has inf in row 3, column 7"),
        (csr_array(spoilt(np.nan, (3, 7), (7, 3))), "pair_weights has nan in row 3, column 7"),
        (spoilt(9.0, (3, 7)), "pair_weights is not symmetric: entry (3, 7) is 9 and entry (7, 3) is"),
        (np.triu(np.ones((40, 40))), "np.maximum(W, W.T) for weights in one triangle"),
        (np.zeros((40, 40)), "pair_weights are 0 for every pair, so no dissimilarity counts"),
        (csr_array((40, 40)), "pair_weights are 0 for every pair"),
        (np.eye(40), "pair_weights are 0 for every pair"),
        (np.full((40, 40), "x"), "pair_weights holds text"),
        (
            in_two(),
            "no path of pairs with a weight above 0 connects row 0 to row 25, so their relative position is undef",
        ),
        (in_two(), "(row 0 is connected to 24 of 39 other distinct rows)"),
        (in_two() + 1e-18, "only by weights that are tiny compared with the rest"),
    ],
)
def test_one_sentence(weights, sentence):
    with pytest.raises((InputError, DisconnectedGraphError)) as caught:
        OrdinalMDS().fit(CLOUD, pair_weights=weights)
    assert sentence in str(caught.value)


def test_missing_dissimilarities_must_have_weight_0():
    missing = np.where(W > 0, D, np.nan)
    absent = np.argwhere(np.isnan(missing) & ~np.eye(len(D), dtype=bool))  # the diagonal is no pair
    where = rf"row {absent[0, 0]}, column {absent[0, 1]} \({len(absent):,} in all\)"
    with pytest.raises(InputError, match=rf"contains NaN in {where}, so this pair is not known: give"):
        OrdinalMDS(metric="precomputed").fit(missing)
    i, j = np.argwhere(W > 0)[0]
    missing[i, j] = missing[j, i] = np.nan
    with pytest.raises(
        InputError, match=rf"NaN in row {i}, column {j} \(2 in all\), so this pair is not known but has a"
    ):
        ordinal(missing, W)
    with pytest.raises(InputError, match="X contains NaN"):  # neighbours are chosen among all distances
        ordinal(missing, W, n_neighbors=5)
    with pytest.raises(InputError, match="X contains NaN"):
        OrdinalMDS().fit(np.where(CLOUD > 2, np.nan, CLOUD), pair_weights=W)


def test_dissimilarities_with_weights_are_still_checked():
    with pytest.raises(InputError, match="pass dissimilarities, not similarities"):
        ordinal(np.exp(-D), W)
    i, j = np.argwhere(W > 0)[0]
    skewed = np.where(W > 0, D, np.nan)
    skewed[i, j] += 1
    with pytest.raises(InputError, match="not symmetric"):
        ordinal(skewed, W)


def test_a_refused_weight_leaves_the_model_as_it_was():
    model = OrdinalMDS().fit(CLOUD)
    before = model.embedding_.copy()
    with pytest.raises(InputError):
        model.fit(CLOUD, pair_weights=np.zeros((40, 40)))
    np.testing.assert_array_equal(model.embedding_, before)


def test_a_diagonal_may_be_missing():
    far = squareform(pdist(np.random.default_rng(0).standard_normal((20, 3))))
    empty = far.copy()
    np.fill_diagonal(empty, np.nan)
    plain = OrdinalMDS(metric="precomputed").fit(far).embedding_
    np.testing.assert_array_equal(OrdinalMDS(metric="precomputed").fit(empty).embedding_, plain)
    known = ~np.eye(20, dtype=bool)
    np.testing.assert_array_equal(OrdinalMDS(metric="precomputed").fit(empty, pair_weights=known).embedding_, plain)
