"""Clusters from the rows of a map."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.sparse import csr_array
from scipy.stats import ortho_group
from sklearn.cluster._spectral import cluster_qr

from gramfold.methods.spectral_clustering.assign import (
    LargestEntry,
    NearestCenter,
    Threshold,
    kmeans_rule,
    numbered,
    qr_rule,
    threshold_rule,
)


def turned_indicators(sizes: list[int], noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal indicator columns of groups, rotated as any eigenvectors of them may be, and the groups."""
    group = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    Z = np.eye(len(sizes))[group] / np.sqrt(np.bincount(group))
    V = Z @ ortho_group.rvs(len(sizes), random_state=0)
    return V + noise * np.random.default_rng(1).standard_normal(V.shape), group


def same_partition(left: np.ndarray, right: np.ndarray) -> bool:
    pairs = np.unique(np.column_stack([left, right]), axis=0)
    return len(pairs) == len(np.unique(left)) == len(np.unique(right))


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_qr_recovers_rotated_indicators(noise: float) -> None:
    V, group = turned_indicators([50, 20, 7, 30], noise)
    rule = qr_rule(V, np.ones(len(V)))
    labels = rule.scores(V).argmax(axis=1)
    assert same_partition(labels, group)
    np.testing.assert_array_equal(labels, cluster_qr(V))  # scikit-learn's, which orders clusters by pivots too
    np.testing.assert_allclose(rule.rotation.T @ rule.rotation, np.eye(4), atol=1e-12)


def test_qr_weighs_rows_by_their_mass() -> None:
    # Y orthonormal in the mass: the same clusters as from the orthonormal V = M^½ Y
    V, group = turned_indicators([50, 20, 7, 30])
    mass = np.random.default_rng(2).uniform(0.1, 10.0, len(V))
    Y = np.linalg.qr(np.sqrt(mass)[:, None] * V)[0] / np.sqrt(mass)[:, None]
    assert same_partition(qr_rule(Y, mass).scores(Y).argmax(axis=1), group)


def test_kmeans_counts_copies() -> None:
    rng = np.random.default_rng(0)
    places = np.vstack([rng.standard_normal((30, 2)), 8 + rng.standard_normal((30, 2))])
    counts = rng.integers(1, 5, 60)
    ours = kmeans_rule(places, counts.astype(float), 2, np.random.RandomState(0))
    whole = np.repeat(places, counts, axis=0)
    left = whole[:, 0] < 4
    np.testing.assert_allclose(np.sort(ours.centers[:, 0]), [whole[left, 0].mean(), whole[~left, 0].mean()], rtol=1e-12)
    distances = np.linalg.norm(places[:, None] - ours.centers[None], axis=2)
    np.testing.assert_array_equal(ours.scores(places).argmax(axis=1), distances.argmin(axis=1))


def test_threshold_cuts_between_two_cliques() -> None:
    W = block_diag(np.ones((5, 5)), np.ones((8, 8))) - np.eye(13)
    W[4, 5] = W[5, 4] = 1.0
    values = np.arange(13.0)
    rule = threshold_rule(values[:, None], csr_array(W))
    assert rule.value == 4.5
    np.testing.assert_array_equal(rule.scores(values[:, None]).argmax(axis=1), values > 4.5)


def test_clusters_are_numbered_as_they_occur_and_empty_ones_dropped() -> None:
    places = np.array([[9.0, 0], [0, 5], [8, 0], [5, 5.1]])
    rule = NearestCenter(np.array([[100.0, 100], [0, 5], [8, 0], [5, 5]]))  # nobody is near the first
    assign = numbered(rule, places)
    np.testing.assert_array_equal(assign(places), [0, 1, 0, 2])
    np.testing.assert_array_equal(assign(np.array([[100.0, 100]])), [2])  # dropped, so another takes its rows
    np.testing.assert_array_equal(numbered(Threshold(0.0), -places)(-places[:, :1] + 1), [0, 0, 0, 0])
    np.testing.assert_array_equal(numbered(LargestEntry(np.eye(2)), places)(np.array([[1.0, -3.0]])), [1])
