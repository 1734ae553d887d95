import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn import decomposition
from sklearn.datasets import load_digits

from gramfold import PCA, ProbabilisticPCA
from gramfold.errors import DegenerateMapWarning, InputError, NotConvergedWarning, RankWarning
from gramfold.kernels.evidence import log_evidence
from tests.methods.maps import difference

DIGITS = load_digits().data


def planted(n: int, d: int, p: int, noise: float, seed: int = 0) -> np.ndarray:
    """Rows about a plane of p dimensions."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((d, p))
    return rng.standard_normal((n, p)) @ W.T + 5 + noise * rng.standard_normal((n, d))


def with_gaps(X: np.ndarray, share: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    gaps = np.random.default_rng(seed).random(X.shape) < share
    return np.where(gaps, np.nan, X), gaps


def covariance(model: ProbabilisticPCA) -> np.ndarray:
    return model.weights_ @ model.weights_.T + model.noise_variance_ * np.eye(len(model.mean_))


def gaussian_given(row: np.ndarray, mean: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slow and plain: the mean of all values given the seen ones, which those are, and C[:, seen] C[seen, seen]⁻¹."""
    seen = ~np.isnan(row)
    gain = C[:, seen] @ np.linalg.inv(C[np.ix_(seen, seen)])
    return mean + gain @ (row[seen] - mean[seen]), seen, gain


# --- the closed form


@pytest.mark.parametrize("p", [1, 5, 20])
def test_likelihood_is_the_gaussian_density(p):
    model = ProbabilisticPCA(p).fit(DIGITS[:1000])
    density = multivariate_normal(model.mean_, covariance(model)).logpdf(DIGITS)
    np.testing.assert_allclose(model.score_samples(DIGITS), density, rtol=1e-8)
    assert model.score(DIGITS) == pytest.approx(density.mean(), rel=1e-8)


def test_covariance_has_the_eigenvalues_that_the_root_in_eq_1_8_gives():
    X = planted(400, 9, 3, 0.3)
    model = ProbabilisticPCA(3).fit(X)
    sample = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    ours = np.linalg.eigvalsh(covariance(model))[::-1]
    np.testing.assert_allclose(ours[:3], sample[:3])  # without the root they would be (λ − σ²)² + σ²
    np.testing.assert_allclose(ours[3:], sample[3:].mean())


def test_no_parameters_near_by_are_likelier():
    X = planted(300, 6, 2, 0.5)
    model = ProbabilisticPCA(2).fit(X)
    best = multivariate_normal(model.mean_, covariance(model)).logpdf(X).sum()
    rng = np.random.default_rng(1)
    for _ in range(30):
        W = model.weights_ + 0.03 * rng.standard_normal(model.weights_.shape)
        noise = model.noise_variance_ * np.exp(0.03 * rng.standard_normal())
        mean = model.mean_ + 0.01 * rng.standard_normal(6)
        assert multivariate_normal(mean, W @ W.T + noise * np.eye(6)).logpdf(X).sum() < best


def test_matches_scikit_learn():
    # whose covariances divide by n − 1
    X = DIGITS
    ours, theirs = ProbabilisticPCA(10).fit(X), decomposition.PCA(10).fit(X)
    n = len(X)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_ * (n - 1) / n)
    np.testing.assert_allclose(covariance(ours), theirs.get_covariance() * (n - 1) / n, atol=1e-10)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-4)
    assert ours.score(X) > theirs.score(X)  # n is what maximises the likelihood


def test_all_dimensions_are_the_plain_gaussian():
    X = planted(200, 4, 4, 0.1)
    model = ProbabilisticPCA(4).fit(X)
    plain = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True))
    np.testing.assert_allclose(model.score_samples(X), plain.logpdf(X), rtol=1e-8)


def test_without_noise_the_map_is_that_of_pca_but_for_its_scale():
    X = planted(300, 12, 3, 1e-5)
    ours, theirs = ProbabilisticPCA(3).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(ours.embedding_, theirs.embedding_ / theirs.embedding_.std(axis=0), atol=1e-6)
    np.testing.assert_allclose(ours.inverse_transform(ours.embedding_), X, atol=1e-3)


def test_more_columns_than_rows():
    X = planted(40, 300, 3, 0.2)
    model = ProbabilisticPCA(3).fit(X)
    density = multivariate_normal(model.mean_, covariance(model)).logpdf(X)
    np.testing.assert_allclose(model.score_samples(X), density, rtol=1e-8)
    assert model.spectrum_.solver.startswith("Gram side")


# --- the latent point


