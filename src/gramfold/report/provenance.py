"""How a map was made, so that it can be made again: the call, the versions, and a digest of the rows."""

import platform
import sys
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline

from gramfold.embedding.written import written

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
_AT_A_TIME = 65_536  # rows


def versions() -> dict[str, str]:
    """Of gramfold, Python and what the numbers depend on."""
    import gramfold

    found = {"gramfold": gramfold.__version__, "Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # installed in a way that leaves no record
            module = sys.modules.get(name.replace("scikit-learn", "sklearn"))
            found[name] = str(getattr(module, "__version__", "unknown"))
    return found


def digest_of(X: Any) -> str:
    """SHA-256 of the values of a table, in hexadecimal: the same for the same numbers, whatever holds them.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_rows, n_columns)
        Rows; numbers count in double precision, all else as it is written.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.report import digest_of
    >>> digest_of([[1, 2], [3, 4]])[:16]
    '033c00d0635b5614'
    >>> digest_of(np.array([[1, 2], [3, 4]], dtype=np.float32))[:16]
    '033c00d0635b5614'
    """
    if issparse(X):
        rows = X.tocsr(copy=True)
        rows.sum_duplicates()
        found = sha256(f"sparse {rows.shape[0]} {rows.shape[1]}\n".encode())
        for part, kind in ((rows.indptr, "<i8"), (rows.indices, "<i8"), (rows.data, "<f8")):
            found.update(np.ascontiguousarray(part, dtype=kind).tobytes())
        return found.hexdigest()
    rows = np.asarray(X)
    found = sha256(f"dense {' '.join(map(str, rows.shape))}\n".encode())
    for start in range(0, len(rows) if rows.ndim else 0, _AT_A_TIME):
        part = rows[start : start + _AT_A_TIME]
        if part.dtype.kind in "biuf":
            found.update(np.ascontiguousarray(part, dtype="<f8").tobytes())
        else:
            found.update("\x1e".join(map(repr, part.ravel().tolist())).encode("utf-8", "backslashreplace"))
    return found.hexdigest()


def call_of(fitted: Any, steps: Sequence[Any] = ()) -> str:
    """The Python code that makes the map of a table X again.

    Parameters
    ----------
    fitted : estimator
        The method.
    steps : sequence of estimators
        Those before it in its pipeline.
    """
    made = Pipeline([(str(j), step) for j, step in enumerate((*steps, fitted))]) if steps else fitted
    return written(made).rstrip()
