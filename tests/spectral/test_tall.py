"""Products of tall blocks by slices of rows: as the plain products, whatever the slices and threads."""

import numpy as np
import pytest

from gramfold.spectral import tall


@pytest.fixture(params=[7, 100, 16_384])
def _rows(request, monkeypatch):
    monkeypatch.setattr(tall, "_ROWS", request.param)


def blocks_of(seed, *widths):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((250, width)) for width in widths]


@pytest.mark.usefixtures("_rows")
def test_products_are_the_plain_ones():
    *basis, block = blocks_of(0, 3, 5, 1, 4)
    whole = np.hstack(basis)
    np.testing.assert_allclose(tall.inner(basis, block), whole.T @ block, rtol=1e-12, atol=1e-12)
    coefficients = np.random.default_rng(1).standard_normal((9, 4))
    np.testing.assert_allclose(tall.combined(basis, coefficients), whole @ coefficients, rtol=1e-12, atol=1e-12)
    kept = block.copy()
    np.testing.assert_allclose(tall.minus(block, basis, coefficients), block - whole @ coefficients, atol=1e-12)
    np.testing.assert_array_equal(block, kept)


@pytest.mark.usefixtures("_rows")
def test_what_is_off_a_basis_is_orthogonal_to_it_and_the_rest_is_in_it():
    basis, block = np.linalg.qr(blocks_of(2, 6)[0])[0], blocks_of(3, 4)[0]
    rest = tall.off(basis, block)
    np.testing.assert_allclose(basis.T @ rest, 0, atol=1e-13)
    np.testing.assert_allclose(basis @ (basis.T @ (block - rest)), block - rest, atol=1e-12)
    np.testing.assert_array_equal(tall.off(basis[:, :0], block), block)


@pytest.mark.usefixtures("_rows")
@pytest.mark.parametrize("smallest", [1.0, 1e-3, 1e-9])  # the last is too small for the Gram matrix
def test_orthonormal_columns_span_the_block(smallest):
    block = blocks_of(4, 5)[0] * np.array([1, 1, 1, 1, smallest])
    q, r = tall.orthonormal(block)
    np.testing.assert_allclose(q.T @ q, np.eye(5), atol=1e-8)
    np.testing.assert_allclose(q @ r, block, atol=1e-12)


def test_sums_do_not_depend_on_the_threads(monkeypatch):
    monkeypatch.setattr(tall, "_ROWS", 16)
    *basis, block = blocks_of(5, 8, 8, 8)
    plain = tall.run_blocks
    found = []
    for n_jobs in (1, 2, 5):
        monkeypatch.setattr(tall, "run_blocks", lambda work, parts, n_jobs=n_jobs: plain(work, parts, n_jobs))
        found.append(tall.inner(basis, block).tobytes())
    assert len(set(found)) == 1
