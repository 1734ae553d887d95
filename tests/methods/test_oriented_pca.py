import warnings

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.stats import ortho_group
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from gramfold import PCA, OrientedPCA
from gramfold.errors import InputError, RankWarning
from tests.methods.maps import difference, digits


def signal_and_noise(m=400, d=8, versions=3, seed=0):
    """Rows, what three distortions do to each (with a mean that is not 0), nothing of it along the axes."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(m, d)) @ rng.standard_normal((d, d)) + 5.0
    Z = rng.standard_normal((versions, m, d)) @ (0.3 * rng.standard_normal((d, d))) + rng.standard_normal(d)
    return X, Z


def plain(X, Z, count):
    """Eqs (1.16) and (1.17) as they stand, and SciPy's generalised eigenproblem."""
    versions, m, d = Z.shape
    C, R, mean = np.zeros((d, d)), np.zeros((d, d)), sum(X) / m
    for i in range(m):
        C += np.outer(X[i] - mean, X[i] - mean) / m
        for k in range(versions):
            R += np.outer(Z[k, i], Z[k, i]) / (m * versions)
    q, N = eigh(C, R)
    return C, R, q[::-1][:count], N[:, ::-1][:, :count]


# --- reference


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matches_scipys_generalised_eigenproblem(dtype):
    X, Z = signal_and_noise()
    tolerance = 1e-9 if dtype is np.float64 else 1e-3
    C, R, q, N = plain(X, Z, 3)
    model = OrientedPCA(3).fit(X.astype(dtype), X_distorted=(X + Z).astype(dtype))
    np.testing.assert_allclose(model.signal_to_noise_, q, rtol=tolerance)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(N.T), atol=tolerance * np.abs(N).max())
    assert difference(model.embedding_, (X - X.mean(axis=0)) @ N) < tolerance
    given = OrientedPCA(3, signal_covariance=C, noise_correlation=R).fit(X)
    np.testing.assert_allclose(np.abs(given.components_), np.abs(N.T), atol=1e-9)
    assert model.raised_ == given.raised_ == 0


def test_one_distortion_needs_no_third_axis():
    X, Z = signal_and_noise(versions=1)
    one, same = OrientedPCA(2).fit(X, X_distorted=X + Z[0]), OrientedPCA(2).fit(X, X_distorted=X + Z)
    np.testing.assert_array_equal(one.components_, same.components_)


# --- theory: Burges, section 1.4


def test_white_noise_gives_principal_components():
    X = digits()
    principal = PCA(5).fit(X)
    np.testing.assert_array_equal(OrientedPCA(5).fit(X).embedding_, principal.embedding_)
    for sigma in (0.1, 7.0):
        model = OrientedPCA(5, noise_correlation=sigma**2 * np.eye(64)).fit(X)
        np.testing.assert_allclose(model.directions_, principal.components_, atol=1e-9)
        np.testing.assert_allclose(sigma * model.embedding_, principal.embedding_, atol=1e-8)
        np.testing.assert_allclose(model.signal_to_noise_, principal.embedding_.var(axis=0) / sigma**2)


def test_scaling_signal_or_noise_leaves_the_directions_alone():
    X, Z = signal_and_noise()
    model = OrientedPCA(3).fit(X, X_distorted=X + Z)
    louder = OrientedPCA(3).fit(X, X_distorted=X + 50 * Z)
    larger = OrientedPCA(3).fit(20 * X, X_distorted=20 * X + Z)
    for other, factor in ((louder, 50.0**-2), (larger, 20.0**2)):
        np.testing.assert_allclose(other.directions_, model.directions_, atol=1e-8)
        np.testing.assert_allclose(other.signal_to_noise_, factor * model.signal_to_noise_, rtol=1e-9)


def test_directions_are_conjugate_in_both_matrices():
    X, Z = signal_and_noise()
    C, R, _, _ = plain(X, Z, 3)
    model = OrientedPCA(4).fit(X, X_distorted=X + Z)
    np.testing.assert_allclose(model.components_ @ C @ model.components_.T, np.diag(model.signal_to_noise_), atol=1e-8)
    np.testing.assert_allclose(model.components_ @ R @ model.components_.T, np.eye(4), atol=1e-10)
    noise = model.transform(X + Z[0]) - model.transform(X)
    noise = np.concatenate([noise, *(model.transform(X + z) - model.transform(X) for z in Z[1:])])
    np.testing.assert_allclose(np.square(noise).mean(axis=0), 1.0, rtol=1e-9)  # about 0: a shift is noise too
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0.0, atol=1e-10)


