"""What a model that was fitted on rows in partitions holds of them: a sample."""

from dataclasses import replace
from typing import Any

import numpy as np

from gramfold.distributed.partitions import Partitions
from gramfold.embedding.model import Drawn, Model
from gramfold.embedding.reading import Columns
from gramfold.types import Floats, Integers

SAMPLE = (
    10_000  # rows of a linear map, which needs none: for the inverse, the report and whoever asks how far out rows are
)


def columns_of(rows: Partitions) -> Columns:
    """What is known of the columns."""
    return Columns(rows.width, rows.reader.names, shown=rows.reader.names)


def holding(model: Model, rows: Partitions, numbers: Integers, sample: Floats) -> Model:
    """The model of a map that is a function of the columns, with this sample as its training rows."""
    unit = model.source.unit
    table: Any = model.source
    source: Any = replace(table, rows=unit.inward(sample))
    held = replace(
        model,
        source=source,
        columns=columns_of(rows),
        embedding=np.empty((0, model.dimensions), dtype=rows.dtype),
        drawn=Drawn(rows.n_rows, numbers),
    )
    return replace(held, embedding=held.place(sample, None))
