"""Fit an estimator to rows in partitions: which families of methods can, and how each does it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from gramfold.distributed.opening import partitions_of
from gramfold.distributed.partitions import Partitions
from gramfold.embedding.model import Fitted
from gramfold.errors import InputError
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import at_work
from gramfold.runtime.warning import remembered_warnings

Maker = Callable[[Any, Partitions, Mapping[str, Any]], Fitted]


# how each class is fitted: a function of this package, which is imported when it is called
_MAKERS = {
    "PCA": "linear.fit_linear",
    "ProbabilisticPCA": "gaps.fit_probabilistic",
    "FactorAnalysis": "linear.fit_factors",
    "OrientedPCA": "oriented.fit_oriented",
    "MixturePPCA": "mixture.fit_mixture",
    "NystromEmbedding": "nystrom.fit_nystrom",
    "LandmarkMDS": "landmark_mds.fit_landmark_mds",
    "KernelEigenmaps": "sampled.fit_sampled",
    "LPP": "sampled.fit_sampled",
    "Isomap": "graphs.fit_graph",
    "KernelIsomap": "graphs.fit_graph",
    "LaplacianEigenmaps": "graphs.fit_graph",
    "CommuteTime": "graphs.fit_graph",
    "HeatKernel": "graphs.fit_graph",
    "DiffusionMap": "graphs.fit_graph",
    "SpectralClustering": "graphs.fit_graph",
}


def maker_of(estimator: Any) -> Maker:
    """The function that fits estimators of this class, or of the nearest class above it."""
    name = next((kind.__name__ for kind in type(estimator).__mro__ if kind.__name__ in _MAKERS), None)
    if name is None:
        raise InputError(
            f"{type(estimator).__name__} is not fitted to rows in partitions (Dask, or files that are streamed): fit "
            "it to a sample in memory, whose model then places all rows with transform(), or use one of "
            f"{', '.join(sorted(_MAKERS))}."
        )
    room, function = _MAKERS[name].split(".")
    maker: Maker = getattr(import_module(f"gramfold.distributed.{room}"), function)
    return maker


def fit_partitions(estimator: Any, X: Any, y: Any, extras: Mapping[str, Any]) -> Fitted:
    """The model of an estimator whose parameters were checked."""
    name = type(estimator).__name__
    maker = maker_of(estimator)
    if extras.get("sample_weight") is not None:
        raise InputError(f"{name} of rows in partitions takes no sample_weight: leave it out.")
    stages = Stages(estimator.verbose, name, estimator.progress)
    with at_work(estimator.n_jobs), remembered_warnings() as warned, stages("partitions"):
        rows = partitions_of(X, gaps=estimator._reads().missing, stages=stages)  # noqa: SLF001  of every estimator
        model = maker(estimator, rows, {"y": y, **extras})
    return replace(model, timings=stages.seconds, warned=tuple(dict.fromkeys(warned)))
