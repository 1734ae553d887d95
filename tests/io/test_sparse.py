"""Sparse matrices in files of scipy.sparse.save_npz."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, random_array, save_npz

from gramfold.errors import InputError
from gramfold.io import read_sparse, write_table

MATRIX = random_array((20, 15), density=0.2, format="csr", rng=np.random.default_rng(0))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("compressed", [True, False])
def test_what_scipy_wrote(form, compressed, tmp_path):
    save_npz(tmp_path / "matrix.npz", MATRIX.asformat(form), compressed=compressed)
    found = read_sparse(tmp_path / "matrix.npz")
    assert isinstance(found, csr_array)
    np.testing.assert_array_equal(found.toarray(), MATRIX.toarray())


def test_stored_zeros_stay(tmp_path):
    edges = coo_array(([0.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))  # an edge of length 0 is an edge
    save_npz(tmp_path / "edges.npz", edges)
    assert read_sparse(tmp_path / "edges.npz").nnz == 2


def test_other_files_are_none(tmp_path):
    write_table(tmp_path / "table.npz", np.eye(3), ["x", "y", "z"])
    write_table(tmp_path / "table.csv", np.eye(3), ["x", "y", "z"])
    (tmp_path / "text.npz").write_text("not a zip archive")
    for name in ("table.npz", "table.csv", "text.npz", "absent.npz"):
        assert read_sparse(tmp_path / name) is None


@pytest.mark.parametrize(
    "arrays",
    [
        {"shape": (2, 2), "data": [1.0], "indices": [7], "indptr": [0, 1, 1]},  # beyond the last column
        {"shape": (2, 2), "data": [1.0], "indices": [0], "indptr": [0, 9, 1]},
        {"shape": (2, 2), "data": [1.0]},
        {"shape": (2, 2), "data": np.array([{}], dtype=object), "indices": [0], "indptr": [0, 1, 1]},  # a pickle
    ],
)
def test_damage_is_reported(arrays, tmp_path):
    np.savez(tmp_path / "matrix.npz", format=b"csr", **arrays)
    with pytest.raises(InputError, match=r"is not a readable sparse matrix \(.*\): save it again with scipy"):
        read_sparse(tmp_path / "matrix.npz")