def test_no_other_directions_have_more_volume_for_their_noise():
    X, Z = signal_and_noise()
    C, R, _, _ = plain(X, Z, 3)

    def volume(N):
        return np.linalg.slogdet(N @ C @ N.T)[1] - np.linalg.slogdet(N @ R @ N.T)[1]

    model = OrientedPCA(3).fit(X, X_distorted=X + Z)
    best = volume(model.components_)
    assert best == pytest.approx(np.log(model.signal_to_noise_).sum())
    for seed in range(20):
        away = ortho_group.rvs(8, random_state=seed)[:3]
        assert volume(away) < best
        assert volume(model.directions_ + 1e-2 * away) < best
        assert volume(np.random.default_rng(seed).standard_normal((3, 3)) @ model.components_) == pytest.approx(best)


def test_a_shift_that_is_always_the_same_is_noise():
    """The paper's extreme case: no variance, yet not to be kept. A covariance would not see it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) * [3.0, 1.0, 1.0]
    Z = 0.01 * rng.standard_normal((300, 3)) + [10.0, 0.0, 0.0]
    assert abs(PCA(1).fit(X).components_[0, 0]) > 0.99
    assert abs(OrientedPCA(1).fit(X, X_distorted=X + Z).directions_[0, 0]) < 0.01


def test_is_linear_discriminant_analysis_with_a_class_for_each_row():
    X, Z = signal_and_noise(m=60, versions=4)
    Z = np.concatenate([Z, -Z])  # the centre of each class is the row itself
    classes = np.tile(np.arange(60), 8)
    lda = LinearDiscriminantAnalysis(solver="eigen", n_components=3).fit((X + Z).reshape(-1, 8), classes)
    model = OrientedPCA(3).fit(X, X_distorted=X + Z)
    scalings = lda.scalings_[:, :3].T
    unit = scalings / np.linalg.norm(scalings, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs((unit * model.directions_).sum(axis=1)), 1.0, atol=1e-8)


def test_is_kernel_pca_in_the_metric_of_the_noise():
    X, Z = signal_and_noise(m=100)
    _, R, _, _ = plain(X, Z, 3)
    model = OrientedPCA(3).fit(X, X_distorted=X + Z)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(model.kernel_.dense(), centred @ np.linalg.inv(R) @ centred.T, atol=1e-8)
    np.testing.assert_allclose(model.spectrum_.eigenvalues, 100 * model.signal_to_noise_)


def test_rows_are_rebuilt_by_the_noise_metric():
    """Least squares in the rows, mean + R N y, is also the nearest point by R⁻¹."""
    X, Z = signal_and_noise()
    _, R, _, _ = plain(X, Z, 3)
    model = OrientedPCA(3).fit(X, X_distorted=X + Z)
    expected = X.mean(axis=0) + model.embedding_ @ (model.components_ @ R)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), expected, atol=1e-8)


def test_rows_are_known_again_where_principal_components_lose_them():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 20)) * np.r_[np.ones(10), 3 * np.ones(10)]
    strength = np.r_[0.1 * np.ones(10), 6 * np.ones(10)]  # the louder half is noisier by far

    def found_again(model):
        places = model.transform(X + rng.standard_normal(X.shape) * strength)
        far = np.linalg.norm(places[:, None] - model.embedding_[None], axis=2)
        return np.mean(far.argmin(axis=1) == np.arange(200))

    distorted = X + rng.standard_normal((5, *X.shape)) * strength
    assert found_again(OrientedPCA(6).fit(X, X_distorted=distorted)) > 0.95
    assert found_again(PCA(6).fit(X)) < 0.2


# --- singular noise


def test_singular_noise_is_raised_and_told():
    X, Z = signal_and_noise()
    Z[:, :, 3:] = 0.0  # five directions without noise
    R = np.einsum("vmi,vmj->ij", Z, Z) / (3 * 400)
    with pytest.warns(RankWarning, match="2 of 2 components point in directions with hardly any observed noise"):
        model = OrientedPCA(2, reg=1e-3).fit(X, X_distorted=X + Z)
    assert model.raised_ == 5
    r, U = np.linalg.eigh(R)
    raised = (U * np.maximum(r, 1e-3 * r[-1])) @ U.T
    expected = eigh(np.cov(X.T, bias=True), raised)[1][:, ::-1][:, :2]
    np.testing.assert_allclose(np.abs(model.components_), np.abs(expected.T), rtol=1e-7, atol=1e-9)
    with pytest.warns(RankWarning):
        louder = OrientedPCA(2, reg=1e-3).fit(X, X_distorted=X + 30 * Z)
    np.testing.assert_allclose(louder.directions_, model.directions_, atol=1e-8)
    with pytest.raises(InputError, match="the noise has rank 3 of 8 and reg=0 leaves its covariance singular"):
        OrientedPCA(2, reg=0.0).fit(X, X_distorted=X + Z)


def test_columns_without_signal_or_noise_do_no_harm():
    X, Z = signal_and_noise()
    wide, wide_noise = np.pad(X, ((0, 0), (0, 2))), np.pad(Z, ((0, 0), (0, 0), (0, 2)))
    model, narrow = OrientedPCA(3).fit(wide, X_distorted=wide + wide_noise), OrientedPCA(3).fit(X, X_distorted=X + Z)
    assert model.raised_ == 2
    np.testing.assert_allclose(model.embedding_, narrow.embedding_, atol=1e-8)


# --- given matrices


def test_a_given_signal_covariance_decides():
    X, Z = signal_and_noise()
    C, R, _, _ = plain(X, Z, 1)
    other = C + 40 * np.outer(np.ones(8), np.ones(8))
    model = OrientedPCA(3, signal_covariance=other).fit(X, X_distorted=X + Z)
    q, N = eigh(other, R)
    np.testing.assert_allclose(model.signal_to_noise_, q[::-1][:3])
    np.testing.assert_allclose(np.abs(model.components_), np.abs(N[:, ::-1][:, :3].T), atol=1e-9)
    # the Gram matrix of the map, whose eigenvectors are then mixtures of its columns
    np.testing.assert_allclose(model.kernel_.dense(), model.embedding_ @ model.embedding_.T, atol=1e-8)
    V = model.spectrum_.eigenvectors
    np.testing.assert_allclose(model.kernel_ @ V, V * model.spectrum_.eigenvalues, atol=1e-6)


def test_bad_noise_gets_its_sentence():
    X, Z = signal_and_noise(m=50)
    spoilt = X + Z
    spoilt[1, 4, 2] = np.nan
    cases = [
        (
            lambda: OrientedPCA().fit(X, X_distorted=X[:40]),
            r"X_distorted has shape \(40, 8\), but X has shape \(50, 8\)",
        ),
        (lambda: OrientedPCA().fit(X, X_distorted=spoilt), "nan in version 1, row 4, column 2"),
        (lambda: OrientedPCA().fit(X, X_distorted=X), "equal to X, so there is no noise"),
        (
            lambda: OrientedPCA(noise_correlation=np.eye(3)).fit(X),
            r"noise_correlation has shape \(3, 3\), but X has 8 columns",
        ),
        (
            lambda: OrientedPCA(signal_covariance=[1, 2]).fit(X),
            r"has shape \(2,\), .*: pass a matrix of shape \(8, 8\)\.$",
        ),
        (lambda: OrientedPCA(signal_covariance=[["a"] * 8] * 8).fit(X), "signal_covariance holds text in columns 0"),
        (lambda: OrientedPCA(noise_correlation=-np.eye(8)).fit(X), "negative eigenvalue -1"),
        (lambda: OrientedPCA(signal_covariance=np.triu(np.ones((8, 8)))).fit(X), "not symmetric"),
        (lambda: OrientedPCA(noise_correlation=np.eye(8)).fit(X, X_distorted=X + Z), "each of them defines the noise"),
    ]
    for act, sentence in cases:
        with pytest.raises(InputError, match=sentence):
            act()


def test_distorted_rows_are_not_kept():
    X, Z = signal_and_noise(m=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OrientedPCA().fit(X, X_distorted=X + Z)
    assert "_distorted" not in vars(model)
    np.testing.assert_array_equal(OrientedPCA().fit_transform(X, X_distorted=X + Z), model.embedding_)
