"""Landmark MDS of rows in partitions: the map of the landmarks, which are those of a fit in memory.

pass 1    mean of the rows
pass 2    a sample that the model holds, with the landmarks that are given or drawn at random; the ball about all
passes    max-min landmarks: farthest.py
"""

from copy import copy
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramfold.distributed.drawn import SAMPLE
from gramfold.distributed.farthest import farthest_rows
from gramfold.distributed.landmarks import HeldRows, random_numbers
from gramfold.distributed.partitions import Partitions
from gramfold.distributed.sampled import fit_of, require_numbers
from gramfold.embedding.model import Model
from gramfold.errors import InputError
from gramfold.kernels.distances import Distances
from gramfold.kernels.landmarks import given_landmarks
from gramfold.neighbors.binary import BinaryMetric, is_binary
from gramfold.neighbors.metrics import missing_scale
from gramfold.types import Integers


def fit_landmark_mds(estimator: Any, rows: Partitions, extras: Any) -> Model:  # noqa: ARG001  y is not used in memory either
    """See the module."""
    require_numbers(estimator)
    scale = missing_scale(estimator.metric, estimator.metric_params)
    if scale is not None:
        raise InputError(
            f"metric={estimator.metric!r} scales rows by the variances of one table, which LandmarkMDS of rows in "
            f"partitions does not compute: pass metric_params={{{scale!r}: ...}}."
        )
    kept, chosen = _chosen(estimator, rows)
    alone = copy(estimator).set_params(landmarks=kept.at(chosen))
    model: Model = alone._build(fit_of(alone, kept.table, rows))  # noqa: SLF001  of every estimator
    return kept.held_by(model)


def _chosen(estimator: Any, rows: Partitions) -> tuple[HeldRows, Integers]:
    """Rows that the model holds, and the numbers of the landmarks among them."""
    n, rng = rows.moments.n, check_random_state(estimator.random_state)
    if not isinstance(estimator.landmarks, Integral):
        chosen = given_landmarks(estimator.landmarks, n)
    elif estimator.landmark_choice == "random" or int(estimator.landmarks) >= n:
        chosen = random_numbers(rows, int(estimator.landmarks), rng)
    else:
        return _farthest(estimator, rows, rng)
    return HeldRows.of(rows, np.union1d(rows.drawn(SAMPLE, rng), chosen)), chosen


def _farthest(estimator: Any, rows: Partitions, rng: np.random.RandomState) -> tuple[HeldRows, Integers]:
    sample = HeldRows.of(rows, rows.drawn(SAMPLE, rng))
    distances = Distances.of(sample.table, estimator.metric, estimator.metric_params)
    if isinstance(distances.metric, BinaryMetric) and not all(one is not False for one in rows.each("bits", is_binary)):
        raise InputError(
            f"metric={estimator.metric!r} is computed by bits, but some rows hold values other than 0 and 1: make all "
            "values 0 or 1, or use another metric."
        )
    known, chosen = farthest_rows(rows, sample, int(estimator.landmarks), distances)
    chosen = np.unique(chosen)  # where rows are fewer than landmarks, one that is chosen again adds nothing
    if len(chosen) == 1:
        raise InputError(
            "all rows of X are at distance 0 from each other, so there is no map of them: check the columns."
        )
    return known.only(np.union1d(sample.numbers, chosen)), chosen
