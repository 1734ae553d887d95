"""Places of rows in partitions, lazily: Dask in, Dask out; batches of files are placed as they are read.

A model goes to a cluster once, whatever the number of partitions (sending.py). For `transform` and `predict` it is the
compact one, which gives the same.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self
from uuid import uuid4

import numpy as np
from sklearn.utils._set_output import _get_output_config

from gramfold.distributed.batches import Batches
from gramfold.distributed.blocks import BlockReader
from gramfold.distributed.opening import partitions_of
from gramfold.embedding.made import made_compact
from gramfold.errors import InputError
from gramfold.neighbors.columns import is_dask
from gramfold.runtime.memory import require_room
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import at_work
from gramfold.runtime.warning import unheard
from gramfold.types import Floats

_NUMBER = np.dtype(np.float64)
_OF_EACH_ROW = {"extrapolation": _NUMBER, "score": _NUMBER, "predict": np.dtype(np.intp)}  # what gives one number
_ROWS = ("inverse_transform", "impute", "reconstruct")  # what gives rows
_COMPACT = ("transform", "predict")  # what reads nothing else
_ANY = ("inverse_transform", "extrapolation")  # what may read coordinates


def place_partitions(estimator: Any, way: str, X: Any, **options: Any) -> Any:
    """`way` of the estimator (transform, predict, score_samples …) for every partition of X."""
    estimator._model()  # noqa: SLF001  an estimator that is not fitted says so now
    if is_dask(X):
        return _of_dask(estimator, way, X, options)
    gaps = estimator.model_.reads.missing and way != "inverse_transform"
    stages = Stages(estimator.verbose, type(estimator).__name__, estimator.progress)
    known = None if way in _ANY else estimator.model_.columns.names
    rows: Any = partitions_of(X, gaps=gaps, stages=stages, known=known)
    if isinstance(rows, Batches):
        return _streamed(estimator, way, rows, options)
    return _of_dask(estimator, way, rows.collection, options, rows.client)


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of a model, a block of rows at a time."""

    estimator: Any  # that answers, as a copy
    way: str
    options: Mapping[str, Any]
    shape: tuple[int, ...]  # of the answer for one row; (): a number
    names: tuple[str, ...] | None  # of the columns of the answer, where it has columns
    dtype: np.dtype[Any]  # of the answer
    reader: BlockReader  # that knows the partitions by name

    @classmethod
    def of(cls, estimator: Any, way: str, options: Mapping[str, Any], reader: BlockReader) -> Self:
        """Of an estimator, for partitions that this one reads."""
        alone, model = copy(estimator), estimator.model_
        vars(alone).update(verbose=0, progress=None, n_jobs=None, _sklearn_output_config={"transform": "default"})
        lean = made_compact(estimator, model) if way in _COMPACT else model
        if way != "inverse_transform" and (reader.names is None or lean.columns.names is None):
            # scikit-learn says of each block what was said once
            lean = replace(lean, columns=replace(lean.columns, names=reader.names))
        alone.model_ = lean
        asked = cls(alone, way, options, (), None, reader.dtype, reader)
        if way in _OF_EACH_ROW:
            return replace(asked, dtype=_OF_EACH_ROW[way])
        if way == "transform":
            names = tuple(map(str, estimator.get_feature_names_out()))
            return replace(asked, shape=(len(names),), names=names)
        if way == "inverse_transform":
            names = _columns_of(model)
            return replace(asked, shape=(len(names),), names=names, dtype=model.embedding.dtype)
        return asked.as_for_a_row(_columns_of(model) if way in _ROWS else None)

    def __call__(self, block: Any) -> Any:
        """The answer for a block that has rows."""
        return np.asarray(getattr(self.estimator, self.way)(block, **self.options))

    def as_for_a_row(self, names: tuple[str, ...] | None) -> Self:
        """The same that knows its answer by that for one row; without names, columns have numbers."""
        with unheard():
            found = np.asarray(self(_a_row(self.reader)))
        if names is None and found.ndim == 2:
            names = tuple(f"{self.way}{j}" for j in range(found.shape[1]))
        return replace(self, shape=found.shape[1:], names=names, dtype=found.dtype)

    def nothing(self) -> np.ndarray:
        """The answer for no rows."""
        return np.empty((0, *self.shape), self.dtype)

    def on_worker(self, block: Any, number: int) -> Any:
        """The answer for one partition."""
        from gramfold.distributed.running import on_worker

        self.reader.require_table(block, number)
        if not len(block):
            return self.nothing()
        try:
            return on_worker(self, block)
        except ValueError as error:
            raise InputError(f"{self.reader.named(number)}: {error}") from error


