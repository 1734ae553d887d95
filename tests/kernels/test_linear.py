import numpy as np
import pytest
from scipy.sparse import csr_array

from gramfold.errors import NotConvergedError
from gramfold.kernels.linear import linear_gram, mean_and_scatter, mean_of, project, pull, squared_spread, survey
from gramfold.spectral.policy import leading_spectrum, proved_spectrum

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 7)) * (RNG.random((40, 7)) < 0.4) + (np.arange(7) == 2)
MEAN = X.mean(axis=0)
ROOT = RNG.standard_normal((7, 5))


@pytest.mark.parametrize("root", [None, ROOT], ids=["identity", "root"])
@pytest.mark.parametrize("make", [np.asarray, csr_array, np.float32], ids=["dense", "sparse", "float32"])
def test_is_the_gram_matrix_of_the_centred_rows(root, make):
    kernel = linear_gram(make(X), MEAN, root)
    F = (X - MEAN) if root is None else (X - MEAN) @ root
    close = {"atol": 1e-4} if make is np.float32 else {"atol": 1e-12}
    np.testing.assert_allclose(kernel.matrix(), F @ F.T, **close)
    vectors = RNG.standard_normal((40, 3))
    np.testing.assert_allclose(kernel @ vectors, F @ (F.T @ vectors), **close)
    np.testing.assert_allclose(kernel.columns(np.array([3, 5])), (F @ F.T)[:, [3, 5]], **close)
    assert kernel.trace() == pytest.approx(np.square(F).sum(), rel=1e-5)
    assert kernel.everybody.dtype == (np.float32 if make is np.float32 else np.float64)
    np.testing.assert_allclose(kernel @ np.ones(40), 0, **close)


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_passes_over_the_rows(make):
    np.testing.assert_allclose(project(make(X), MEAN, ROOT), (X - MEAN) @ ROOT, atol=1e-12)
    vectors = RNG.standard_normal((40, 2))
    np.testing.assert_allclose(pull(make(X), MEAN, vectors), (X - MEAN).T @ vectors, atol=1e-12)
    assert squared_spread(make(X), MEAN) == pytest.approx(np.square(X - MEAN).sum())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("far", [0.0, 1e4], ids=["about zero", "far from it"])
def test_passes_over_many_rows_do_not_depend_on_the_threads(dtype, far):
    rows = (RNG.standard_normal((6000, 40)) + far).astype(dtype)  # several stretches of several blocks
    wide, directions = rows.astype(np.float64), RNG.standard_normal((40, 3))
    mean = wide.mean(axis=0)
    moved = wide - mean
    for n_jobs in (1, 2):
        found, scatter = mean_and_scatter(rows, n_jobs)
        np.testing.assert_allclose(found, mean, atol=1e-13 * (1 + far))
        np.testing.assert_allclose(mean_of(rows, n_jobs), mean, atol=1e-13 * (1 + far))
        np.testing.assert_allclose(scatter, moved.T @ moved, atol=1e-9)
        seen = survey(rows, mean, directions, n_jobs)
        places = moved @ directions
        np.testing.assert_allclose(seen.places, places, atol=1e-10)
        np.testing.assert_allclose(seen.squares, np.square(places).sum(axis=0))
        np.testing.assert_allclose(seen.ends, [places.max(axis=0), -places.min(axis=0)])
        assert seen.farthest == pytest.approx(np.linalg.norm(moved, axis=1).max(), rel=1e-12)
    assert (mean_and_scatter(rows, 1)[1] == mean_and_scatter(rows, 2)[1]).all()


@pytest.mark.parametrize("root", [None, ROOT], ids=["identity", "root"])
def test_the_misfit_from_the_scatter_is_that_of_the_products(root):
    scatter = (X - MEAN).T @ (X - MEAN)
    kernel = linear_gram(X, MEAN, root, scatter)
    assert kernel.trace() == pytest.approx(linear_gram(X, MEAN, root).trace())
    directions = RNG.standard_normal((7, 3))  # no eigenvectors at all
    places = project(X, MEAN, directions)
    values = np.square(places).sum(axis=0)
    V = places / np.sqrt(values)
    expected = np.linalg.norm(kernel @ V - V * values, axis=0)
    np.testing.assert_allclose(kernel.misfit(directions, values), expected)
    assert linear_gram(X, MEAN, root).misfit(directions, values) is None


def test_what_is_no_eigenvector_is_refused():
    kernel = linear_gram(X, MEAN)
    found = leading_spectrum(kernel, 3)
    places = found.eigenvectors * np.sqrt(found.eigenvalues)
    proved = proved_spectrum(kernel, places, "somebody", 0.0)
    np.testing.assert_allclose(proved.eigenvalues, found.eigenvalues)
    assert (proved.residuals < 1e-12).all()
    assert proved.total == pytest.approx(found.total)
    with pytest.raises(NotConvergedError, match="somebody left a residual"):
        proved_spectrum(kernel, places + 1e-3 * RNG.standard_normal(places.shape), "somebody", 0.0)
    with pytest.raises(NotConvergedError):
        proved_spectrum(kernel, places[:, ::-1], "somebody", 0.0)  # not in descending order


@pytest.mark.parametrize("scale", [1e-148, 1e148])
def test_proof_at_every_scale(scale):
    rows = scale * np.random.default_rng(0).standard_normal((30, 4))
    mean = rows.mean(axis=0)
    scatter = (rows - mean).T @ (rows - mean)
    values, axes = np.linalg.eigh(scatter)
    kernel = linear_gram(rows, mean, scatter=scatter)
    misfit = kernel.misfit(axes, values)
    places = project(rows, mean, axes[:, ::-1])
    assert (misfit <= 1e-13 * values[-1]).all()
    for given in (None, misfit[::-1]):
        spectrum = proved_spectrum(kernel, places, "eigh", 0.0, given)
        np.testing.assert_allclose(spectrum.eigenvalues, values[::-1], rtol=1e-12)
        assert spectrum.residuals.max() < 1e-12
