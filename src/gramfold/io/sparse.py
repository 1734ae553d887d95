"""Read sparse matrices that scipy.sparse.save_npz wrote."""

import os
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from gramfold.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MARK = "format.npy"  # in every file of save_npz


def read_sparse(path: str | os.PathLike[str]) -> "csr_array | None":
    """Read a matrix from a file written by `scipy.sparse.save_npz`.

    Parameters
    ----------
    path : str or path-like
        Name of the file.

    Returns
    -------
    csr_array or None
        The matrix, stored zeros included; None if the file is not one of `save_npz`: `read_table` reads tables.

    Raises
    ------
    InputError
        If the file is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.sparse import eye_array, save_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_npz(Path(folder) / "edges.npz", eye_array(3, k=1))
    ...     edges = read_sparse(Path(folder) / "edges.npz")
    >>> edges.shape, edges.nnz
    ((3, 3), 2)
    """
    path = Path(path)
    if path.suffix.lower() != ".npz":
        return None
    try:
        with ZipFile(path) as archive:
            if _MARK not in archive.namelist():
                return None
    except (BadZipFile, OSError, ValueError):
        return None  # read_table reports what is wrong with the file
    from scipy.sparse import csr_array, load_npz

    try:
        matrix = load_npz(path)  # which reads no pickles
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # indices beyond the matrix would read other memory
    except MemoryError:
        raise
    except Exception as error:  # damaged bytes make a parser raise anything
        raise InputError(
            f"'{path}' is not a readable sparse matrix ({error}): save it again with scipy.sparse.save_npz."
        ) from error
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"'{path}' holds a sparse array of {matrix.ndim} dimensions and dtype {matrix.dtype}: save a matrix of "
            "real numbers."
        )
    return csr_array(matrix)
