"""Matrices whose entries are computed for each product, against the same matrices stored."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigvals

from gramfold.errors import InputError, NotConvergedError
from gramfold.kernels import streamed_repair
from gramfold.kernels.gram import centered_gram
from gramfold.kernels.mercer import WithRoots, additive_constant, mercer_gram, smallest_shift
from gramfold.kernels.opening import near_eigenvectors, opened_gram
from gramfold.kernels.streamed import StreamedMatrix, rows_of_strip, stream_width, streams_rows
from gramfold.kernels.streamed_repair import streamed_constant, streamed_shift
from gramfold.runtime.threads import StopFlag, blocks, one_blas_thread
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats


@pytest.fixture(autouse=True)
def _as_in_a_fit() -> Iterator[None]:
    with one_blas_thread():
        yield


@dataclass(frozen=True, eq=False)
class Shown(StreamedMatrix):
    """A stored matrix, of which strips are shown and counted."""

    stored: Floats
    columns: int = 7
    shown: list[int] = field(default_factory=list)  # entries of each block

    def __len__(self) -> int:
        return len(self.stored)

    @property
    def dtype(self) -> np.dtype:
        return self.stored.dtype

    def parts(self) -> list[slice]:
        return blocks(len(self), self.columns)

    def strip(self, part: slice, stop: StopFlag) -> Iterator[tuple[slice, Floats]]:
        for rows in rows_of_strip(part, 10):
            block = self.stored[rows, part].copy()
            self.shown.append(block.size)
            yield rows, block

    def take(self, rows: np.ndarray) -> Floats:
        return self.stored[rows]

    def diagonal(self) -> Floats:
        return np.diagonal(self.stored)


def symmetric(n: int, seed: int = 0) -> Floats:
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A + A.T


def distances(n: int, seed: int = 0) -> Floats:
    """Squares of distances along a ring and across it, which no Euclidean space has."""
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return np.square(np.abs(X[:, None] - X).sum(axis=2) ** 1.5)


def shown(stored: Floats, columns: int = 64) -> Shown:
    return Shown(stream_width(2), stored, columns)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 60), st.integers(1, 4), st.integers(1, 70), st.integers(0, 99))
def test_a_product_is_that_of_the_stored_matrix(n: int, width: int, columns: int, seed: int) -> None:
    stored, V = symmetric(n, seed), np.random.default_rng(seed + 1).standard_normal((n, width))
    np.testing.assert_allclose(shown(stored, columns).times(V), stored @ V, atol=1e-10)


def test_changes_of_the_entries_share_a_pass() -> None:
    stored, V = distances(50), np.random.default_rng(0).standard_normal((50, 3))
    matrix = shown(stored, 7)
    plain, rooted, raised = matrix.passed(V, [None, np.sqrt, WithRoots(2.0)])
    entries = sum(matrix.shown)
    np.testing.assert_allclose(plain, stored @ V)
    np.testing.assert_allclose(rooted, np.sqrt(stored) @ V)
    np.testing.assert_allclose(raised, (stored + 4.0 * np.sqrt(stored)) @ V)
    assert 50 * 51 / 2 <= entries < 0.6 * 50 * 50  # about half of the matrix, once for all


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, V = shown(symmetric(200), 7), np.random.default_rng(0).standard_normal((200, 3))
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(Shown, "n_jobs", threads)
        found.append(matrix.times(V).tobytes())
    assert len(set(found)) == 1


def test_what_is_remembered_costs_no_pass() -> None:
    stored, rng = symmetric(40), np.random.default_rng(0)
    matrix, V = shown(stored), rng.standard_normal((40, 5))
    matrix.remember(V, [None, np.abs])
    seen, inside = len(matrix.shown), V @ rng.standard_normal((5, 2))
    np.testing.assert_allclose(matrix.times(inside), stored @ inside, atol=1e-10)
    np.testing.assert_allclose(matrix.times(inside, np.abs), np.abs(stored) @ inside, atol=1e-10)
    assert len(matrix.shown) == seen
    outside = inside + 1e-6 * rng.standard_normal((40, 2))
    np.testing.assert_allclose(matrix.times(outside), stored @ outside, atol=1e-10)
    assert len(matrix.shown) > seen


def test_rows_are_taken_as_an_array_has_them() -> None:
    stored = symmetric(12)
    matrix = shown(stored)
    for key in (3, -1, slice(2, 9, 3), [4, 1], np.array([], dtype=int), np.arange(12) > 8):
        np.testing.assert_array_equal(matrix[key], stored[key])


def test_an_error_in_a_strip_is_raised() -> None:
    def refuse(block: Floats) -> Floats:
        raise ArithmeticError("here")

    with pytest.raises(ArithmeticError, match="here"):
        shown(symmetric(100)).times(np.ones((100, 1)), refuse)


@pytest.mark.parametrize("weighted", [False, True])
def test_an_opened_gram_is_the_centred_gram(weighted: bool) -> None:
    stored, rng = distances(300), np.random.default_rng(1)
    mass = rng.integers(1, 5, 300).astype(float) if weighted else None
    plain, gram = centered_gram(stored, scale=-0.5, mass=mass), opened_gram(shown(stored), -0.5, mass)
    np.testing.assert_allclose(gram.means, plain.means)
    assert gram.grand_mean == pytest.approx(plain.grand_mean)
    np.testing.assert_allclose(gram.columns(np.array([4, 250])), plain.columns(np.array([4, 250])), atol=1e-8)
    np.testing.assert_allclose(gram.squared_distances(3), plain.squared_distances(3), atol=1e-8)
    assert gram.trace() == pytest.approx(plain.trace())
    found, expected = leading_spectrum(gram, 3), leading_spectrum(plain, 3)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-9)
    np.testing.assert_allclose(found.eigenvectors, expected.eigenvectors, atol=1e-5)
    assert found.residuals.max() <= 1e-6


def test_the_first_pass_begins_near_the_eigenvectors() -> None:
    X = np.random.default_rng(0).standard_normal((600, 5)) * [5, 4, 1, 1, 1]
    near = near_eigenvectors(shown(X @ X.T), 1.0, np.ones(600))
    expected = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0]
    span = np.column_stack([near, np.ones(600)])  # landmarks have a mean of their own
    outside = expected[:, :2] - span @ np.linalg.lstsq(span, expected[:, :2], rcond=None)[0]
    assert near.shape == (600, 5)  # a landmark kernel of rank five has no more directions
    assert np.linalg.norm(outside, axis=0).max() < 1e-8


def test_the_proof_is_a_pass_of_its_own() -> None:
    gram = opened_gram(shown(distances(400)), -0.5, None)
    spectrum = leading_spectrum(gram, 2)
    K = gram.matrix()
    misfit = np.linalg.norm(K @ spectrum.eigenvectors - spectrum.eigenvectors * spectrum.eigenvalues, axis=0)
    np.testing.assert_allclose(spectrum.residuals, misfit / spectrum.eigenvalues, atol=1e-12)
    assert spectrum.solver == "block Lanczos, streamed"


@pytest.mark.parametrize("n", [4, 40, 120])
def test_constants_are_those_of_stored_squares_and_of_the_paper(n: int) -> None:
    stored = distances(n)
    c, a = streamed_constant(shown(stored, 40)), streamed_shift(shown(stored, 40))
    H = np.eye(n) - 1 / n
    K2, K1 = -0.5 * H @ stored @ H, -0.5 * H @ np.sqrt(stored) @ H
    pencil = np.block([[np.zeros((n, n)), 2 * K2], [-np.eye(n), -4 * K1]])
    assert c == pytest.approx(eigvals(pencil).real.max(), rel=1e-7)
    assert c == pytest.approx(additive_constant(stored), rel=1e-7)
    assert a == pytest.approx(-np.linalg.eigvalsh(K2)[0], rel=1e-7)
    assert a == pytest.approx(smallest_shift(stored), rel=1e-7)
    assert c > 0


def test_euclidean_distances_need_no_constant() -> None:
    X = np.random.default_rng(0).standard_normal((60, 2))
    squares = np.square(X[:, None] - X).sum(axis=2)
    assert streamed_shift(shown(squares)) < 1e-9
    assert streamed_constant(shown(np.zeros((9, 9)))) == streamed_shift(shown(np.zeros((9, 9)))) == 0.0


def test_a_constant_that_needs_more_passes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_repair, "_MOST_PASSES", 1)
    with pytest.raises(NotConvergedError, match=r"of 300 rows Euclidean did not converge in 1 passes"):
        streamed_constant(shown(distances(300)))


@pytest.mark.parametrize("repair", ["constant", "shift", None])
def test_repaired_grams_are_those_of_stored_squares(repair: str | None) -> None:
    stored, V = distances(300), np.random.default_rng(0).standard_normal((300, 2))
    gram, plain = mercer_gram(shown(stored), repair), mercer_gram(stored, repair)
    np.testing.assert_allclose(gram.product(V), plain.product(V), rtol=1e-6, atol=1e-6)
    fresh = stored[:4] + 0.1
    np.testing.assert_allclose(gram.cross(fresh), plain.cross(fresh), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gram.matrix(), plain.matrix(), rtol=1e-6, atol=1e-6)


def test_what_cannot_be_streamed_is_refused() -> None:
    stored = distances(300)
    with pytest.raises(InputError, match="repair='clip' needs all eigenvectors"):
        mercer_gram(shown(stored), "clip")
    with pytest.raises(InputError, match=r"kernel_\.columns"):
        mercer_gram(shown(stored), None).dense()
    with pytest.raises(InputError, match="with metric='precomputed' X is that matrix"):
        streams_rows("stream", "metric", precomputed=True)
    assert not streams_rows("memory", "metric", precomputed=True)


def test_memory_grows_with_the_rows_and_not_with_their_pairs() -> None:
    peaks = []
    for n in (1500, 3000):
        X = np.random.default_rng(0).standard_normal((n, 3))

        @dataclass(frozen=True, eq=False)
        class Outer(Shown):
            def strip(self, part: slice, stop: StopFlag) -> Iterator[tuple[slice, Floats]]:
                for rows in rows_of_strip(part):
                    yield rows, self.stored[rows] @ self.stored[part].T

            def take(self, rows: np.ndarray) -> Floats:
                return self.stored[rows] @ self.stored.T

        matrix = Outer(stream_width(2), X, 64)
        tracemalloc.start()
        opened_gram(matrix, 1.0, None)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2.5 * peaks[0]
    assert peaks[1] < 0.4 * 8 * 3000**2
