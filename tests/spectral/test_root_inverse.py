"""The smallest eigenpairs of SᵀS from a factor of S, against a dense singular value decomposition of S."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import subspace_angles, svd
from scipy.sparse import csr_array

from gramfold import LLE
from gramfold.datasets import make_s_curve, make_swiss_roll
from gramfold.errors import NotConvergedError
from gramfold.spectral.pencil import null_basis, symmetric_penalty, symmetric_root
from gramfold.spectral.root_inverse import smallest_by_root

# Without a ridge LLE shows little of these rows; here its factor is the subject.
pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")


def weights_root(X, k=8, reg=1e-3, copies=0):
    """S and its null vector, of LLE; `copies` rows are there twice."""
    kernel = LLE(2, k, reg=reg).fit(np.vstack([X, X[:copies]])).kernel_
    return symmetric_root(kernel), null_basis(kernel)


def closed_classes(sizes, between, seed=0):
    """I − W of a walk that never leaves some classes once it is there, with `between` rows that lead to all of them."""
    rng = np.random.default_rng(seed)
    n = sum(sizes) + between
    W = np.zeros((n, n))
    starts = np.cumsum([0, *sizes])
    for start, end in pairwise(starts):
        for i in range(start, end):
            W[i, rng.choice(np.setdiff1d(np.arange(start, end), i), 5, replace=False)] = rng.random(5) + 0.1
    for i in range(starts[-1], n):
        W[i, [rng.integers(start, end) for start, end in pairwise(starts)]] = 1.0
        W[i, rng.choice(np.setdiff1d(np.arange(n), i), 3, replace=False)] = rng.random(3) + 0.1
    return csr_array(np.eye(n) - W / W.sum(axis=1, keepdims=True)), np.full((n, 1), n**-0.5)


def off_null(root, null):
    """All singular values of S beside that of the known null vector, ascending, and right singular vectors."""
    moved = np.vstack([root.toarray(), 10.0 * null.T])  # the null vector goes to the top
    _, values, Vt = svd(moved, full_matrices=False)
    return values[:0:-1], Vt[:0:-1].T


ROOTS = {
    "S-curve": lambda: weights_root(make_s_curve(300, random_state=0).points),
    "copies": lambda: weights_root(make_s_curve(250, random_state=1).points, copies=40),
    "no ridge to speak of": lambda: weights_root(make_swiss_roll(400, random_state=0).points, 10, 1e-6),
    "one class": lambda: closed_classes([80], 20),
}


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_against_dense(name, count):
    root, null = ROOTS[name]()
    values, vectors = smallest_by_root(root, null, count, np.arange(len(null)))
    singular, right = off_null(root, null)
    np.testing.assert_allclose(np.sqrt(values), singular[:count], rtol=1e-7)
    assert subspace_angles(vectors, right[:, :count]).max() < 1e-6
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-12)
    np.testing.assert_allclose(null.T @ vectors, 0.0, atol=1e-12)
    A = root.T @ root
    limit = np.maximum(1e-6 * values, 10 * np.finfo(float).eps * np.abs(A).sum(axis=1).max())
    assert (np.linalg.norm(A @ vectors - vectors * values, axis=0) <= limit).all()


@pytest.mark.parametrize("sizes", [[60, 50], [40, 30, 30], [30, 30, 30, 30]])
@pytest.mark.parametrize("count", [1, 3, 5])
def test_null_vectors_that_nobody_told_come_first(sizes, count):
    root, null = closed_classes(sizes, 20)
    values, vectors = smallest_by_root(root, null, count, np.arange(len(null)))
    extra = len(sizes) - 1
    singular, right = off_null(root, null)
    np.testing.assert_allclose(np.sqrt(values), singular[:count], rtol=1e-9, atol=1e-14)
    if count >= extra:  # else any vectors of the null space will do
        assert subspace_angles(vectors, right[:, :count]).max() < 1e-8
    assert np.linalg.norm(root @ vectors[:, :extra], axis=0).max() < 1e-13


def test_eigenvalues_far_below_the_rounding_of_the_product():
    flat = make_swiss_roll(500, random_state=0).truth
    root, null = weights_root(flat @ np.random.default_rng(0).standard_normal((2, 5)), 10, 1e-9)
    values, _ = smallest_by_root(root, null, 2, np.arange(len(null)))
    assert (values < 1e-18).all()
    np.testing.assert_allclose(np.sqrt(values), off_null(root, null)[0][:2], rtol=1e-4)


def test_the_order_of_elimination_changes_nothing():
    root, null = ROOTS["S-curve"]()
    n = root.shape[0]
    values, vectors = smallest_by_root(root, null, 3, np.arange(len(null)))
    ordered = smallest_by_root(root, null, 3, np.random.default_rng(0).permutation(n))
    np.testing.assert_allclose(ordered[0], values, rtol=1e-9)
    assert subspace_angles(ordered[1], vectors).max() < 1e-8


def test_a_root_is_a_root_of_the_symmetric_penalty():
    X = make_s_curve(200, random_state=0).points
    kernel = LLE(2, 8).fit(np.vstack([X, X[:30]])).kernel_
    S, A = symmetric_root(kernel), symmetric_penalty(kernel)[0]
    np.testing.assert_allclose((S.T @ S).toarray(), A.toarray(), atol=1e-13)


def test_a_factor_that_breaks_down_is_told_in_our_words() -> None:
    pair = csr_array(np.diag([-4 * np.finfo(float).eps, 1.0]))  # the shift of its diagonal makes the first pivot 0
    with pytest.raises(NotConvergedError, match="factorisation of the 2 x 2 weights broke down"):
        smallest_by_root(pair, np.full((2, 1), 0.5**0.5), 1, np.arange(2))
