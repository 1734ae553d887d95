import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.optimize import approx_fprime
from scipy.stats import ortho_group
from sklearn.decomposition import FastICA

from gramfold import ProjectionPursuit
from gramfold.errors import ExtrapolationWarning, InputError, NotConvergedWarning, RankWarning
from gramfold.methods.projection_pursuit.direction_search import starts
from gramfold.methods.projection_pursuit.projection_index import make_index


def hidden_plane(shape, n, seed, d=50):
    """Gaussian rows in d dimensions but for one plane, in which they have another shape; and a basis of that plane."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    plane = {
        "ring": np.column_stack([np.cos(angle), np.sin(angle)]) + 0.07 * rng.standard_normal((n, 2)),
        "clusters": np.array([[2.0, 0], [-1, 1.732], [-1, -1.732]])[rng.integers(0, 3, n)]
        + 0.4 * rng.standard_normal((n, 2)),
        "square": rng.uniform(-1, 1, (n, 2)),
        "tails": rng.laplace(size=(n, 2)),
    }[shape]
    X = np.hstack([plane / plane.std(axis=0), rng.standard_normal((n, d - 2))])
    basis = ortho_group.rvs(d, random_state=seed)
    stretch = np.linspace(1, 10, d)  # the plane varies least
    return X * stretch @ basis.T + 3.0, (basis / stretch)[:, :2]


def angle_to(model, X, plane):
    """Degrees between the map and the rows' places in the hidden plane, as spaces of functions of the rows."""
    truth = X @ plane
    return float(np.degrees(subspace_angles(model.embedding_, truth - truth.mean(axis=0))[0]))


# --- the indices: a slow plain version, and slopes by differences


def plain_kurtosis(y):
    return abs(sum(v**4 for v in y) / len(y) - 3)


def plain_negentropy(y):
    odd = sum(v * np.exp(-v * v / 2) for v in y) / len(y)
    even = sum(np.exp(-v * v / 2) for v in y) / len(y) - 2**-0.5
    return 36 / (8 * 3**0.5 - 9) * odd**2 + 24 / (16 * 3**0.5 - 27) * even**2


def plain_friedman_tukey(y, radius=0.4):
    cut = int(0.05 * len(y))
    near = sum(max(radius - abs(a - b), 0) for a in y for b in y) / (len(y) * radius) ** 2
    return np.std(sorted(y)[cut : len(y) - cut]) * near


PLAIN = {"kurtosis": plain_kurtosis, "negentropy": plain_negentropy, "friedman-tukey": plain_friedman_tukey}


@pytest.mark.parametrize("name", PLAIN)
def test_index_matches_its_formula(name):
    rows = np.random.default_rng(0).exponential(size=(90, 4))
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    index = make_index(name, 0.4)
    for direction in ortho_group.rvs(4, random_state=0):
        value, slope = index(rows, direction)
        assert value == pytest.approx(PLAIN[name](rows @ direction), rel=1e-10)
        by_differences = approx_fprime(direction, lambda w: PLAIN[name](rows @ w), 1e-7)
        np.testing.assert_allclose(slope, by_differences, rtol=1e-6, atol=2e-6)
        given = make_index(PLAIN[name], 0.4)(rows, direction)
        np.testing.assert_allclose(given.slope, by_differences, rtol=1e-6, atol=2e-6)


def test_negentropy_of_known_shapes():
    """0 for the Gaussian; for others near what is known: ½ log(2πe) − H."""
    n = 200_000
    from scipy.stats import laplace, norm, uniform

    grid = (np.arange(n) + 0.5) / n
    values = {}
    for name, shape in (("gauss", norm), ("laplace", laplace), ("uniform", uniform)):
        y = shape.ppf(grid)
        y = (y - y.mean()) / y.std()
        values[name] = make_index("negentropy", 1.0)(y[:, None], np.ones(1)).value
    assert values["gauss"] < 1e-8
    assert values["laplace"] == pytest.approx(0.5 * np.log(np.pi / np.e), rel=0.35)  # 0.072
    assert values["uniform"] == pytest.approx(0.5 * np.log(np.pi * np.e / 6), rel=0.75)  # 0.176


# --- what it finds


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
@pytest.mark.parametrize("shape", ["ring", "clusters", "square"])
def test_finds_the_plane_hidden_in_fifty_dimensions(shape, seed):
    X, plane = hidden_plane(shape, 4000, seed)
    assert angle_to(ProjectionPursuit(2, n_starts=50).fit(X), X, plane) < 9


@pytest.mark.parametrize(("index", "shape", "n"), [("kurtosis", "ring", 4000), ("friedman-tukey", "ring", 1500)])
def test_so_do_the_other_indices(index, shape, n):
    X, plane = hidden_plane(shape, n, 0, d=20)
    assert angle_to(ProjectionPursuit(2, index=index, n_starts=24).fit(X), X, plane) < 6


def test_variance_would_not_find_it():
    from gramfold import PCA

    X, plane = hidden_plane("clusters", 4000, 0)
    assert angle_to(PCA(2).fit(X), X, plane) > 80


def test_a_function_of_ones_own():
    X, plane = hidden_plane("ring", 1500, 0, d=8)
    model = ProjectionPursuit(2, index=lambda y: 1 / np.mean(y**4), n_starts=8).fit(X)  # two bumps have the least
    assert angle_to(model, X, plane) < 4
    np.testing.assert_allclose(model.index_values_, 1 / np.mean(model.embedding_**4, axis=0), rtol=1e-9)