def test_posterior_is_that_of_the_joint_gaussian():
    X = planted(200, 7, 2, 0.5)
    model = ProbabilisticPCA(2).fit(X)
    posterior = model.posterior(X[:9])
    gain = model.weights_.T @ np.linalg.inv(covariance(model))  # Cov(z, x) Cov(x)⁻¹
    np.testing.assert_allclose(posterior.mean, (X[:9] - model.mean_) @ gain.T, atol=1e-10)
    np.testing.assert_allclose(posterior.covariance[4], np.eye(2) - gain @ model.weights_, atol=1e-10)
    np.testing.assert_allclose(posterior.mean, model.transform(X[:9]))


def test_posterior_of_rows_with_gaps():
    X = planted(200, 7, 2, 0.5)
    model = ProbabilisticPCA(2).fit(X)
    gappy, _ = with_gaps(X[:20], 0.4)
    gappy[3] = np.nan  # nothing is known of it
    posterior = model.posterior(gappy)
    for i, row in enumerate(gappy):
        seen = ~np.isnan(row)
        W = model.weights_[seen]
        gain = W.T @ np.linalg.inv(W @ W.T + model.noise_variance_ * np.eye(len(W)))
        np.testing.assert_allclose(posterior.mean[i], gain @ (row - model.mean_)[seen], atol=1e-10)
        np.testing.assert_allclose(posterior.covariance[i], np.eye(2) - gain @ W, atol=1e-10)
    with pytest.warns(DegenerateMapWarning, match="row 3 of X contains only missing values"):
        places = model.transform(gappy)
    np.testing.assert_allclose(places, posterior.mean, atol=1e-10)


def test_rows_of_which_nothing_is_known_are_named():
    X = planted(60, 5, 2, 0.5)
    X[[7, 20]] = np.nan
    with pytest.warns(
        DegenerateMapWarning, match=r"^rows 7, 20 of X contain only missing values, .*: remove these rows\.$"
    ):
        model = ProbabilisticPCA(2).fit(X)
    np.testing.assert_allclose(model.embedding_[[7, 20]], 0.0, atol=1e-10)
    X[20:] = np.nan
    with pytest.warns(DegenerateMapWarning, match=r"rows 7, 20, 21, .*, 30 and 29 more of X"):
        model.transform(X)


def test_samples_have_the_model_s_mean_and_covariance():
    model = ProbabilisticPCA(2).fit(planted(500, 5, 2, 0.5))
    drawn = model.sample(200_000, random_state=1)
    np.testing.assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.02)
    np.testing.assert_allclose(np.cov(drawn.T), covariance(model), atol=0.1)
    np.testing.assert_array_equal(model.sample(3, random_state=5), model.sample(3, random_state=5))
    again = ProbabilisticPCA(2).fit(drawn)  # and a fit finds the model again
    np.testing.assert_allclose(covariance(again), covariance(model), atol=0.1)


# --- missing values


def test_gaps_are_filled_with_their_mean_given_the_others():
    X = planted(200, 8, 3, 0.5)
    model = ProbabilisticPCA(3).fit(X)
    gappy, _ = with_gaps(X[:30], 0.3)
    gappy[7] = np.nan
    filled, scores = model.impute(gappy), model.score_samples(gappy)
    np.testing.assert_array_equal(filled[~np.isnan(gappy)], gappy[~np.isnan(gappy)])
    C = covariance(model)
    for row, whole, score in zip(gappy, filled, scores, strict=True):
        expected, seen, _ = gaussian_given(row, model.mean_, C)
        np.testing.assert_allclose(whole, expected, atol=1e-9)
        if seen.any():
            density = multivariate_normal(model.mean_[seen], C[np.ix_(seen, seen)]).logpdf(row[seen])
            assert score == pytest.approx(density, rel=1e-8)
    np.testing.assert_allclose(filled[7], model.mean_)


