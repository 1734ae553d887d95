"""Clusters from the rows of a spectral embedding, by rules that also apply to new rows.

    k-means: the nearest centre
    QR: the pivots of a QR of Vᵀ are k typical rows, O is the orthogonal polar factor of theirs; the largest |y O|
    threshold: the side of one number on the last axis

Ng, Jordan, Weiss, NIPS 14 (2002); Damle, Minden, Ying, Information and Inference 8 (2019); Shi, Malik, IEEE PAMI 22
(2000).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import qr, svd
from scipy.sparse import csr_array

from gramfold.graph.cut import best_threshold
from gramfold.runtime.threads import openmp_threads
from gramfold.types import Floats, Integers

Assign = Literal["kmeans", "qr", "threshold"]

_STARTS = 10  # of k-means, of which the best is kept


class Rule(ABC):
    """A rule that scores coordinates for each cluster."""

    @abstractmethod
    def scores(self, places: Floats) -> Floats:
        """Scores (m, k) of the coordinates (m, p): the largest is that of their cluster."""


@dataclass(frozen=True)
class NearestCenter(Rule):
    """−|y − c|², without the term |y|² that all clusters share."""

    centers: Floats  # (k, p)

    def scores(self, places: Floats) -> Floats:
        return np.asarray(2.0 * places @ self.centers.T - np.square(self.centers).sum(axis=1))


@dataclass(frozen=True)
class LargestEntry(Rule):
    """|y O|."""

    rotation: Floats  # (p, k)

    def scores(self, places: Floats) -> Floats:
        return np.asarray(np.abs(places @ self.rotation))


@dataclass(frozen=True)
class Threshold(Rule):
    """Below or above a threshold on the last axis."""

    value: float

    def scores(self, places: Floats) -> Floats:
        above = places[:, -1] - self.value
        return np.column_stack([-above, above])


@dataclass(frozen=True)
class Assignment:
    """A rule whose clusters are numbered as they first occur among the vertices; empty ones are dropped."""

    rule: Rule
    order: Integers  # (k,) the rule's number of each cluster

    def __call__(self, places: Floats) -> Integers:
        """Clusters (m,) of the coordinates (m, p)."""
        return np.asarray(self.rule.scores(places)[:, self.order].argmax(axis=1))


def numbered(rule: Rule, places: Floats) -> Assignment:
    """Number the clusters of the rule in order of appearance."""
    return Assignment(rule, by_appearance(rule.scores(places).argmax(axis=1)))


def by_appearance(labels: Integers) -> Integers:
    """The distinct labels in the order in which they first occur."""
    found, first = np.unique(labels, return_index=True)
    return np.asarray(found[np.argsort(first)])


def kmeans_rule(places: Floats, counts: Floats, n_clusters: int, random_state: np.random.RandomState) -> NearestCenter:
    """k-means on the coordinates, each with its count as weight."""
    from sklearn.cluster import KMeans

    with openmp_threads(places.size * n_clusters):
        found = KMeans(n_clusters, n_init=_STARTS, random_state=random_state).fit(places, sample_weight=counts)
    return NearestCenter(found.cluster_centers_)


def qr_rule(places: Floats, mass: Floats) -> LargestEntry:
    """Pivoted QR of k axes that are orthonormal in the mass, VᵀV = I with V = M^½ Y."""
    vectors = np.sqrt(mass)[:, None] * places  # (n, k)
    pivots = qr(vectors.T, pivoting=True, mode="r")[1][: vectors.shape[1]]
    left, _, right = svd(vectors[pivots].T)
    return LargestEntry(left @ right)


def threshold_rule(places: Floats, weights: csr_array) -> Threshold:
    """The threshold on the last axis with the smallest normalised cut of the graph."""
    return Threshold(best_threshold(weights, places[:, -1]))