def test_matches_fast_ica_where_it_applies():
    """Without a Gaussian direction, both find the sources that were mixed."""
    rng = np.random.default_rng(0)
    sources = np.column_stack([rng.laplace(size=3000), rng.uniform(-1, 1, 3000), rng.exponential(size=3000)])
    X = sources @ rng.standard_normal((3, 3))
    ours = ProjectionPursuit(3).fit_transform(X)
    theirs = FastICA(3, fun="exp", whiten="unit-variance", random_state=0).fit_transform(X)
    for found in (ours, theirs):
        match = np.abs(np.corrcoef(found.T, sources.T)[:3, 3:])
        assert match.max(axis=0).min() > 0.98


def test_it_is_a_top_of_the_index():
    X, _ = hidden_plane("clusters", 1500, 0, d=6)
    model = ProjectionPursuit(1).fit(X)
    white = ProjectionPursuit(6).fit(X).embedding_  # some white basis of all rows
    index = make_index("negentropy", 1.0)
    here = np.linalg.lstsq(white, model.embedding_[:, 0], rcond=None)[0]
    assert index(white, here).value == pytest.approx(model.index_values_[0], rel=1e-9)
    slope = index(white, here).slope
    assert np.linalg.norm(slope - here * (here @ slope)) < 1e-10
    for seed in range(200):
        other = np.random.default_rng(seed).standard_normal(6)
        assert index(white, other / np.linalg.norm(other)).value < model.index_values_[0]


def test_columns_are_white_and_ordered():
    X, _ = hidden_plane("tails", 1500, 1, d=6)
    model = ProjectionPursuit(4).fit(X)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_ / 1500, np.eye(4), atol=1e-10)
    assert (np.diff(model.index_values_) <= 0).all()
    np.testing.assert_allclose(model.spectrum_.eigenvalues, 1500, rtol=1e-10)
    np.testing.assert_allclose(model.kernel_.dense()[:5], model.embedding_[:5] @ model.embedding_.T, atol=1e-8)


def test_any_linear_change_of_the_rows_gives_the_same_map():
    X, _ = hidden_plane("clusters", 1500, 0, d=6)
    changed = X @ np.random.default_rng(0).standard_normal((6, 6)) + 100
    ours, theirs = ProjectionPursuit().fit_transform(X), ProjectionPursuit().fit_transform(changed)
    np.testing.assert_allclose(theirs, ours, atol=1e-6)


def test_scatter_axes_begin_near_the_plane_and_outliers_do_not_lead_them_off():
    X, _ = hidden_plane("tails", 4000, 0, d=10)
    white = ProjectionPursuit(10, n_starts=2, max_iter=500).fit(X).embedding_
    truth = np.linalg.qr(np.linalg.lstsq(white, X @ hidden_plane("tails", 4000, 0, d=10)[1], rcond=None)[0][:10])[0]
    rng = np.random.RandomState(0)
    assert np.linalg.norm(truth.T @ starts(white, 8, rng)[0]) > 0.95
    spoilt = white.copy()
    spoilt[:5] = 30 * np.eye(10)[:5]  # a few rows far out, elsewhere
    assert np.linalg.norm(truth.T @ starts(spoilt, 8, rng)[0]) > 0.9


# --- limits


def test_flat_rows_are_seen_in_their_own_plane():
    rng = np.random.default_rng(0)
    flat = rng.uniform(-1, 1, (400, 2)) @ rng.standard_normal((2, 5))
    for dtype in (np.float64, np.float32):
        with pytest.warns(RankWarning, match="vary along only 2 directions by at least 1e-05"):
            model = ProjectionPursuit(3).fit(flat.astype(dtype))
        assert (model.embedding_[:, 2] == 0).all()
        np.testing.assert_allclose(model.inverse_transform(model.embedding_), flat, atol=1e-4)


def test_few_rows_and_few_steps_are_told():
    rng = np.random.default_rng(0)
    with pytest.warns(RankWarning, match="30 rows vary along 10 directions"):
        ProjectionPursuit().fit(rng.standard_normal((30, 10)))
    with pytest.warns(NotConvergedWarning, match="after max_iter=1 iterations"):
        ProjectionPursuit(max_iter=1).fit(rng.standard_normal((100, 10)))
    with pytest.raises(InputError, match="all 30 rows are identical"):
        ProjectionPursuit().fit(np.ones((30, 3)))
    with pytest.raises(InputError, match="index returned 100 numbers for a projection of 100 values"):
        ProjectionPursuit(index=lambda y: y).fit(rng.standard_normal((100, 3)))


def test_rows_amid_the_others_that_fly_off_are_told():
    """Of three rows in groups whitening makes a map on which nearly any other row is far away."""
    X = np.array([[-1080.0, -150.0, -2042.0], [-140.0, 82.0, 1387.0], [-1079.0, -149.0, -2045.0]])
    with pytest.warns(RankWarning):
        model = ProjectionPursuit(1, index="kurtosis").fit(X)
    with pytest.warns(ExtrapolationWarning, match="training rows hardly vary along some coordinate"):
        model.transform([[-900.0, 1000.0, -600.0]])
