"""Local PCA: the intrinsic dimension from the covariance of each row's neighbours.

    Σ(x) = covariance of the k neighbours of x, with eigenvalues λ

    "participation":   1/d(x) = tr Σ² / (tr Σ)² = Σ λ² / (Σ λ)²,    1/d = mean of 1/d(x)
    "fukunaga-olsen":  d(x) = number of λ > 0.05 λ₁,                 d = mean of d(x)

Fukunaga, Olsen, IEEE Transactions on Computers C-20 (1971). The participation ratio is d where the d eigenvalues are
equal, as on a ball, at whatever k. Few neighbours make eigenvalues differ by chance, so both traces are estimated
without bias, for rows of any distribution (Himeno, Yamada, Journal of Multivariate Analysis 130, 2014); with S the
sample covariance and Q = Σ |y_i|⁴ / (k − 1) over the centred neighbours y,

    tr Σ²  ∝  (k − 1)(k − 2) tr S² + (tr S)² − k Q
    (tr Σ)²  ∝  2 tr S² + (k² − 3k + 1)(tr S)² − k Q

An edge cuts neighbourhoods off and makes eigenvalues unequal, which changes their ratio only to second order: of the
estimators here this has the least bias in many dimensions, and it is not corrected.

Interval: the mean over rows of a mean over the pairs of their neighbours. A pair of rows is in c neighbourhoods at
once, and the variance of the mean is at most Σ c² / Σ c times that of independent rows.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intrinsic.estimate import Estimate, check_level, interval_of_inverse, normal_interval
from gramfold.diagnostics.intrinsic.nearby import SAMPLE, Nearby
from gramfold.embedding.reading import check_count
from gramfold.errors import InputError
from gramfold.neighbors.gower import Gower
from gramfold.neighbors.index import VectorIndex
from gramfold.neighbors.metrics import MetricName
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

_LEAST = 4  # neighbours: the unbiased traces divide by k − 3
_SMALL = 0.05  # of the largest eigenvalue: smaller ones are noise or curvature (Fukunaga, Olsen)
_ENTRIES = 2_000_000  # of a block of Gram matrices and of the rows that they are made of
_FLAT = 1e-6  # an inverse dimension that is 0 but for rounding
_COUNTED = 1_000  # rows whose pairs are counted

Criterion = Literal["participation", "fukunaga-olsen"]


@described
def local_pca(
    X: Any,
    *,
    n_neighbors: int = 20,
    criterion: Criterion = "participation",
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    sample: int | None = SAMPLE,
    level: float = 0.9,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """Estimate the intrinsic dimension from the covariance of each row's neighbours (local PCA).

    Parameters
    ----------
    {rows} The metric decides who is a neighbour; covariances are those of the columns.
    n_neighbors : int, default=20
        Neighbours of each row, at least 4.
    criterion : {"participation", "fukunaga-olsen"}, default="participation"
        How the dimension is read from the eigenvalues. "participation": (Σλ)² / Σλ², without bias at few neighbours; a
        number that need not be whole. "fukunaga-olsen": eigenvalues above 5% of the largest are counted, which needs
        several times as many neighbours as dimensions.
    {search}

    Returns
    -------
    estimate : Estimate
        `value`, `interval`, and `per_point`: d(x) of each row.

    Examples
    --------
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import local_pca
    >>> round(local_pca(make_swiss_roll(2000, random_state=0).points).value)
    2
    """
    check_level(level)
    if criterion not in ("participation", "fukunaga-olsen"):
        raise InputError(f"criterion={criterion!r} is not known: use 'participation' or 'fukunaga-olsen'.")
    k = check_count(n_neighbors, "n_neighbors")
    if k < _LEAST:
        raise InputError(
            f"n_neighbors={k}, but a covariance of neighbours needs at least {_LEAST}: use more neighbours."
        )
    near = Nearby.of(
        X,
        k,
        metric=metric,
        metric_params=metric_params,
        sample=sample,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    if isinstance(near.index, VectorIndex) and isinstance(near.index.metric, Gower):
        raise InputError(
            "local PCA needs rows of numbers, which metric='gower' does not promise: use maximum_likelihood."
        )
    local = _local(near, k, _participation if criterion == "participation" else _counted)
    known = local[~np.isnan(local)]
    if not len(known) or not known.mean() > _FLAT:
        raise InputError(
            f"the {k} neighbours of a row are at one place, or spread in as many directions as there are neighbours, "
            "so their covariance says nothing of a dimension: use more neighbours, or more rows."
        )
    mean, variance = float(known.mean()), _shared(near, k) * float(known.var()) / len(known)
    if criterion == "fukunaga-olsen":
        return Estimate(mean, normal_interval(mean, variance, level), level, near.over_rows(local))
    with np.errstate(divide="ignore"):
        per_point = near.over_rows(1.0 / np.maximum(local, 0.0))
    return Estimate(1.0 / mean, interval_of_inverse(mean, variance, level), level, per_point)


def _local(near: Nearby, k: int, of_grams: Any) -> Floats:
    """What `of_grams` makes of the centred Gram matrices of the neighbours of each drawn row, (m,)."""
    grams_of = near.index.vertex_grams(np.arange(near.n_distinct))
    width = near.index.points.shape[1] if isinstance(near.index, VectorIndex) else k
    found = np.empty(len(near.vertices))
    for part in blocks(len(near.vertices), max(1, _ENTRIES // (k * max(k, width)))):
        grams = np.asarray(grams_of(near.vertices[part], near.indices[part, :k]), dtype=np.float64)  # (b, k, k)
        means = grams.mean(axis=1)
        grams = grams - means[:, None, :] - means[:, :, None] + means.mean(axis=1)[:, None, None]
        found[part] = of_grams(grams, k)
    return found


def _participation(grams: Floats, k: int) -> Floats:
    """1/d(x), (b,); NaN where all neighbours are one point."""
    sizes = np.einsum("bii->bi", grams)
    trace = sizes.sum(axis=1) / (k - 1)
    scale = np.where(trace > 0.0, trace, np.nan)
    squares = np.einsum("bij,bij->b", grams, grams) / ((k - 1) * scale) ** 2
    fourth = (sizes**2).sum(axis=1) / ((k - 1) * scale**2)
    above = (k - 1) * (k - 2) * squares + 1.0 - k * fourth
    below = 2.0 * squares + (k * k - 3 * k + 1) - k * fourth
    return np.asarray(above / below)


def _counted(grams: Floats, k: int) -> Floats:  # noqa: ARG001 - the same arguments as above
    """The number of eigenvalues above a share of the largest, (b,)."""
    values = np.linalg.eigvalsh(grams)
    return np.where(values[:, -1] > 0.0, (values > _SMALL * values[:, -1:]).sum(axis=1), np.nan).astype(np.float64)


def _shared(near: Nearby, k: int) -> float:
    """Σ c² / Σ c over pairs of rows, c the number of neighbourhoods that hold both: from the pairs of some rows."""
    m, n = len(near.vertices), near.n_distinct
    lists = csr_array((np.ones(m * k), near.indices[:, :k].ravel(), k * np.arange(m + 1)), shape=(m, n))
    seen = np.unique(near.indices[:, :k])
    if len(seen) > _COUNTED:
        seen = check_random_state(near.random_state).choice(seen, _COUNTED, replace=False)
    together = (lists[:, seen].T @ lists).tocoo()
    c = together.data[seen[together.row] != together.col]
    return float((c**2).sum() / c.sum())
