"""Mixture of probabilistic PCA of rows in partitions: the sums of each iteration are added up where the rows are.

start    k-means of a sample of the rows
EM       Σ r, Σ r x, Σ r x xᵀ and the likelihood of each partition, merged; the planes are fitted to the sums
map      the linear map of the rows that the planes rebuild (linear.py)
"""

from collections.abc import Mapping
from functools import partial
from operator import add
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramfold.distributed.drawn import fitted_whole, is_held_whole, sample_of
from gramfold.distributed.linear import Mapped, Seen, View
from gramfold.distributed.partitions import Partitions
from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Model
from gramfold.methods.mixture_ppca.mixture import Mixture
from gramfold.methods.mixture_ppca.steps import Starts, Steps, Sums, expected
from gramfold.methods.mixture_ppca.trials import Chosen, Trials, numbers_of_planes
from gramfold.types import Floats


def fit_mixture(estimator: Any, rows: Partitions, extras: Mapping[str, Any]) -> Model:
    """MixturePPCA."""
    if is_held_whole(rows):
        return fitted_whole(estimator, rows, extras)
    seen = Seen.of(rows)
    with rows.kept() as near:
        chosen = _chosen(estimator, near, seen)
        view = View(seen.view.unit, rebuild=chosen.mixture.rebuilt)
        return Mapped(estimator, rows, extras, seen, Seen.of(near, view)).by(partial(_built, estimator, chosen))


def _built(estimator: Any, chosen: Chosen, fit: Fit, rebuilt: Floats) -> Model:
    model: Model = estimator._map(fit, fit.seen, chosen, rebuilt)  # noqa: SLF001  as it maps rows in memory
    return model


def _chosen(estimator: Any, rows: Partitions, seen: Seen) -> Chosen:
    """The planes, from starts that are those of a sample."""
    trials, view, n = Trials.of(estimator), seen.view, float(seen.moments.n)
    some = seen.stand_ins(np.empty((0, rows.width)))
    moments = (seen.moments.mean, seen.moments.scatter)
    whole = trials.whole(some.rows, moments, estimator.n_jobs, some.mass, rows.dtype)
    sample = view.complete(rows.take(sample_of(rows, estimator.random_state)))
    starts = Starts(sample, whole, estimator.n_jobs)

    def sums(mixture: Mixture) -> Sums:
        found: Sums = rows.total("planes", _expected, add, view, mixture)
        return found

    steps = Steps(sums, n, whole.floor, estimator.tol, rows.stages)
    numbers = numbers_of_planes(sample, estimator.n_planes, estimator.max_planes)
    rng = check_random_state(estimator.random_state)
    return Chosen.of(trials.each(starts, steps, numbers, rng), n, estimator.n_planes)


def _expected(rows: Floats, view: View, mixture: Mixture) -> Sums:
    """Of one partition."""
    return expected(view.complete(rows), mixture)
