"""Products of tall blocks by slices of rows: as the plain products, whatever the slices and threads."""

import numpy as np
import pytest

from gramfold.spectral import tall

# one slice, one slice and a single row, and several with a shorter last one
slices = pytest.mark.parametrize("n", [250, 16_385, 40_000])


def blocks_of(seed, n, *widths):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, width)) for width in widths]


def test_the_sizes_are_those_of_the_slices():
    counts = []
    tall._by_rows(16_385, lambda rows: counts.append(rows.stop - rows.start))
    assert sorted(counts) == [1, 16_384]


@slices
def test_products_are_the_plain_ones(n):
    *basis, block = blocks_of(0, n, 3, 5, 1, 4)
    whole = np.hstack(basis)
    np.testing.assert_allclose(tall.inner(basis, block), whole.T @ block, rtol=1e-12, atol=1e-11)
    coefficients = np.random.default_rng(1).standard_normal((9, 4))
    np.testing.assert_allclose(tall.combined(basis, coefficients), whole @ coefficients, rtol=1e-12, atol=1e-12)
    kept = block.copy()
    np.testing.assert_allclose(tall.minus(block, basis, coefficients), block - whole @ coefficients, atol=1e-12)
    np.testing.assert_array_equal(block, kept)


@slices
def test_what_is_off_a_basis_is_orthogonal_to_it_and_the_rest_is_in_it(n):
    basis, block = np.linalg.qr(blocks_of(2, n, 6)[0])[0], blocks_of(3, n, 4)[0]
    rest = tall.off(basis, block)
    np.testing.assert_allclose(basis.T @ rest, 0, atol=1e-13)
    np.testing.assert_allclose(basis @ (basis.T @ (block - rest)), block - rest, atol=1e-12)
    np.testing.assert_array_equal(tall.off(basis[:, :0], block), block)


@slices
@pytest.mark.parametrize("smallest", [1.0, 1e-3, 1e-9])  # the last is too small for the Gram matrix
def test_orthonormal_columns_span_the_block(smallest, n):
    block = blocks_of(4, n, 5)[0] * np.array([1, 1, 1, 1, smallest])
    q, r = tall.orthonormal(block)
    np.testing.assert_allclose(q.T @ q, np.eye(5), atol=1e-8)
    np.testing.assert_allclose(q @ r, block, atol=1e-12)


def test_sums_do_not_depend_on_the_threads(monkeypatch):
    *basis, block = blocks_of(5, 40_000, 8, 8, 8)
    plain = tall.run_blocks
    found = []
    for n_jobs in (1, 2, 5):
        monkeypatch.setattr(tall, "run_blocks", lambda work, parts, n_jobs=n_jobs: plain(work, parts, n_jobs))
        found.append(tall.inner(basis, block).tobytes())
    assert len(set(found)) == 1
