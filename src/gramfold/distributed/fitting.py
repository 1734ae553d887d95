"""Fit an estimator to rows in partitions: which families of methods can, and how each does it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from gramfold.distributed.opening import partitions_of
from gramfold.distributed.partitions import Partitions
from gramfold.embedding.model import Fitted
from gramfold.errors import InputError
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import at_work
from gramfold.runtime.warning import remembered_warnings

Maker = Callable[[Any, Partitions, Mapping[str, Any]], Fitted]


@cache
def _makers() -> dict[type, Maker]:
    """How each class is fitted."""
    import gramfold
    from gramfold.distributed.linear import fit_linear

    return {gramfold.PCA: fit_linear, gramfold.ProbabilisticPCA: fit_linear, gramfold.OrientedPCA: fit_linear}


def fit_partitions(estimator: Any, X: Any, y: Any, extras: Mapping[str, Any]) -> Fitted:
    """The model of an estimator whose parameters were checked."""
    name = type(estimator).__name__
    maker = next((_makers()[kind] for kind in type(estimator).__mro__ if kind in _makers()), None)
    if maker is None:
        able = ", ".join(sorted(kind.__name__ for kind in _makers()))
        raise InputError(
            f"{name} is not fitted to rows in partitions (Dask, or files that are streamed): fit it to a sample in "
            f"memory, whose model then places all rows with transform(), or use one of {able}."
        )
    if extras.get("sample_weight") is not None:
        raise InputError(f"{name} of rows in partitions takes no sample_weight: leave it out.")
    stages = Stages(estimator.verbose, name, estimator.progress)
    with at_work(estimator.n_jobs), remembered_warnings() as warned, stages("partitions"):
        rows = partitions_of(X, gaps=estimator._reads().missing, stages=stages)  # noqa: SLF001  of every estimator
        model = maker(estimator, rows, {"y": y, **extras})
    return replace(model, timings=stages.seconds, warned=tuple(dict.fromkeys(warned)))