def _columns_of(model: Any) -> tuple[str, ...]:
    """Names of the columns of rows."""
    return tuple(model.columns.names or (f"x{j}" for j in range(model.columns.count)))


def _a_row(reader: BlockReader) -> Any:
    """A row of zeros with these columns."""
    row = np.zeros((1, reader.width), reader.dtype)
    if reader.names is None:
        return row
    import pandas as pd

    return pd.DataFrame(row, columns=list(reader.names))


def check_columns(estimator: Any, way: str, reader: BlockReader) -> None:
    """Say now what is wrong with the columns of all partitions."""
    if way in _ANY or estimator.model_.reads.mixed:
        return
    estimator._read(_a_row(reader))  # noqa: SLF001  of every estimator


# --- Dask


def _of_dask(estimator: Any, way: str, X: Any, options: Mapping[str, Any], client: Any = None) -> Any:
    from gramfold.distributed.dask_rows import in_rows, is_frame, reader_of, require_numeric
    from gramfold.distributed.sending import sent_once

    container = _get_output_config(way, estimator)["dense"] if way == "transform" else "default"
    if container not in {"default", "pandas"}:
        raise InputError(
            f"set_output(transform={container!r}) asks for a table in memory, but X is a Dask collection: use "
            "'pandas', which gives a Dask dataframe, or 'default'."
        )
    X = in_rows(X)
    framed = is_frame(X)
    if not estimator.model_.reads.mixed:
        require_numeric(X)
    reader = reader_of(X)
    check_columns(estimator, way, reader)
    asked = Asked.of(estimator, way, options, reader)
    sent = sent_once(asked, "model", client)
    return _of_frame(asked, sent, X) if framed else _of_array(asked, sent, X, as_frame=container == "pandas")


def _of_frame(asked: Asked, sent: Any, X: Any) -> Any:
    meta = _framed(asked, asked.nothing(), X._meta.index)  # noqa: SLF001  Dask's word for it
    return X.map_partitions(_frame, sent, meta=meta, token=f"gramfold-{asked.way.strip('_')}")


def _of_array(asked: Asked, sent: Any, X: Any, *, as_frame: bool) -> Any:
    import dask.array as da

    axes = list(range(2, 1 + len(asked.shape)))  # beside those of rows and columns
    chunks = (X.chunks[0], *((size,) for size in asked.shape))
    one: Any = {"chunks": chunks, "new_axis": axes or None} if asked.shape else {"drop_axis": 1}
    name = f"gramfold-{asked.way.strip('_')}-{uuid4().hex}"
    found = da.map_blocks(_block, X, sent=sent, dtype=asked.dtype, meta=asked.nothing(), name=name, **one)
    if not as_frame:
        return found
    import dask.dataframe as dd

    return dd.from_dask_array(found, columns=list(asked.names or ()))


def _block(block: Any, sent: Asked, block_id: tuple[int, ...]) -> Any:
    return sent.on_worker(block, block_id[0])


def _frame(block: Any, sent: Asked, partition_info: Any) -> Any:
    return _framed(sent, sent.on_worker(block, partition_info["number"]), block.index)


def _framed(asked: Asked, found: np.ndarray, index: Any) -> Any:
    import pandas as pd

    index = index[: len(found)]
    if found.ndim > 2:  # a matrix for each row, which no dataframe holds
        return found
    if asked.names is None:
        return pd.Series(found, index=index, name=asked.way)
    return pd.DataFrame(found, columns=list(asked.names), index=index)


# --- files


def _streamed(estimator: Any, way: str, rows: Batches, options: Mapping[str, Any]) -> np.ndarray:
    """The answers for all batches, in one array."""
    check_columns(estimator, way, rows.reader)
    # batches come as arrays: their columns were checked
    asked = Asked.of(estimator, way, options, replace(rows.reader, names=None))
    shape = (rows.n_rows, *asked.shape)
    require_room(
        float(np.prod(shape)) * asked.dtype.itemsize,
        f"the result of {way} for {rows.n_rows:,} rows",
        "write it by partition with gramfold transform --out folder/",
    )
    found = np.empty(shape, asked.dtype)

    def work(block: Floats, place: slice) -> None:
        with unheard():  # of a batch, whose rows have other numbers there
            found[place] = asked(block)

    starts = rows.starts
    with at_work(estimator.n_jobs):
        rows.each(way, work, own=[slice(a, a + n) for a, n in zip(starts, rows.sizes, strict=True)])
    return found
