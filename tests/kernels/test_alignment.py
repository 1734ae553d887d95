"""Local penalties added up, and the tangent coordinates that they are made from."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.kernels.alignment import alignment_penalty, tangent_coordinates
from gramfold.types import Neighbors


def ragged(n: int, longest: int, seed: int) -> Neighbors:
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(n) for j in rng.permutation(np.delete(np.arange(n), i))[: rng.integers(1, longest)]]
    rows, columns = np.array(pairs).T
    return Neighbors.from_pairs(rows, columns, rng.random(len(rows)), (n, n))


def block_of(members: np.ndarray) -> np.ndarray:
    """Any block that tells its patch, and the order of its members, from all others."""
    return np.sin(members[:, None] + 2.0 * members[None, :]) + np.eye(len(members)) * members[0]


def blocks(rows: np.ndarray, lists: np.ndarray) -> np.ndarray:
    return np.array([block_of(np.append(i, js)) for i, js in zip(rows, lists, strict=True)])


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 20), st.integers(0, 10_000))
def test_against_a_plain_sum(n: int, seed: int) -> None:
    neighbors = ragged(n, min(n, 8), seed)
    mass = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    P = np.zeros((n, n))
    for i in range(n):
        members = np.append(i, neighbors.indices[neighbors.indptr[i] : neighbors.indptr[i + 1]])
        P[np.ix_(members, members)] += mass[i] * block_of(members)
    np.testing.assert_allclose(alignment_penalty(neighbors, blocks, mass, 3).toarray(), P, atol=1e-12)


def test_blocks_and_threads_change_nothing() -> None:
    neighbors = ragged(60, 7, 0)
    whole = alignment_penalty(neighbors, blocks, np.ones(60), 3, 1).toarray()
    for threads in (1, 3):
        cut = alignment_penalty(neighbors, blocks, np.ones(60), 3, threads, entries_per_block=100)
        np.testing.assert_array_equal(cut.toarray(), whole)


def grams_around_first(patches: np.ndarray) -> np.ndarray:
    differences = patches[:, 1:] - patches[:, :1]
    return differences @ differences.transpose(0, 2, 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(5, 9), st.integers(4, 6))
def test_tangent_coordinates_are_left_singular_vectors(seed: int, d: int, k: int, columns: int) -> None:
    patches = np.random.default_rng(seed).standard_normal((3, k, columns)) * 2.0 ** np.arange(columns)
    U = tangent_coordinates(grams_around_first(patches), d)
    for found, patch in zip(U, patches, strict=True):
        left, values, _ = np.linalg.svd(patch - patch.mean(axis=0), full_matrices=False)
        if (values[:d] > 1.01 * values[1 : d + 1]).all():  # else they are not determined
            np.testing.assert_allclose(np.abs((found * left[:, :d]).sum(axis=0)), 1.0, atol=1e-6)


def test_thin_patches_stay_orthogonal_to_constants() -> None:
    rng = np.random.default_rng(0)
    patches = rng.standard_normal((50, 9, 2)) * [1.0, 1e-5]
    U = tangent_coordinates(grams_around_first(patches), 2)
    np.testing.assert_allclose(U.sum(axis=1), 0.0, atol=1e-13)
    np.testing.assert_allclose(U.transpose(0, 2, 1) @ U, np.broadcast_to(np.eye(2), (50, 2, 2)), atol=1e-13)


def test_directions_that_are_not_there_are_zero() -> None:
    line = np.random.default_rng(0).standard_normal((5, 8, 1)) * np.array([1.0, -2.0, 0.5])
    U = tangent_coordinates(grams_around_first(line), 3)
    np.testing.assert_allclose(np.linalg.norm(U, axis=1), [[1.0, 0.0, 0.0]] * 5, atol=1e-12)