def test_a_step_is_that_of_the_plain_algorithm():
    # every expectation by the joint Gaussian of a row, every sum by a loop
    X, _ = with_gaps(planted(40, 5, 2, 0.4), 0.3)
    before, after = ProbabilisticPCA(2, max_iter=1), ProbabilisticPCA(2, max_iter=2, tol=0.0)
    with pytest.warns(NotConvergedWarning, match="log-likelihood did not converge in max_iter=1 iterations"):
        before.fit(X)
    with pytest.warns(NotConvergedWarning, match=r"max_iter=2 iterations \(last increase"):
        after.fit(X)
    W, mean, noise = before.weights_, before.mean_, before.noise_variance_
    A, b, squares, there, moment = np.zeros((5, 3, 3)), np.zeros((5, 3)), 0.0, 0, np.zeros((3, 3))
    for row in X:
        seen = ~np.isnan(row)
        gain = W[seen].T @ np.linalg.inv(W[seen] @ W[seen].T + noise * np.eye(seen.sum()))
        z = np.append(gain @ (row - mean)[seen], 1.0)
        second = np.outer(z, z)
        second[:2, :2] += np.eye(2) - gain @ W[seen]
        moment += second / len(X)
        for j in np.flatnonzero(seen):
            A[j] += second
            b[j] += row[j] * z
            squares += row[j] ** 2
            there += 1
    both = np.stack([np.linalg.solve(A[j], b[j]) for j in range(5)])
    variance = moment[:2, :2] - np.outer(moment[:2, 2], moment[:2, 2])
    new_noise = (squares - (both * b).sum()) / there
    np.testing.assert_allclose(after.mean_, both @ moment[:, 2], rtol=1e-9)
    assert after.noise_variance_ == pytest.approx(new_noise, rel=1e-9)
    np.testing.assert_allclose(
        covariance(after), both[:, :2] @ variance @ both[:, :2].T + new_noise * np.eye(5), rtol=1e-8
    )


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_likelihood_of_the_seen_values_never_falls(share):
    X, _ = with_gaps(planted(300, 10, 3, 0.5), share)
    model = ProbabilisticPCA(3, tol=1e-9).fit(X)
    rises = np.diff(model.log_likelihoods_)
    assert (rises > -1e-12 * np.abs(model.log_likelihoods_[:-1])).all()
    assert model.n_iter_ == len(model.log_likelihoods_) > 3
    assert model.score(X) * len(X) >= model.log_likelihoods_[-1] - 1e-6


def test_nothing_near_by_is_likelier_for_the_seen_values():
    X, _ = with_gaps(planted(150, 5, 2, 0.5), 0.3)
    model = ProbabilisticPCA(2, tol=1e-12, max_iter=5000).fit(X)

    def likelihood(mean, C):
        total = 0.0
        for row in X:
            s = ~np.isnan(row)
            if s.any():
                total += multivariate_normal(mean[s], C[np.ix_(s, s)]).logpdf(row[s])
        return total

    best = likelihood(model.mean_, covariance(model))
    rng = np.random.default_rng(1)
    for _ in range(8):
        W = model.weights_ + 0.05 * rng.standard_normal(model.weights_.shape)
        noise = model.noise_variance_ * np.exp(0.05 * rng.standard_normal())
        assert likelihood(model.mean_ + 0.02 * rng.standard_normal(5), W @ W.T + noise * np.eye(5)) < best


def test_few_gaps_change_little_and_none_change_nothing():
    X = planted(500, 10, 3, 0.3)
    whole = ProbabilisticPCA(3).fit(X)
    gappy, gaps = with_gaps(X, 0.01)
    model = ProbabilisticPCA(3, tol=1e-9).fit(gappy)
    assert difference(model.embedding_[~gaps.any(axis=1)], whole.embedding_[~gaps.any(axis=1)]) < 0.02
    np.testing.assert_allclose(covariance(model), covariance(whole), atol=0.1)
    np.testing.assert_allclose(model.transform(gappy), model.embedding_, atol=1e-10)


def test_digits_are_filled_in_with_half_the_error_of_means():
    gappy, gaps = with_gaps(DIGITS, 0.3)
    filled = ProbabilisticPCA(20, tol=1e-4).fit(gappy).impute(gappy)
    by_means = np.square(DIGITS - np.nanmean(gappy, axis=0))[gaps].mean()
    assert np.square(filled - DIGITS)[gaps].mean() <= 0.5 * by_means


def test_float32_gaps():
    gappy, _ = with_gaps(planted(200, 8, 3, 0.5), 0.2)
    narrow, wide = (ProbabilisticPCA(3).fit(gappy.astype(dtype)) for dtype in (np.float32, np.float64))
    assert narrow.impute(gappy.astype(np.float32)).dtype == narrow.embedding_.dtype == np.float32
    assert difference(narrow.embedding_, wide.embedding_) < 1e-4


# --- the number of dimensions


def plain_evidence(values: np.ndarray, n: int, k: int) -> float:
    """Minka's formula, term by term."""
    from math import lgamma, log, pi

    d = len(values)
    v = values[k:].mean()
    shown = [*values[:k], *[v] * (d - k)]
    total = -k * log(2) + sum(lgamma((d - i + 1) / 2) - (d - i + 1) / 2 * log(pi) for i in range(1, k + 1))
    total -= n / 2 * sum(log(x) for x in values[:k]) + n * (d - k) / 2 * log(v)
    total += (d * k - k * (k + 1) / 2 + k) / 2 * log(2 * pi) - k / 2 * log(n)
    for i in range(k):
        for j in range(i + 1, d):
            total -= 0.5 * log((1 / shown[j] - 1 / shown[i]) * (values[i] - values[j]) * n)
    return total


