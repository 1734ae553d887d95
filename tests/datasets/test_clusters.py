"""Gaussian clusters: where they are, how wide, how many in each."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from gramfold.datasets import make_gaussian_clusters


def centres(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.array([points[labels == label].mean(axis=0) for label in np.unique(labels)])


@pytest.mark.parametrize(("n_clusters", "n_features"), [(2, 1), (5, 1), (3, 2), (12, 2), (4, 20)])
def test_nearest_centres_are_as_far_apart_as_asked(n_clusters: int, n_features: int) -> None:
    points, labels = make_gaussian_clusters(
        200, n_clusters=n_clusters, n_features=n_features, separation=7.5, spread=0.0, random_state=0
    )
    assert pdist(centres(points, labels)).min() == pytest.approx(7.5, rel=1e-12)


def test_spread_of_each_cluster() -> None:
    points, labels = make_gaussian_clusters(30000, n_clusters=3, n_features=4, spread=[0.5, 1.0, 2.0], random_state=0)
    for label, spread in enumerate([0.5, 1.0, 2.0]):
        covariance = np.cov(points[labels == label].T)
        np.testing.assert_allclose(covariance, spread**2 * np.eye(4), atol=0.06 * spread**2)


def test_sizes_are_equal_and_the_order_is_mixed() -> None:
    _, labels = make_gaussian_clusters(1001, n_clusters=4, random_state=0)
    assert labels.dtype.kind == "i"
    assert sorted(np.bincount(labels)) == [250, 250, 250, 251]
    # a run of equal labels would give no changes; mixed labels change three times in four
    assert np.mean(np.diff(labels) != 0) == pytest.approx(0.75, abs=0.06)


def test_far_clusters_are_told_apart_by_their_nearest_centre() -> None:
    points, labels = make_gaussian_clusters(600, n_clusters=5, n_features=3, separation=12.0, random_state=0)
    distance = np.linalg.norm(points[:, None] - centres(points, labels), axis=2)
    assert np.array_equal(distance.argmin(axis=1), labels)


def test_one_cluster_stands_at_the_origin() -> None:
    points, labels = make_gaussian_clusters(50, n_clusters=1, spread=0.0, random_state=0)
    assert np.all(points == 0)
    assert np.all(labels == 0)
