"""Read what describes the noise: distorted versions of the rows, or covariance matrices."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from gramfold.errors import InputError
from gramfold.neighbors.columns import as_table, require_numbers
from gramfold.types import Floats

_SLIGHTLY = 1e-8  # relative to the largest entry


def is_given(distorted: Any) -> bool:
    """Whether distorted rows were given, for at least one of several layers."""
    return any(one is not None for one in (distorted if isinstance(distorted, list | tuple) else [distorted]))


def read_distorted(distorted: Any, shape: tuple[int, int], name: str = "X_distorted") -> Floats:
    """Read distorted versions (N, m, d) of rows of shape (m, d)."""
    read: Floats = check_array(
        distorted, dtype=(np.float64, np.float32), allow_nd=True, ensure_all_finite=False, input_name=name
    )
    if read.ndim == 2:
        read = read[None]
    if read.ndim != 3 or read.shape[1:] != shape:
        raise InputError(
            f"{name} has shape {np.shape(distorted)}, but X has shape {shape}: pass one distorted version of each row, "
            f"shape {shape}, or several, shape (n_versions, {shape[0]}, {shape[1]})."
        )
    if not np.isfinite(read).all():
        version, row, column = (int(i) for i in np.argwhere(~np.isfinite(read))[0])
        raise InputError(
            f"{name} contains {read[version, row, column]} in version {version}, row {row}, column {column}: "
            "remove such rows or fill in the values."
        )
    return read


def read_matrix(matrix: Any, d: int, name: str) -> Floats:
    """Read a symmetric positive semidefinite (d, d) matrix."""
    matrix = as_table(matrix, name)
    if matrix.shape != (d, d):
        raise InputError(f"{name} has shape {matrix.shape}, but X has {d} columns: pass a matrix of shape ({d}, {d}).")
    require_numbers(matrix, name)
    read: Floats = check_array(matrix, dtype=np.float64, input_name=name)
    size = float(np.abs(read).max())
    if float(np.abs(read - read.T).max()) > _SLIGHTLY * size:
        raise InputError(f"{name} is not symmetric: pass (A + A.T) / 2 if it is nearly symmetric.")
    lowest = float(np.linalg.eigvalsh(read)[0])
    if lowest < -_SLIGHTLY * size:
        raise InputError(f"{name} has the negative eigenvalue {lowest:.2g}: pass a positive semidefinite matrix.")
    return read
