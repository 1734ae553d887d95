"""A model without all that `transform` does not read, and what of the training data a model holds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from gramfold.embedding.model import Fitted
from gramfold.extension.extrapolation import CORNERS
from gramfold.types import LeftOut

Some = TypeVar("Some", bound=Fitted)


def compacted(model: Some) -> Some:
    """The same model, in which `LeftOut` stands for all that `transform` (or `predict`) does not read.

    Places of new rows and of training rows are the same to the last bit, with the same warnings. One differs: linear
    and continuous maps, and kernels over landmarks, hold no rows that a new one could be far from. There the warning of
    rows outside of the training data goes by the ball about these, and is given for fewer of them (`Rim`).

    What is left out raises `LeftOutError`: `embedding_`, `kernel_`, `spectrum_`, `graph_`, `inverse_transform`,
    attributes with an entry for each training row. Exact Isomap keeps its n × n shortest paths: a new row takes the
    shortest of those from its neighbours to each row, which no smaller factor knows; landmarks make them n × m, and a
    streamed map keeps the graph in their place. A
    kernel that was repaired keeps its n × n distances, or those of the landmarks: rows at the same place are told apart
    by them. An estimator without `transform` has no compact model, and raises `InputError`.
    """
    return model.compacted()


@dataclass(frozen=True)
class TrainingData:
    """What of the training data is in a model."""

    rows: int  # as many of the training rows themselves, up to the unit; identical ones may count once
    n_rows: int  # that it was fitted on
    others: tuple[str, ...]  # what else there is of them, in words

    def __str__(self) -> str:
        if self.rows == 0:
            found = "no training rows"
        elif self.rows >= self.n_rows:
            found = f"all {self.n_rows:,} training rows"
        else:
            found = f"{self.rows:,} different rows of {self.n_rows:,} training rows"
        return "; ".join([found, *self.others])


def training_rows_in(model: Fitted) -> TrainingData:
    """What of the training data is in a model, by what its fields hold (`ROWS`, `COORDINATES` … in gramfold.types).

    Rows count wherever they are: in a search index, as landmarks, in a kernel. Not told of are the mean of all rows,
    axes, variances, and the least and largest value of a coordinate. Rows with categories are held as numbers, whose
    meaning is in the categories of the columns.
    """
    held = [(_seen(what, model), one) for what, one in _held(model)]
    words = {
        "coordinates": _coordinates_in_words([one for what, one in held if what == "coordinates"], model),
        "distances": "distances or kernel values between training rows",
        "centers": "centres of groups of training rows, and the centre of one row alone is that row",
        "categories": "the categories of the columns",
        "own objects": "objects of the user's, which may hold anything",
    }
    there = {what for what, _ in held}
    others = tuple(text for what, text in words.items() if what in there)
    return TrainingData(max((one.shape[0] for what, one in held if what == "rows"), default=0), model.n_rows, others)


def _seen(what: str, model: Fitted) -> str:
    """Rows of precomputed input hold distances or kernel values."""
    return "distances" if what == "rows" and model.reads.precomputed else what


def _coordinates_in_words(found: list[Any], model: Fitted) -> str:
    wide = max((one.shape[1] for one in found), default=0) >= model.columns.count
    undone = ", as many for each as it has columns: from those of a linear map rows can be computed back"
    return f"coordinates of training rows{undone if wide else ''}"


def _held(node: Any) -> Iterator[tuple[str, Any]]:
    """What the fields of a model hold, and the values."""
    if isinstance(node, LeftOut | type):
        return
    if is_dataclass(node):
        for one in fields(node):
            value, what = getattr(node, one.name), one.metadata.get("holds")
            if what in {"categories", "centers"} or (_is_array(value) and _is_told(what, value)):
                yield str(what), value
            else:
                yield from _held(value)
    elif isinstance(node, Mapping | tuple | list):
        for value in node.values() if isinstance(node, Mapping) else node:
            yield from _held(value)
    elif callable(node) or hasattr(node, "get_params"):
        yield "own objects", node


def _is_array(value: Any) -> bool:
    return issparse(value) or isinstance(value, np.ndarray)


def _is_told(what: str | None, value: Any) -> bool:
    return what is not None and not (what == "coordinates" and value.shape[0] <= CORNERS)