def test_evidence_is_the_formula():
    values = np.linalg.eigvalsh(np.cov(planted(100, 8, 3, 0.7).T, bias=True))[::-1]
    values *= 0.75 / values[0]  # the function has them in the unit in which the largest is between ½ and 1
    ours = log_evidence(values, 100, 8)
    np.testing.assert_allclose(ours, [plain_evidence(values, 100, k) for k in range(1, 8)])
    model = ProbabilisticPCA("evidence").fit(1e3 * planted(100, 8, 3, 0.7))
    values = np.linalg.eigvalsh(np.cov(1e3 * planted(100, 8, 3, 0.7).T, bias=True))[::-1]
    np.testing.assert_allclose(model.log_evidence_, [plain_evidence(values, 100, k) for k in range(1, 8)])


def test_evidence_matches_scikit_learn():
    X = planted(150, 12, 4, 1.0)
    assert ProbabilisticPCA("evidence").fit(X).n_components_ == decomposition.PCA("mle").fit(X).n_components_


@pytest.mark.parametrize("p", [1, 3, 7])
@pytest.mark.parametrize(("n", "d", "noise"), [(400, 10, 0.5), (2000, 30, 1.0), (100, 20, 0.3)])
def test_evidence_finds_the_planted_dimension(p, n, d, noise):
    model = ProbabilisticPCA("evidence").fit(planted(n, d, p, noise, seed=p))
    assert model.n_components_ == p == model.embedding_.shape[1] == len(model.get_feature_names_out())
    assert model.log_evidence_.argmax() == p - 1


def test_evidence_is_weighed_anew_at_each_fit():
    model = ProbabilisticPCA("evidence").fit(planted(400, 10, 5, 0.5))
    assert model.fit(planted(400, 10, 2, 0.5)).n_components_ == 2
    assert model.transform(planted(3, 10, 2, 0.5)).shape == (3, 2)


def test_rows_that_are_all_the_same_have_no_density():
    with pytest.warns(RankWarning):
        model = ProbabilisticPCA().fit(np.ones((20, 4)))
    with pytest.raises(InputError, match="all training rows are equal"):
        model.score(np.ones((20, 4)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(200, 20), (20, 50)])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_evidence_of_rows_without_noise_is_for_their_rank(shape, far, dtype):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        flat = rng.standard_normal((shape[0], 5)) @ rng.standard_normal((5, shape[1])) + far
        if dtype is np.float32 and far:
            continue  # whose rounding is a noise
        model = ProbabilisticPCA("evidence").fit(flat.astype(dtype))
        assert model.n_components_ == 5
        assert np.isinf(model.log_evidence_).tolist() == [False] * 4 + [True]


def test_columns_that_never_vary_are_no_evidence():
    X = planted(500, 10, 3, 0.5)
    X[:, 8:] = 5.0
    assert ProbabilisticPCA("evidence").fit(X).n_components_ == 3
    few = planted(40, 100, 2, 0.5)  # nor are the directions that few rows do not reach
    assert ProbabilisticPCA("evidence").fit(few).n_components_ == 2


def test_evidence_of_rows_that_are_all_the_same():
    for rows in (np.ones((20, 4)), np.zeros((20, 4)), planted(2, 4, 1, 0.1)):
        with pytest.raises(
            InputError, match=r"vary along two or more directions, but .* vary along fewer: use n_components=1"
        ):
            ProbabilisticPCA("evidence").fit(rows)


def test_gaps_in_rows_that_are_all_the_same():
    X = np.full((20, 4), 3.0)
    X[3, 2] = np.nan
    with pytest.warns(RankWarning, match="above the noise along only 0 directions"):
        model = ProbabilisticPCA(2).fit(X)
    assert (model.transform(X) == 0).all()
    assert (model.impute(X) == 3).all()
    posterior = model.posterior(X)  # nothing is known of the latent points
    assert (posterior.mean == 0).all()
    np.testing.assert_array_equal(posterior.covariance[0], np.eye(2))
    with pytest.raises(InputError, match="all training rows are equal"):
        model.score(X)


def test_columns_without_a_value_are_named():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(planted(30, 6, 2, 0.1), columns=list("abcdef"))
    X["d"] = np.nan
    with pytest.raises(InputError, match=r"column 'd' of X contains only missing values, .*remove this column"):
        ProbabilisticPCA(2).fit(X)
    X["b"] = np.nan
    with pytest.raises(InputError, match=r"columns 'b', 'd' of X contain only missing values, .*remove these columns"):
        ProbabilisticPCA(2).fit(X)
    with pytest.raises(InputError, match="columns 1, 3 of X"):
        ProbabilisticPCA(2).fit(X.to_numpy())


def test_gaps_in_the_only_column():
    with pytest.raises(
        InputError, match=r"X has a single column with missing values.* remove the rows without a value"
    ):
        ProbabilisticPCA(1).fit([[1.0], [np.nan], [3.0]])
