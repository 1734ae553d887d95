"""Scores of rows in partitions: a mean over rows is summed, trustworthiness is that of rows that are drawn."""

from dataclasses import replace
from operator import add
from typing import Any

import numpy as np

from gramfold.diagnostics import Judged, trustworthiness
from gramfold.diagnostics.partitions import MOST
from gramfold.distributed.opening import partitions_of
from gramfold.distributed.placing import Asked, check_columns
from gramfold.distributed.together import drawn_together
from gramfold.embedding.scoring import refuse_precomputed
from gramfold.errors import InputError
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import at_work
from gramfold.runtime.warning import unheard
from gramfold.types import Floats


def score_sum(estimator: Any, X: Any) -> tuple[float, int]:
    """The `score` of an estimator, a mean over rows, as its sum over all of them; and how many they are."""
    model = estimator._model()  # noqa: SLF001  of every estimator
    stages = Stages(estimator.verbose, type(estimator).__name__, estimator.progress)
    with at_work(estimator.n_jobs), stages("score"):
        rows = partitions_of(X, gaps=model.reads.missing, stages=stages, known=model.columns.names)
        check_columns(estimator, "score", rows.reader)
        asked = Asked.of(estimator, "score", {}, replace(rows.reader, names=None))
        found = rows.total("score", _scored, add, asked)
    if found is None:
        raise InputError("the partitions of X hold no rows, so that there is no score: check what was selected.")
    total, n = found
    return float(total), int(n)


def _scored(rows: Floats, asked: Asked) -> np.ndarray:
    """Sum and number of one partition."""
    with unheard():
        return np.array([float(asked(rows)) * len(rows), len(rows)])


def drawn_score(estimator: Any, X: Any) -> float:
    """Trustworthiness of the places of rows that are drawn."""
    model = estimator._model()  # noqa: SLF001  of every estimator
    refuse_precomputed(model)
    if model.reads.mixed:
        raise InputError(
            f"{model.name} was fitted with metric='gower', whose rows may hold categories, but score reads rows in "
            "partitions as numbers: pass a sample in memory."
        )
    opened = partitions_of(X, known=model.columns.names)
    (rows,) = drawn_together({"X": opened}, MOST, np.random.RandomState(0)).tables
    return float(trustworthiness(Judged(rows, np.asarray(estimator.transform(rows)), n_jobs=estimator.n_jobs)).value)
