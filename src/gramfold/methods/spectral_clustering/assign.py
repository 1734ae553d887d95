"""Clusters from the rows of a spectral map, by rules that also decide for rows they have not seen.

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
    """How well places fit each cluster."""

    @abstractmethod
    def scores(self, places: Floats) -> Floats:
        """(m, k), the larger the better."""


@dataclass(frozen=True)
class NearestCenter(Rule):
    """−|y − c|², but for what all clusters share."""

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
    """Below or above on the last axis."""

    value: float

    def scores(self, places: Floats) -> Floats:
        above = places[:, -1] - self.value
        return np.column_stack([-above, above])


@dataclass(frozen=True)
class Assignment:
    """A rule whose clusters are numbered as they first occur among the vertices; those of none are dropped."""

    rule: Rule
    order: Integers  # (k,) the rule's number of each cluster

    def __call__(self, places: Floats) -> Integers:
        """The cluster of each place."""
        return np.asarray(self.rule.scores(places)[:, self.order].argmax(axis=1))


def numbered(rule: Rule, places: Floats) -> Assignment:
    """The rule with its clusters in order of appearance."""
    return Assignment(rule, by_appearance(rule.scores(places).argmax(axis=1)))


def by_appearance(labels: Integers) -> Integers:
    """The different labels in the order in which they first occur."""
    found, first = np.unique(labels, return_index=True)
    return np.asarray(found[np.argsort(first)])


def kmeans_rule(places: Floats, counts: Floats, n_clusters: int, random_state: np.random.RandomState) -> NearestCenter:
    """k-means on the places, each counted so often."""
    from sklearn.cluster import KMeans

    with openmp_threads():
        found = KMeans(n_clusters, n_init=_STARTS, random_state=random_state).fit(places, sample_weight=counts)
    return NearestCenter(found.cluster_centers_)


def qr_rule(places: Floats, mass: Floats) -> LargestEntry:
    """From k axes that are orthonormal in the mass, VᵀV = I with V = M^½ Y."""
    vectors = np.sqrt(mass)[:, None] * places  # (n, k)
    pivots = qr(vectors.T, pivoting=True, mode="r")[1][: vectors.shape[1]]
    left, _, right = svd(vectors[pivots].T)
    return LargestEntry(left @ right)


def threshold_rule(places: Floats, weights: csr_array) -> Threshold:
    """Where the last axis parts the graph at the least normalised cut."""
    return Threshold(best_threshold(weights, places[:, -1]))
