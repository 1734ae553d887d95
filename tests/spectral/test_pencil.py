"""The symmetric forms of a kernel with mass."""

import numpy as np
from scipy.sparse import csr_array

from gramfold.spectral.pencil import null_basis, one_norm, symmetric_penalty
from tests.spectral.examples import path, penalty_kernel


def test_symmetric_form_and_its_null_vector() -> None:
    mass = np.random.default_rng(0).lognormal(size=30)
    kernel = penalty_kernel(path(30), mass)
    A, root = symmetric_penalty(kernel)
    np.testing.assert_allclose(A.toarray() * np.outer(root, root), path(30).toarray(), atol=1e-13)
    null = null_basis(kernel)
    np.testing.assert_allclose(A @ null, 0.0, atol=1e-13)
    np.testing.assert_allclose(null.T @ null, [[1.0]], atol=1e-14)


def test_a_kernel_without_mass_is_its_own_form() -> None:
    kernel = penalty_kernel(path(5))
    assert symmetric_penalty(kernel)[0] is kernel.penalty


def test_one_norm_bounds_every_eigenvalue() -> None:
    assert one_norm(path(40)) == 4.0
    assert one_norm(path(40)) >= np.linalg.eigvalsh(path(40).toarray())[-1]
    assert one_norm(csr_array((3, 3))) == 1.0
