import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from gramfold import DiffusionMap, LaplacianEigenmaps
from gramfold.datasets import make_swiss_roll
from gramfold.errors import GramfoldWarning, RepeatedDirectionWarning
from gramfold.graph.affinity import affinity
from tests.methods.maps import s_curve

repeating = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")


def walk(model, alpha):
    """P and π, by hand."""
    W = affinity(model.graph_, model.width_).toarray()
    if model.weights == "gaussian":
        W += np.eye(len(W))
    q = W.sum(axis=1)
    W = W / np.outer(q, q) ** alpha
    d = W.sum(axis=1)
    return W / d[:, None], d / d.sum()


def squared_distances(rows, weights):
    return (weights * np.square(rows[:, None] - rows[None])).sum(axis=2)


@repeating
@pytest.mark.parametrize("weights", ["binary", "gaussian"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("time", [1, 2, 7])
def test_distances_are_those_between_walkers(time, alpha, weights):
    model = DiffusionMap(59, n_neighbors=6, alpha=alpha, t=time, weights=weights).fit(s_curve()[:60])
    P, rest = walk(model, alpha)
    expected = squared_distances(np.linalg.matrix_power(P, time), 1 / rest)
    on_the_map = squared_distances(model.embedding_, 1.0)
    np.testing.assert_allclose(on_the_map, expected, atol=1e-10 * expected.max())
    np.testing.assert_allclose(model.kernel_.squared_distances(np.arange(60)), expected, atol=1e-10 * expected.max())
    some = model.kernel_.squared_distances([0, 7], [3, 9, 50])
    np.testing.assert_allclose(some, expected[np.ix_([0, 7], [3, 9, 50])], atol=1e-10 * expected.max())


@repeating
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_coordinates_are_eigenvectors_of_the_walk(alpha):
    model = DiffusionMap(3, alpha=alpha, t=3).fit(s_curve()[:400])
    P, rest = walk(model, alpha)
    psi, values = model.spectrum_.eigenvectors, 1 - model.spectrum_.penalties
    np.testing.assert_allclose(P @ psi, psi * values, atol=1e-10)
    np.testing.assert_allclose((psi * rest[:, None]).T @ psi, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(model.embedding_, psi * values**3, rtol=1e-10)


@repeating
def test_without_time_and_density_it_is_laplacian_eigenmaps():
    X = s_curve()
    plain = LaplacianEigenmaps(weights="gaussian").fit(X)
    still = DiffusionMap(alpha=0.0, t=0, self_loops=False).fit(X)
    volume = affinity(plain.graph_, plain.width_).sum()
    np.testing.assert_allclose(still.embedding_, plain.embedding_ * np.sqrt(volume), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("time", [1, 2, 0.5])
def test_walks_that_alternate(time):
    # a path is two-coloured: every eigenvalue λ of its walk has a −λ beside it
    lengths = np.diag(np.ones(7), 1) + np.diag(np.ones(7), -1)
    model = DiffusionMap(7, metric="precomputed", weights="binary", alpha=0.0, t=time).fit(csr_array(lengths))
    P, rest = walk(model, 0.0)
    values = 1 - model.spectrum_.penalties
    np.testing.assert_allclose(np.append(1.0, values), -np.append(1.0, values)[::-1], atol=1e-12)
    np.testing.assert_allclose(model.spectrum_.eigenvalues, np.abs(values) ** (2 * time), atol=1e-12)
    if time == int(time):
        expected = squared_distances(np.linalg.matrix_power(P, int(time)), 1 / rest)
        np.testing.assert_allclose(squared_distances(model.embedding_, 1.0), expected, atol=1e-12)
    K = model.kernel_.dense()
    np.testing.assert_allclose(model.kernel_ @ np.eye(8), K, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-12


def test_alpha_takes_the_density_out():
    # a circle ten times as dense on one side as on the other: only its shape should be left at α = 1
    rng = np.random.default_rng(0)
    t = rng.random(2_000) * 2 * np.pi
    t = t[rng.random(len(t)) < 0.1 + 0.9 * np.cos(t / 2) ** 2]
    circle = np.column_stack([np.cos(t), np.sin(t)])
    spread = {}
    for alpha in (0.0, 1.0):
        places = DiffusionMap(radius=0.2, width=0.1, alpha=alpha).fit_transform(circle)
        radii = np.linalg.norm(places, axis=1)
        spread[alpha] = radii.std() / radii.mean()
    assert spread[1.0] < 0.05
    assert spread[0.0] > 0.2


@pytest.mark.parametrize(
    ("height", "n", "limit"), [(36.0, 5_000, 0.98), pytest.param(21.0, 20_000, 0.95, marks=pytest.mark.slow)]
)
def test_independent_coordinates_are_arc_length_and_height(height, n, limit):
    roll = make_swiss_roll(n, height=height, random_state=0)

    def correlations(places):
        return [abs(spearmanr(places[:, i], roll.truth[:, i])[0]) for i in range(2)]

    found = DiffusionMap(n_neighbors=20, weights="gaussian", alpha=1.0, coordinates="independent").fit(roll.points)
    assert min(correlations(found.embedding_)) > limit
    with pytest.warns(RepeatedDirectionWarning, match="coordinate 2 "):
        leading = DiffusionMap(n_neighbors=20, weights="gaussian", alpha=1.0).fit(roll.points)
    assert correlations(leading.embedding_)[1] < 0.1


@repeating
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_new_row_is_the_mean_of_its_walk_over_the_eigenvalue(alpha):
    X = s_curve()
    known = X[:500]
    model = DiffusionMap(alpha=alpha, t=2).fit(known)
    W = affinity(model.graph_, model.width_).toarray() + np.eye(500)
    reach = np.sort(np.linalg.norm(known[:, None] - known[None], axis=2), axis=1)[:, 8]
    apart = model.extrapolation(X[500:]) > 0.3  # so that no training row is beside them
    for x in X[500:][apart][:20]:
        d = np.linalg.norm(known - x, axis=1)
        a = np.where((d <= np.sort(d)[7]) | (d < reach), np.exp(-0.5 * (d / model.width_) ** 2), 0.0)
        p = a / W.sum(axis=1) ** alpha
        expected = (p / p.sum()) @ model.embedding_ / (1 - model.spectrum_.penalties)
        np.testing.assert_allclose(model.transform(x[None])[0], expected, rtol=1e-9)


# --- self-loops


def test_a_kernel_that_is_1_at_distance_0_finds_the_waves_of_a_line():
    # where the width is about the spacing, a walker that cannot stay goes too far
    x = np.linspace(0, 1, 81) ** 2 * 2 * np.pi
    line = np.column_stack([x, np.zeros(81)])
    waves = np.cos(np.outer(x, np.arange(1, 5)) / 2)
    true = 0.5 * 0.1**2 * (np.arange(1, 5) / 2) ** 2  # 1 − exp(−σ²ω²/2), nearly
    settings = {"n_neighbors": 40, "width": 0.1, "coordinates": "leading"}
    with pytest.warns(RepeatedDirectionWarning):
        model = DiffusionMap(4, **settings).fit(line)
    with pytest.warns(RepeatedDirectionWarning):
        without = DiffusionMap(4, self_loops=False, **settings).fit(line)

    def found(fitted):
        return abs(np.corrcoef(waves.T, fitted.spectrum_.eigenvectors.T)[range(4), range(4, 8)])

    assert found(model).min() > 0.994
    assert found(without)[3] < 0.9
    np.testing.assert_allclose(model.spectrum_.penalties, true, rtol=0.1)
    assert (without.spectrum_.penalties > 1.55 * true).all()


@repeating
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("self_loops", [True, False])
def test_copies_walk_as_rows_of_their_own(alpha, self_loops):
    """A complete graph with copies, against all distances between all rows."""
    rng = np.random.default_rng(0)
    distinct = rng.random((40, 2))
    X = distinct[np.concatenate([np.arange(40), rng.integers(0, 40, 25)])]
    model = DiffusionMap(3, n_neighbors=39, width=0.2, alpha=alpha, self_loops=self_loops).fit(X)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    W = np.exp(-0.5 * (D / 0.2) ** 2)
    if not self_loops:
        W[D == 0] = 0
    q = W.sum(axis=1)
    W /= np.outer(q, q) ** alpha
    d = W.sum(axis=1)
    P = W / d[:, None]
    psi, values = model.spectrum_.eigenvectors, 1 - model.spectrum_.penalties
    np.testing.assert_allclose(P @ psi, psi * values, atol=1e-10)
    np.testing.assert_allclose((psi * (d / d.sum())[:, None]).T @ psi, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(P).real)[-4:-1][::-1], values, atol=1e-10)
    if self_loops:  # the kernel between a new row and all rows; on a training row it is that row's own
        new = np.vstack([X[:40] + 1e-9, rng.random((20, 2))])
        w = np.exp(-0.5 * (np.linalg.norm(new[:, None] - X[None], axis=2) / 0.2) ** 2) / q**alpha
        expected = (w / w.sum(axis=1, keepdims=True)) @ model.embedding_ / values
        beside = model.extrapolation(new) < 0.1
        np.testing.assert_allclose(model.transform(new)[:40], expected[:40], atol=1e-6)
        np.testing.assert_allclose(model.transform(new)[~beside], expected[~beside], rtol=1e-9)


def test_binary_weights_have_loops_when_asked():
    graph = csr_array(np.diag(np.ones(7), 1) + np.diag(np.ones(7), -1))
    settings = {"metric": "precomputed", "weights": "binary", "alpha": 0.0}
    never, lazy = (DiffusionMap(7, self_loops=loops, **settings).fit(graph) for loops in (None, True))
    assert 1 - never.spectrum_.penalties[-1] == pytest.approx(-1)
    W = graph.toarray() + np.eye(8)
    values = np.sort(np.linalg.eigvals(W / W.sum(axis=1, keepdims=True)).real)[::-1]
    np.testing.assert_allclose(1 - lazy.spectrum_.penalties, values[1:], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_no_weight_joins_are_no_repeats(seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.standard_normal((50, 3)) + center for center in ([0, 0, 0], [100, 0, 0], [0, 100, 0])])
    with pytest.warns(GramfoldWarning) as told:
        model = DiffusionMap().fit(X)
    assert not any(issubclass(one.category, RepeatedDirectionWarning) for one in told)
    np.testing.assert_array_equal(model.spectrum_.novelty, [1, 1])
