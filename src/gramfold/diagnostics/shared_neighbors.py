"""How many of the nearest in the data are among the nearest on the map: LCMC, and R_NX at one number of neighbours.

    Q(K) = mean over i of |N_K(i) ∩ M_K(i)| / K;    LCMC(K) = Q(K) − K / (n − 1)
    R(K) = ((n − 1) Q(K) − K) / (n − 1 − K)

Chen, Buja, JASA 104 (2009); Lee, Renard, Bernard, Dupont, Verleysen, Neurocomputing 112 (2013).
"""

from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure
from gramfold.errors import UndefinedMeasureError
from gramfold.neighbors.metrics import MetricName
from gramfold.types import Floats, Integers


@described
def lcmc(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Local continuity meta-criterion: the share of neighbours that the map keeps, less what chance would keep.

    ``1 - n_neighbors / (n_rows - 1)``: all are kept. 0: as many as on a random map. It is exact for any number of rows.
    At a tie the row with the lower number is nearer.

    Parameters
    ----------
    {shared}
    {options}

    Returns
    -------
    Measure
        Mean over rows, with the value of each row.
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    kept = _kept(judged) - judged.n_neighbors / (judged.n - 1)
    return Measure(float(kept.mean()), None, judged.per_point(kept))


@described
def r_nx(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Measure:
    """Share of neighbours that the map keeps, rescaled: the rate by which it does better than chance.

    1: all are kept. 0: as many as on a random map. It is exact for any number of rows. At a tie the row with the lower
    number is nearer.

    Parameters
    ----------
    {shared}
    {options}

    Returns
    -------
    Measure
        Mean over rows, with the value of each row.
    """
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    others, k = judged.n - 1, judged.n_neighbors
    if k >= others:
        raise UndefinedMeasureError(
            f"n_neighbors={k} are all other rows, and every map keeps these: use n_neighbors <= {others - 1}."
        )
    kept = (others * _kept(judged) - k) / (others - k)
    return Measure(float(kept.mean()), None, judged.per_point(kept))


def _kept(judged: Judged) -> Floats:
    judged.require_apart("the share of neighbours that the map keeps")
    n, k = judged.n, judged.n_neighbors
    return shared_shares(judged.in_data.indices.reshape(n, k), judged.on_map.indices.reshape(n, k))


def shared_shares(first: Integers, second: Integers) -> Floats:
    """Of two lists (m, k) of the neighbours of each row, the share of those in both, (m,)."""
    both = np.concatenate([first, second], axis=1)  # whoever is in both lists is there twice
    both.sort(axis=1)
    return np.asarray(np.count_nonzero(both[:, 1:] == both[:, :-1], axis=1) / first.shape[1])
