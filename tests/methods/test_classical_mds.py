import numpy as np
import pytest
from scipy.spatial.distance import cdist, squareform

from gramfold import ClassicalMDS
from tests.methods.maps import difference, s_curve

X = s_curve()[:200]


def plain_classical_mds(D, p):
    """The textbook, with every matrix written out."""
    n = len(D)
    H = np.eye(n) - np.ones((n, n)) / n
    values, vectors = np.linalg.eigh(-0.5 * H @ D**2 @ H)
    return vectors[:, ::-1][:, :p] * np.sqrt(values[::-1][:p])


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine", "chebyshev", "canberra", "correlation"])
def test_matches_the_plain_version(metric):
    D = cdist(X, X, metric)
    assert difference(ClassicalMDS(metric=metric).fit_transform(X), plain_classical_mds(D, 2)) < 1e-7


def test_three_dimensions_hold_all_distances_of_rows_in_space():
    model = ClassicalMDS(3).fit(X)
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-7)
    fresh = s_curve()[200:260]
    np.testing.assert_allclose(cdist(model.transform(fresh), model.embedding_), cdist(fresh, X), atol=1e-7)


def test_precomputed_equals_rows():
    D = cdist(X, X, "cityblock")
    known = ClassicalMDS(metric="precomputed").fit(D)
    rows = ClassicalMDS(metric="cityblock").fit(X)
    assert difference(known.embedding_, rows.embedding_) < 1e-8
    fresh = s_curve()[200:220]
    np.testing.assert_allclose(known.transform(cdist(fresh, X, "cityblock")), rows.transform(fresh), atol=1e-9)


def test_negative_part_tells_that_no_space_has_these_distances():
    # four points, three of them pairwise at 2 and all at 1.01 from the fourth: too near for any plane or space
    D = squareform([2, 2, 1.01, 2, 1.01, 1.01])
    spectrum = ClassicalMDS(metric="precomputed").fit(D).spectrum_
    every = np.linalg.eigvalsh(-0.5 * (np.eye(4) - 0.25) @ D**2 @ (np.eye(4) - 0.25))
    assert spectrum.most_negative == pytest.approx(every[0])
    assert spectrum.negative_mass == pytest.approx(-every[every < 0].sum() / np.abs(every).sum())


def test_trace_tells_what_share_the_map_holds():
    spectrum = ClassicalMDS(3).fit(X).spectrum_
    assert spectrum.eigenvalues.sum() == pytest.approx(spectrum.total)
    assert spectrum.total == pytest.approx(np.square(X - X.mean(axis=0)).sum())
