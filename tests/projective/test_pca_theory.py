"""What section 1.1 of Burges says of PCA beyond its formulas, and of other bases beside it."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from gramfold import PCA


def skewed(m=400, d=7, seed=0):
    """Rows of no Gaussian shape, with a mean."""
    rng = np.random.default_rng(seed)
    return rng.exponential(size=(m, d)) @ rng.standard_normal((d, d)) + 4.0


def test_correlation_depends_on_the_basis_and_only_the_principal_one_has_none():  # 1.1.3
    X = skewed()
    basis = PCA(7).fit(X).components_
    for seed in range(5):
        other = np.cov(X @ ortho_group.rvs(7, random_state=seed), rowvar=False)
        assert np.abs(other - np.diag(np.diag(other))).max() > 1e-2 * np.abs(other).max()
    here = np.cov(X @ basis.T, rowvar=False)
    np.testing.assert_allclose(here, np.diag(np.diag(here)), atol=1e-10 * here.max())
    np.testing.assert_allclose(basis @ basis.T, np.eye(7), atol=1e-12)


def test_one_direction_after_another_is_as_good_as_all_at_once():  # the remark after (1.5)
    X = skewed()
    left, greedy = X - X.mean(axis=0), []
    for _ in range(3):
        (direction,) = PCA(1).fit(left).components_
        greedy.append(direction)
        left = left - np.outer(left @ direction, direction)
    together = PCA(3).fit(X)
    np.testing.assert_allclose(np.abs((np.array(greedy) * together.components_).sum(axis=1)), 1.0, atol=1e-10)
    rebuilt = together.inverse_transform(together.embedding_)
    assert np.square(left).sum() == pytest.approx(np.square(X - rebuilt).sum(), rel=1e-10)


def test_the_mean_must_be_taken_off_first():  # the caveat of 1.1.4
    X = skewed()
    model = PCA(2).fit(X)
    error = np.square(X - model.inverse_transform(model.embedding_)).sum()
    without = np.linalg.svd(X, full_matrices=False)[2][:2]
    assert error < np.square(X - X @ without.T @ without).sum()


@pytest.mark.parametrize("count", [1, 3, 6])
def test_information_is_the_product_of_the_leading_variances(count):  # 1.1.5, and Wilks for 1 < d' < d
    X = skewed()
    C = np.cov(X, rowvar=False, bias=True)
    W = PCA(count).fit(X).components_

    def entropy(W):  # in bits, eq (1.6) with (2πe)^d' in the place of its misprint
        return 0.5 * np.log2(2 * np.pi * np.e) * len(W) + 0.5 * np.linalg.slogdet(W @ C @ W.T)[1] / np.log(2)

    best = entropy(W)
    leading = np.linalg.eigvalsh(C)[::-1][:count]
    assert best == pytest.approx(0.5 * np.log2(2 * np.pi * np.e * leading).sum())
    for seed in range(30):
        assert entropy(ortho_group.rvs(7, random_state=seed)[:count]) < best
        near = np.linalg.qr((W + 0.05 * np.random.default_rng(seed).standard_normal(W.shape)).T)[0].T
        assert entropy(near) < best
    everything = [entropy(ortho_group.rvs(7, random_state=seed)) for seed in range(3)]  # d' = d: any basis will do
    np.testing.assert_allclose(everything, everything[0])
