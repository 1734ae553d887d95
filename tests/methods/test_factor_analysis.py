import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal
from sklearn import decomposition
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition._factor_analysis import _ortho_rotation

from gramfold import FactorAnalysis, ProbabilisticPCA
from gramfold.errors import InputError, NotConvergedWarning, RankWarning
from gramfold.methods.factor_analysis.correlations import Correlations
from gramfold.methods.factor_analysis.rotation import simple_structure
from tests.methods.maps import difference

DIGITS, WINE, IRIS, CANCER = (load().data for load in (load_digits, load_wine, load_iris, load_breast_cancer))
VARYING = DIGITS[:, DIGITS.std(axis=0) > 0]


def planted(n: int, d: int, p: int, seed: int = 0) -> np.ndarray:
    """Rows of p factors and noise that differs from column to column."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.5, 2.0, d) * rng.standard_normal((n, d))
    return rng.standard_normal((n, p)) @ rng.standard_normal((p, d)) + 5 + noise


def standardized(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def with_covariance(n: int, C: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rows of mean 0 that have this covariance exactly."""
    white = np.random.default_rng(seed).standard_normal((n, len(C)))
    white -= white.mean(axis=0)
    white = np.linalg.solve(np.linalg.cholesky(np.cov(white.T, bias=True)), white.T).T
    return white @ np.linalg.cholesky(C).T


def covariance(model: FactorAnalysis) -> np.ndarray:
    return model.loadings_ @ model.loadings_.T + np.diag(model.noise_variance_)


