"""Places of rows in partitions, lazily: Dask in, Dask out; batches are placed as they are read."""

from copy import copy
from typing import Any
from uuid import uuid4

import numpy as np

from gramfold.distributed.running import key_of, on_worker
from gramfold.neighbors.columns import is_dask


def place_partitions(estimator: Any, way: str, X: Any, **options: Any) -> Any:
    """`way` of the estimator (transform, inverse_transform, extrapolation, predict) for every partition of X."""
    estimator._model()  # noqa: SLF001  an estimator that is not fitted says so now
    if is_dask(X):
        return _lazily(estimator, way, X, options)
    return stream(estimator, way, X, **options)


def stream(estimator: Any, way: str, source: Any, **options: Any) -> np.ndarray:
    """The results for all batches of files or of an array on disk, in one array."""
    from gramfold.distributed.opening import partitions_of

    rows = partitions_of(source)
    found = rows.each(way, lambda block: getattr(estimator, way)(block, **options))
    return np.concatenate([one for one in found if one is not None])


def _lazily(estimator: Any, way: str, X: Any, options: dict[str, Any]) -> Any:
    from dask import delayed

    from gramfold.distributed.dask_rows import in_rows, is_frame

    model = estimator.model_
    lean = copy(estimator)
    lean.set_params(verbose=0, progress=None)
    sent = delayed(lean, name=key_of("model", uuid4().hex[:16], 0), pure=False, traverse=False)
    names = _names(estimator, way)
    X = in_rows(X)
    dtype = model.embedding.dtype if way != "extrapolation" else np.dtype(np.float64)
    if is_frame(X):
        import pandas as pd

        columns = names if way != "extrapolation" else ["extrapolation"]
        meta = pd.DataFrame({name: np.empty(0, dtype) for name in columns}, index=X._meta.index)  # noqa: SLF001  Dask's word for it
        return X.map_partitions(_frame, sent, way, options, meta, meta=meta)
    import dask.array as da

    if way == "extrapolation":
        return da.map_blocks(
            _block,
            X,
            sent=sent,
            way=way,
            options=options,
            width=None,
            drop_axis=1,
            dtype=dtype,
            meta=np.empty(0, dtype),
            name=f"gramfold-{way}-{uuid4().hex}",
        )
    meta = np.empty((0, 0), dtype)
    return da.map_blocks(
        _block,
        X,
        sent=sent,
        way=way,
        options=options,
        width=len(names),
        chunks=(X.chunks[0], (len(names),)),
        dtype=dtype,
        meta=meta,
        name=f"gramfold-{way}-{uuid4().hex}",
    )


def _names(estimator: Any, way: str) -> list[str]:
    if way == "inverse_transform":
        columns = estimator.model_.columns
        return list(columns.names or (f"x{j}" for j in range(columns.count)))
    return [str(name) for name in estimator.get_feature_names_out()]


def _frame(block: Any, sent: Any, way: str, options: dict[str, Any], meta: Any) -> Any:
    import pandas as pd

    if not len(block):
        return meta
    found = _asked(sent, way, block, options)
    return pd.DataFrame(np.asarray(found).reshape(len(block), -1), columns=meta.columns, index=block.index)


def _block(block: Any, sent: Any, way: str, options: dict[str, Any], width: int | None) -> Any:
    if not len(block):
        return np.empty((0, width) if width is not None else 0)
    return _asked(sent, way, block, options)


def _asked(sent: Any, way: str, block: Any, options: dict[str, Any]) -> Any:
    return on_worker(lambda: getattr(sent, way)(block, **options))
