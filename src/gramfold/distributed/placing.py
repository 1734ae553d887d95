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
from gramfold.distributed.blocks import BlockReader, float_dtype
from gramfold.distributed.opening import partitions_of
from gramfold.embedding.made import made_compact
from gramfold.errors import InputError
from gramfold.neighbors.columns import is_dask
from gramfold.runtime.memory import require_room
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import at_work
from gramfold.runtime.warning import unheard
from gramfold.types import Floats

_OF_EACH_ROW = {"extrapolation": np.dtype(np.float64), "predict": np.dtype(np.intp)}  # what gives one number for each
_COMPACT = ("transform", "predict")  # what reads nothing else


def place_partitions(estimator: Any, way: str, X: Any, **options: Any) -> Any:
    """`way` of the estimator (transform, inverse_transform, extrapolation, predict) for every partition of X."""
    estimator._model()  # noqa: SLF001  an estimator that is not fitted says so now
    if is_dask(X):
        return _of_dask(estimator, way, X, options)
    gaps = estimator.model_.reads.missing and way != "inverse_transform"
    stages = Stages(estimator.verbose, type(estimator).__name__, estimator.progress)
    rows: Any = partitions_of(X, gaps=gaps, stages=stages)
    if isinstance(rows, Batches):
        return _streamed(estimator, way, rows, options)
    return _of_dask(estimator, way, rows.collection, options, rows.client)


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of a model, a block of rows at a time."""

    estimator: Any  # that answers, as a copy
    way: str
    options: Mapping[str, Any]
    names: tuple[str, ...] | None  # of the columns of the answer; None: one number for each row
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
        dtype = model.embedding.dtype if way == "inverse_transform" else _OF_EACH_ROW.get(way, reader.dtype)
        return cls(alone, way, options, _names(estimator, way), dtype, reader)

    def __call__(self, block: Any) -> Any:
        """The answer for a block that has rows."""
        return np.asarray(getattr(self.estimator, self.way)(block, **self.options))

    def nothing(self) -> np.ndarray:
        """The answer for no rows."""
        return np.empty(0 if self.names is None else (0, len(self.names)), self.dtype)

    def on_worker(self, block: Any, number: int) -> Any:
        """The answer for one partition."""
        from gramfold.distributed.running import on_worker

        if not len(block):
            return self.nothing()
        try:
            return on_worker(self, block)
        except ValueError as error:
            raise InputError(f"{self.reader.named(number)}: {error}") from error


def _names(estimator: Any, way: str) -> tuple[str, ...] | None:
    if way in _OF_EACH_ROW:
        return None
    if way == "inverse_transform":
        columns = estimator.model_.columns
        return tuple(columns.names or (f"x{j}" for j in range(columns.count)))
    return tuple(map(str, estimator.get_feature_names_out()))


def _check_columns(estimator: Any, way: str, reader: BlockReader) -> None:
    """Say now what is wrong with the columns of all partitions."""
    if way not in _COMPACT or estimator.model_.reads.mixed:
        return
    row = np.zeros((1, reader.width), reader.dtype)
    if reader.names is not None:
        import pyarrow as pa

        row = pa.table(dict.fromkeys(reader.names, row[:, 0]))
    estimator._read(row)  # noqa: SLF001  of every estimator


# --- Dask


def _of_dask(estimator: Any, way: str, X: Any, options: Mapping[str, Any], client: Any = None) -> Any:
    from gramfold.distributed.dask_rows import in_rows, is_frame
    from gramfold.distributed.sending import sent_once

    container = _get_output_config(way, estimator)["dense"] if way == "transform" else "default"
    if container not in {"default", "pandas"}:
        raise InputError(
            f"set_output(transform={container!r}) asks for a table in memory, but X is a Dask collection: use "
            "'pandas', which gives a Dask dataframe, or 'default'."
        )
    X = in_rows(X)
    framed = is_frame(X)
    reader = _reader_of(X) if framed else BlockReader(None, int(X.shape[1]), float_dtype([X.dtype]))
    _check_columns(estimator, way, reader)
    asked = Asked.of(estimator, way, options, reader)
    sent = sent_once(asked, "model", client)
    return _of_frame(asked, sent, X) if framed else _of_array(asked, sent, X, as_frame=container == "pandas")


def _reader_of(frame: Any) -> BlockReader:
    from gramfold.distributed.dask_rows import DaskRows

    reader = DaskRows.of(frame).reader
    # as in a table in memory only strings are names
    return reader if all(isinstance(name, str) for name in frame.columns) else replace(reader, names=None)


def _of_frame(asked: Asked, sent: Any, X: Any) -> Any:
    meta = _framed(asked, asked.nothing(), X._meta.index)  # noqa: SLF001  Dask's word for it
    return X.map_partitions(_frame, sent, meta=meta, token=f"gramfold-{asked.way}")


def _of_array(asked: Asked, sent: Any, X: Any, *, as_frame: bool) -> Any:
    import dask.array as da

    one = {"drop_axis": 1} if asked.names is None else {"chunks": (X.chunks[0], (len(asked.names),))}
    name = f"gramfold-{asked.way}-{uuid4().hex}"
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
    if asked.names is None:
        return pd.Series(found, index=index, name=asked.way)
    return pd.DataFrame(found, columns=list(asked.names), index=index)


# --- files


def _streamed(estimator: Any, way: str, rows: Batches, options: Mapping[str, Any]) -> np.ndarray:
    """The answers for all batches, in one array."""
    _check_columns(estimator, way, rows.reader)
    # batches come as arrays: their columns were checked
    asked = Asked.of(estimator, way, options, replace(rows.reader, names=None))
    shape = (rows.n_rows,) if asked.names is None else (rows.n_rows, len(asked.names))
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