def step_of_expectation_and_maximisation(
    X: np.ndarray, W: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Slow and plain: every expectation by the joint Gaussian of a row, every sum by a loop (Rubin, Thayer 1982)."""
    d, p = W.shape
    mean, gain = X.mean(axis=0), W.T @ np.linalg.inv(W @ W.T + np.diag(noise))
    moment, cross, squares = np.zeros((p, p)), np.zeros((d, p)), np.zeros(d)
    for row in X:
        z = gain @ (row - mean)
        moment += np.eye(p) - gain @ W + np.outer(z, z)
        cross += np.outer(row - mean, z)
        squares += (row - mean) ** 2
    new = cross @ np.linalg.inv(moment)
    return new, (squares - (new * cross).sum(axis=1)) / len(X)


# --- the likelihood


@pytest.mark.parametrize(
    ("X", "p"),
    [(WINE, 1), (WINE, 5), (VARYING, 8), (standardized(CANCER), 2)],
    ids=["wine", "heywood", "digits", "cancer"],
)
def test_likelihood_is_the_gaussian_density(X, p):
    model = FactorAnalysis(p).fit(X)
    density = multivariate_normal(model.mean_, covariance(model)).logpdf(X)
    np.testing.assert_allclose(model.score_samples(X), density, rtol=1e-7, atol=1e-6)
    assert model.score(X) == pytest.approx(density.mean(), rel=1e-8)
    assert model.log_likelihoods_[-1] == pytest.approx(density.sum(), rel=1e-8)
    assert (np.diff(model.log_likelihoods_) >= -1e-9 * np.abs(model.log_likelihoods_[-1])).all()
    assert model.n_iter_ == len(model.log_likelihoods_)


@pytest.mark.parametrize(("X", "p"), [(WINE, 2), (VARYING, 5), (CANCER, 2), (planted(200, 12, 3), 3)])
def test_the_gradient_of_the_likelihood_vanishes(X, p):
    model = FactorAnalysis(p).fit(X)
    S, inverse = np.cov(X.T, bias=True), np.linalg.inv(covariance(model))
    slopes = inverse - inverse @ S @ inverse  # of −2/n log-likelihood by the covariance
    by_loadings = X.std(axis=0)[:, None] * (slopes @ model.loadings_)
    by_noise = model.noise_variance_ * np.diag(slopes)  # by its logarithm
    assert np.abs(by_loadings).max() < 1e-8
    assert np.abs(by_noise[model.communalities_ < 1 - 2e-6]).max() < 1e-8


def test_without_a_gradient_at_the_floor():
    model = FactorAnalysis(2).fit(IRIS)  # a Heywood case: two columns have no noise of their own
    lowest = model.communalities_ > 1 - 2e-6
    assert lowest.sum() == 2
    inverse = np.linalg.inv(covariance(model))
    slopes = model.noise_variance_ * np.diag(inverse - inverse @ np.cov(IRIS.T, bias=True) @ inverse)
    assert np.abs(slopes[~lowest]).max() < 1e-8
    assert (slopes[lowest] > 0).all()  # less noise would be likelier yet
    np.testing.assert_allclose(model.noise_variance_[lowest], 1e-6 * IRIS.var(axis=0)[lowest])
    assert np.abs(model.embedding_).max() < 4


def test_expectation_and_maximisation_ends_there():
    X = planted(150, 6, 2)
    model = FactorAnalysis(2).fit(X)
    W, noise = step_of_expectation_and_maximisation(X, model.loadings_, model.noise_variance_)
    np.testing.assert_allclose(W, model.loadings_, atol=1e-9)
    np.testing.assert_allclose(noise, model.noise_variance_, rtol=1e-9)


def test_expectation_and_maximisation_leads_there():
    X = planted(60, 6, 1, seed=3)
    model = FactorAnalysis(1).fit(X)
    W, noise = np.random.default_rng(0).standard_normal((6, 1)), X.var(axis=0)
    for _ in range(400):
        W, noise = step_of_expectation_and_maximisation(X, W, noise)
    np.testing.assert_allclose(W @ W.T, model.loadings_ @ model.loadings_.T, atol=1e-4)
    np.testing.assert_allclose(noise, model.noise_variance_, rtol=1e-4)


def test_no_parameters_near_by_are_likelier():
    X = planted(300, 7, 2)
    model = FactorAnalysis(2).fit(X)
    best = multivariate_normal(model.mean_, covariance(model)).logpdf(X).sum()
    rng = np.random.default_rng(1)
    for _ in range(30):
        W = model.loadings_ + 0.03 * rng.standard_normal(model.loadings_.shape)
        noise = model.noise_variance_ * np.exp(0.03 * rng.standard_normal(7))
        mean = model.mean_ + 0.01 * rng.standard_normal(7)
        assert multivariate_normal(mean, W @ W.T + np.diag(noise)).logpdf(X).sum() < best


def test_planted_factors_are_found():
    rng = np.random.default_rng(0)
    W, noise = rng.standard_normal((12, 2)), rng.uniform(0.2, 3.0, 12)
    z = rng.standard_normal((20_000, 2))
    model = FactorAnalysis(2).fit(z @ W.T + np.sqrt(noise) * rng.standard_normal((20_000, 12)))
    np.testing.assert_allclose(model.loadings_ @ model.loadings_.T, W @ W.T, atol=0.1)
    np.testing.assert_allclose(model.noise_variance_, noise, rtol=0.06)
    explained = np.linalg.lstsq(model.embedding_, z, rcond=None)[0]
    residual = (z - model.embedding_ @ explained).var(axis=0)
    assert (residual < 1.2 * np.diag(model.posterior_covariance_).max()).all()


# --- its kin


def test_the_same_noise_in_all_columns_is_probabilistic_pca():
    W = np.random.default_rng(1).standard_normal((8, 2))
    X = with_covariance(200, W @ W.T + 0.5 * np.eye(8))
    ours, theirs = FactorAnalysis(2).fit(X), ProbabilisticPCA(2).fit(X)
    np.testing.assert_allclose(ours.noise_variance_, 0.5, rtol=1e-6)
    np.testing.assert_allclose(ours.loadings_, theirs.weights_, atol=1e-6)
    np.testing.assert_allclose(ours.embedding_, theirs.embedding_, atol=1e-6)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-6)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)


def test_other_noise_in_each_column_is_not():
    X = planted(500, 10, 2) * np.logspace(0, 2, 10)
    assert FactorAnalysis(2).fit(X).score(X) > ProbabilisticPCA(2).fit(X).score(X) + 5


@pytest.mark.parametrize(("X", "p"), [(WINE, 2), (VARYING, 6), (CANCER, 2), (planted(200, 8, 2), 2)])
def test_matches_scikit_learn(X, p):
    Z = standardized(X)  # which it needs: its start and its floor are in the unit of the columns
    theirs = decomposition.FactorAnalysis(p, svd_method="lapack", tol=1e-8, max_iter=5000).fit(Z)
    ours = FactorAnalysis(p).fit(Z)
    assert ours.score(Z) == pytest.approx(theirs.score(Z), abs=1e-6)
    np.testing.assert_allclose(covariance(ours), theirs.get_covariance(), atol=1e-4)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, atol=1e-4)
    overlap = np.linalg.svd(np.linalg.qr(ours.loadings_)[0].T @ np.linalg.qr(theirs.components_.T)[0])[1]
    np.testing.assert_allclose(overlap, 1.0, atol=1e-6)  # the same subspace
    assert difference(ours.embedding_, theirs.transform(Z)) < 1e-3


@pytest.mark.parametrize(
    ("X", "p", "gain"), [(IRIS, 2, 1e-3), (CANCER, 3, 0.5), (WINE, 5, 0.01), (load_diabetes().data, 2, 1e-4)]
)
def test_is_likelier_than_where_expectation_and_maximisation_stops(X, p, gain):
    Z = standardized(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge
        theirs = decomposition.FactorAnalysis(p, svd_method="lapack", tol=1e-6, max_iter=2000).fit(Z)
    assert FactorAnalysis(p).fit(Z).score(Z) > theirs.score(Z) + gain


# --- units


def test_the_unit_of_a_column_does_not_matter():
    X = planted(200, 8, 2)
    units = np.array([1e-8, 1e8, 1.0, 3.0, 1e-4, 1e3, 7.0, 1e-8])
    plain, scaled = FactorAnalysis(2, rotation="varimax").fit(X), FactorAnalysis(2, rotation="varimax").fit(X * units)
    np.testing.assert_allclose(scaled.embedding_, plain.embedding_, atol=1e-8)
    np.testing.assert_allclose(scaled.loadings_ / units[:, None], plain.loadings_, atol=1e-8)
    np.testing.assert_allclose(scaled.noise_variance_, units**2 * plain.noise_variance_, rtol=1e-8)
    np.testing.assert_allclose(scaled.communalities_, plain.communalities_, atol=1e-8)
    shift = np.log(units).sum()
    np.testing.assert_allclose(scaled.score_samples(X * units), plain.score_samples(X) - shift, rtol=1e-8)
    np.testing.assert_allclose(scaled.transform(X[:9] * units), plain.transform(X[:9]), atol=1e-8)


@pytest.mark.parametrize("power", [-600, -3, 5, 600])
@pytest.mark.parametrize("rotation", [None, "varimax"])
def test_the_unit_of_all_rows_changes_no_bit(power, rotation):
    plain, scaled = (FactorAnalysis(2, rotation=rotation).fit(np.ldexp(WINE, by)) for by in (0, power))
    X = np.ldexp(WINE, power)
    np.testing.assert_array_equal(scaled.embedding_, plain.embedding_)
    np.testing.assert_array_equal(scaled.transform(X[:9] * 1.03), plain.transform(WINE[:9] * 1.03))
    np.testing.assert_array_equal(scaled.loadings_, np.ldexp(plain.loadings_, power))
    np.testing.assert_array_equal(scaled.sample(3), np.ldexp(plain.sample(3), power))
    np.testing.assert_array_equal(scaled.communalities_, plain.communalities_)
    shift = power * WINE.shape[1] * np.log(2.0)
    np.testing.assert_allclose(scaled.score_samples(X), plain.score_samples(WINE) - shift, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(scaled.log_likelihoods_, plain.log_likelihoods_ - len(X) * shift, rtol=1e-12)


def test_rows_far_from_the_origin():
    X = planted(200, 8, 2)
    near, far = FactorAnalysis(2).fit(X), FactorAnalysis(2).fit(X + 1e6)
    np.testing.assert_allclose(far.embedding_, near.embedding_, atol=1e-7)


def test_float32():
    narrow, wide = (FactorAnalysis(3).fit(WINE.astype(dtype)) for dtype in (np.float32, np.float64))
    assert narrow.embedding_.dtype == narrow.sample(2).dtype == np.float32
    assert difference(narrow.embedding_, wide.embedding_) < 1e-4


# --- the factors of a row


@pytest.mark.parametrize("rotation", [None, "varimax"])
def test_coordinates_are_the_posterior_mean_of_the_factors(rotation):
    X = planted(200, 7, 2)
    model = FactorAnalysis(2, rotation=rotation).fit(X)
    gain = model.loadings_.T @ np.linalg.inv(covariance(model))  # Cov(z, x) Cov(x)⁻¹
    np.testing.assert_allclose(model.components_, gain, atol=1e-8)
    np.testing.assert_allclose(model.embedding_, (X - model.mean_) @ gain.T, atol=1e-8)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
    np.testing.assert_allclose(model.posterior_covariance_, np.eye(2) - gain @ model.loadings_, atol=1e-10)
    by_formula = np.linalg.inv(np.eye(2) + model.loadings_.T @ (model.loadings_ / model.noise_variance_[:, None]))
    np.testing.assert_allclose(model.posterior_covariance_, by_formula, atol=1e-8)


def test_kernel_is_the_gram_matrix_of_the_coordinates():
    X = planted(150, 7, 2)
    model = FactorAnalysis(2).fit(X)
    turned = FactorAnalysis(2, rotation="varimax").fit(X)
    np.testing.assert_allclose(model.kernel_.dense(), model.embedding_ @ model.embedding_.T, atol=1e-10)
    np.testing.assert_allclose(turned.kernel_.dense(), turned.embedding_ @ turned.embedding_.T, atol=1e-10)
    psi = np.sqrt(model.noise_variance_)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True) / psi / psi[:, None])[::-1][:2]
    for one in (model, turned):
        np.testing.assert_allclose(one.spectrum_.eigenvalues, 150 * (values - 1) / values, rtol=1e-8)
        assert one.spectrum_.residuals.max() < 1e-10
    across = model.embedding_.T @ model.embedding_
    np.testing.assert_allclose(across, np.diag(model.spectrum_.eigenvalues), atol=1e-8)  # uncorrelated, largest first


@pytest.mark.parametrize("rotation", [None, "quartimax"])
def test_inverse_is_the_row_that_is_expected_at_a_place(rotation):
    X = planted(200, 7, 2)
    model = FactorAnalysis(2, rotation=rotation).fit(X)
    Y = model.embedding_[:9]
    expected = model.mean_ + Y @ np.linalg.inv(np.eye(2) - model.posterior_covariance_) @ model.loadings_.T
    np.testing.assert_allclose(model.inverse_transform(Y), expected, atol=1e-6)
    np.testing.assert_allclose(model.transform(model.inverse_transform(Y)), Y, atol=1e-8)


def test_samples_have_the_model_s_mean_and_covariance():
    model = FactorAnalysis(2, rotation="varimax").fit(planted(500, 5, 2))
    drawn = model.sample(200_000, random_state=1)
    np.testing.assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), covariance(model), atol=0.1)
    np.testing.assert_array_equal(model.sample(3, random_state=5), model.sample(3, random_state=5))


def test_rows_beyond_the_range_of_squares_are_infinitely_unlikely():
    model = FactorAnalysis(2).fit(WINE)
    assert np.isneginf(model.score_samples(WINE[:2] * 1e300)).all()


# --- rotation


def test_rotation_changes_no_distance_and_no_likelihood():
    plain = FactorAnalysis(4).fit(WINE)
    for rotation in ("varimax", "quartimax"):
        turned = FactorAnalysis(4, rotation=rotation).fit(WINE)
        assert difference(turned.embedding_, plain.embedding_) < 1e-12
        np.testing.assert_allclose(turned.score_samples(WINE), plain.score_samples(WINE), rtol=1e-12)
        np.testing.assert_allclose(covariance(turned), covariance(plain), rtol=1e-8, atol=1e-10)
        sizes = np.square(turned.loadings_ / WINE.std(axis=0)[:, None]).sum(axis=0)
        assert (np.diff(sizes) < 0).all()  # the factor that explains most first
        ends = turned.embedding_[np.abs(turned.embedding_).argmax(axis=0), np.arange(4)]
        assert (ends > 0).all()  # signs are canonical


@pytest.mark.parametrize("rotation", ["varimax", "quartimax"])
def test_rotation_matches_scikit_learn(rotation):
    loadings = FactorAnalysis(3).fit(standardized(WINE)).loadings_
    theirs = _ortho_rotation(loadings, method=rotation, tol=1e-14, max_iter=5000).T
    ours = loadings @ simple_structure(loadings, rotation)
    match = np.abs(ours.T @ theirs) / np.linalg.norm(ours, axis=0)[:, None] / np.linalg.norm(theirs, axis=0)
    np.testing.assert_allclose(match.max(axis=1), 1.0, atol=1e-8)


def test_rotation_finds_simple_structure():
    W = np.zeros((9, 3))
    W[:3, 0], W[3:6, 1], W[6:, 2] = 2.0, 1.5, 1.0  # each column has one factor
    X = with_covariance(400, W @ W.T + np.eye(9)) * np.logspace(-3, 3, 9)
    plain, turned = (FactorAnalysis(3, rotation=rotation).fit(X) for rotation in (None, "varimax"))
    own = np.abs(turned.loadings_ / np.logspace(-3, 3, 9)[:, None])
    np.testing.assert_allclose(own, W, atol=1e-4)
    assert difference(turned.embedding_, plain.embedding_) < 1e-10


def test_rotation_of_one_factor_or_none():
    X = planted(100, 5, 1)
    one, turned = FactorAnalysis(1).fit(X), FactorAnalysis(1, rotation="varimax").fit(X)
    np.testing.assert_array_equal(turned.embedding_, one.embedding_)
    with pytest.warns(RankWarning, match="n_components=2, but the likelihood supports only 1 factor"):
        FactorAnalysis(2, rotation="varimax").fit(X[:, :1])
    with pytest.warns(RankWarning, match="the likelihood supports only 0 factors"):
        none = FactorAnalysis(2, rotation="varimax").fit(np.ones((20, 4)))
    assert (none.embedding_ == 0).all()


# --- columns without noise, or without anything else


def test_constant_columns_are_left_out():
    X = DIGITS  # of which three are zero in all rows
    whole, part = FactorAnalysis(3).fit(X), FactorAnalysis(3).fit(VARYING)
    constant = X.std(axis=0) == 0
    assert constant.sum() == 3
    np.testing.assert_allclose(whole.embedding_, part.embedding_, atol=1e-9)
    np.testing.assert_allclose(whole.score_samples(X), part.score_samples(VARYING), rtol=1e-9)
    for name in ("loadings_", "noise_variance_", "communalities_"):
        assert (getattr(whole, name)[constant] == 0).all()
        np.testing.assert_allclose(getattr(whole, name)[~constant], getattr(part, name), atol=1e-9)
    shifted = X + 0.1  # whose mean is rounded
    np.testing.assert_array_equal(FactorAnalysis(3).fit(shifted).noise_variance_ == 0, constant)
    assert (whole.sample(5)[:, constant] == 0).all()
    wide = np.hstack([planted(20, 30, 2), np.full((20, 5), 0.1)])
    assert (FactorAnalysis(2).fit(wide).noise_variance_[30:] == 0).all()


def test_rows_that_are_all_the_same_have_no_density():
    with pytest.warns(RankWarning, match="the likelihood supports only 0 factors"):
        model = FactorAnalysis().fit(np.ones((20, 4)))
    assert (model.embedding_ == 0).all()
    np.testing.assert_array_equal(model.posterior_covariance_, np.eye(2))  # nothing is known of the factors
    with pytest.raises(InputError, match="no density"):
        model.score(np.ones((20, 4)))


def test_columns_that_depend_on_one_another_are_named():
    pandas = pytest.importorskip("pandas")
    X = planted(100, 8, 2)
    frame = pandas.DataFrame(np.hstack([X, 3 * X[:, :1]]), columns=list("abcdefghi"))
    with pytest.warns(RankWarning, match=r"^columns 'a', 'i' of X are linearly dependent, .*fewer factors"):
        model = FactorAnalysis(1).fit(frame)
    np.testing.assert_allclose(model.communalities_[[0, 8]], 1 - 1e-6, rtol=1e-9)
    assert np.isfinite(model.transform(frame)).all()
    wide = np.random.default_rng(0).standard_normal((5, 40))
    with pytest.warns(RankWarning, match=r"columns 0, 1, .*, 11 and 28 more of X are linearly dependent"):
        FactorAnalysis(4).fit(wide)


def test_an_end_with_a_bound_is_preferred():
    # two pixels at the margin are lit in one and the same row: alone they make the likelihood infinite
    rows = DIGITS[np.random.default_rng(0).permutation(len(DIGITS))[125:500]]
    assert np.corrcoef(rows[:, [31, 48]].T)[0, 1] > 1 - 1e-9
    model = FactorAnalysis(2).fit(rows)
    assert model.communalities_[[31, 48]].max() < 0.5
    inner = np.ptp(np.quantile(model.embedding_, [0.01, 0.99], axis=0), axis=0)
    assert (inner > 0.5 * np.ptp(model.embedding_, axis=0)).all()  # no row takes an axis


def test_a_larger_floor_holds():
    model = FactorAnalysis(2, least_noise=0.05).fit(IRIS)
    shares = model.noise_variance_ / IRIS.var(axis=0)
    assert shares.min() == pytest.approx(0.05)
    assert model.communalities_.max() == pytest.approx(0.95)


def test_rows_in_a_plane_without_noise():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 6))
    with pytest.warns(RankWarning, match="linearly dependent"):
        model = FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), X, atol=1e-9)
    np.testing.assert_allclose(np.cov(model.embedding_.T, bias=True), np.eye(2), atol=1e-5)


# --- columns and rows


def test_more_columns_than_rows():
    X = planted(40, 90, 3)
    model = FactorAnalysis(3).fit(X)
    np.testing.assert_allclose(
        model.score_samples(X), multivariate_normal(model.mean_, covariance(model)).logpdf(X), rtol=1e-8
    )
    S, inverse = np.cov(X.T, bias=True), np.linalg.inv(covariance(model))
    assert np.abs(model.noise_variance_ * np.diag(inverse - inverse @ S @ inverse)).max() < 1e-8


def test_correlations_are_the_same_from_rows_and_matrix():
    Z = standardized(planted(30, 45, 3))
    of_matrix, of_rows = Correlations(Z.T @ Z / 30), Correlations(None, Z)
    shares = np.random.default_rng(0).uniform(0.1, 0.9, 45)
    for one, other in zip(of_matrix.leading(shares, 4), of_rows.leading(shares, 4), strict=True):
        np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-10)
    np.testing.assert_allclose(of_matrix.unexplained(), of_rows.unexplained(), rtol=1e-8)
    Z[:, 7] = -Z[:, 3]
    some = np.array([1, 3, 5, 7])
    for one in (Correlations(Z.T @ Z / 30), Correlations(None, Z)):
        assert one.dependent(some).tolist() == [3, 7]
        assert one.dependent(some[:3]).size == 0


def test_more_starts_are_never_less_likely():
    X = np.random.default_rng(5).standard_normal((60, 20))  # no structure: many maxima
    scores = [FactorAnalysis(3, n_init=count).fit(X).score(X) for count in (1, 2, 8)]
    assert scores[0] - 1e-6 <= scores[1] <= scores[2] + 1e-6
    assert scores[2] > scores[0] + 0.01
    first, again = (FactorAnalysis(3, n_init=8, random_state=1).fit(X).embedding_ for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_iterations_that_end_early_are_told():
    with pytest.warns(NotConvergedWarning, match=r"did not converge in max_iter=2 iterations \(largest gradient"):
        model = FactorAnalysis(2, max_iter=2).fit(WINE)
    assert model.n_iter_ == 2
    assert model.score(WINE) < FactorAnalysis(2).fit(WINE).score(WINE)


def test_missing_values_and_sparse_rows_are_refused():
    X = planted(30, 5, 2)
    with pytest.raises(InputError, match="FactorAnalysis reads dense rows"):
        FactorAnalysis().fit(csr_array(X))
    X[3, 2] = np.nan
    with pytest.raises(InputError, match="X contains NaN in row 3, column 2"):
        FactorAnalysis().fit(X)


def test_one_outlier_leaves_numbers():
    X = planted(100, 8, 2)
    X[3, 4] = 1e6  # in one cell: the other columns keep their factors
    model = FactorAnalysis(2).fit(X)
    others = np.delete(np.arange(100), 3)
    without = FactorAnalysis(2).fit(np.delete(X, 4, axis=1))
    assert difference(model.embedding_[others], without.embedding_[others]) < 0.02
    assert model.communalities_[4] < 0.2
