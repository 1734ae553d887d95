"""Gaussian clusters with a given distance between their centres."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gramfold.datasets._arguments import count, nonnegative, positive
from gramfold.datasets._randomness import RandomStateLike, generator
from gramfold.datasets.sample import Sample

# candidates drawn per centre: enough that the chosen ones are spread out, few enough to cost nothing
CANDIDATES_PER_CENTRE = 10


def make_gaussian_clusters(
    n_samples: int = 1000,
    *,
    n_clusters: int = 3,
    n_features: int = 2,
    separation: float = 6.0,
    spread: float | Sequence[float] = 1.0,
    random_state: RandomStateLike = 0,
) -> Sample:
    """Generate spherical Gaussian clusters of equal size.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points; at least `n_clusters`. The sizes of two clusters differ by at most one.
    n_clusters : int, default=3
        Number of clusters.
    n_features : int, default=2
        Number of columns.
    separation : float, default=6.0
        Distance between the two nearest centres. Centres are selected from random candidates by farthest-point sampling
        and scaled to this distance.
    spread : float or sequence of float, default=1.0
        Standard deviation of the clusters in every direction: one number for all clusters, or one for each.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data.

    Returns
    -------
    Sample
        Points (n, n_features) in random order, and truth (n,): the integer label of each point.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.datasets import make_gaussian_clusters
    >>> points, labels = make_gaussian_clusters(90, n_clusters=3, random_state=0)
    >>> np.bincount(labels)
    array([30, 30, 30])
    """
    n_clusters = count("n_clusters", n_clusters)
    n_samples = count("n_samples", n_samples)
    if n_samples < n_clusters:
        raise ValueError(
            f"n_samples={n_samples} is less than n_clusters={n_clusters}, so some clusters would be empty; give more "
            "points or fewer clusters."
        )
    n_features = count("n_features", n_features)
    separation = positive("separation", separation)
    spreads = _one_per_cluster(spread, n_clusters)
    rng = generator(random_state)

    centres = separation * _spread_out_centres(n_clusters, n_features, rng)
    labels = rng.permutation(np.arange(n_samples) % n_clusters)
    noise = rng.standard_normal((n_samples, n_features))
    return Sample(centres[labels] + spreads[labels, None] * noise, labels)


def _one_per_cluster(spread: float | Sequence[float], n_clusters: int) -> NDArray[np.float64]:
    each = list(spread) if isinstance(spread, Sequence | np.ndarray) else [spread] * n_clusters
    if len(each) != n_clusters:
        raise ValueError(
            f"spread has {len(each)} entries but there are {n_clusters} clusters; "
            "give one number, or one for each cluster."
        )
    return np.array([nonnegative("spread", one) for one in each])


def _spread_out_centres(n_clusters: int, n_features: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Centres around the origin, the two nearest at distance 1."""
    candidates = rng.standard_normal((CANDIDATES_PER_CENTRE * n_clusters, n_features))
    chosen = [0]
    nearest = np.linalg.norm(candidates - candidates[0], axis=1)  # to the centres chosen so far
    smallest = np.inf
    for _ in range(n_clusters - 1):
        farthest = int(nearest.argmax())
        smallest = float(nearest[farthest])  # never grows, so the last one is the least of all
        chosen.append(farthest)
        nearest = np.minimum(nearest, np.linalg.norm(candidates - candidates[farthest], axis=1))
    centres = candidates[chosen]
    return np.asarray((centres - centres.mean(axis=0)) / smallest)
