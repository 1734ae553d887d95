"""A symmetric matrix that is never stored: its blocks are computed for a product, used and forgotten.

    strip s, the rows s of B up to their own columns:    (B V)_s += B_s V_≤s,    (B V)_<s += B_s,<sᵀ V_s

So half of the entries are computed in each pass over the matrix. A pass is what costs, however many vectors there are:
what one has found is kept for whoever asks for a product within the span of its vectors.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.runtime.memory import GIGABYTE, fits
from gramfold.runtime.progress import current_stages
from gramfold.runtime.threads import StopFlag, blocks, one_blas_thread, run_blocks, stop_flag, thread_count
from gramfold.types import ROWS, Floats, Plain

Change = Callable[[Floats], Floats]  # of the entries of a block, which it may overwrite

_ROWS_PER_BLOCK = 512  # of a strip: they stay in cache while they are changed and multiplied
_COLUMNS, _ROWS_PER_CALL = 256, 4_096  # of a strip of values of rows, and of one call of their function
_STRIPS_PER_THREAD = 4  # whose products wait to be summed
LANDMARKS = 256  # whose kernel the search for eigenvectors begins with
# Vectors of a pass: few enough for their products to cost less than the entries, enough for few passes.
_LEAST_WIDTH, _SPARE = 16, 8
_LANDMARKS_HELD, _BASES = 2, 30  # copies of the landmarks' columns; blocks of vectors that a search holds
_WITHIN = 1e-12  # a vector is in a span if this share of it is not outside


STREAM = "stream"  # the value of `storage` by which nothing is stored


@dataclass(frozen=True, eq=False)
class StreamedMatrix(Plain, ABC):
    """A subclass says how strips are made."""

    width: int  # how many vectors a pass may as well have that looks for eigenvectors

    @abstractmethod
    def __len__(self) -> int:
        """Rows and columns."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Of the entries as they are computed."""

    @abstractmethod
    def parts(self) -> list[slice]:
        """The columns of each strip."""

    @abstractmethod
    def strip(self, part: slice, stop: StopFlag) -> Iterator[tuple[slice, Floats]]:
        """The entries (r, b) of these columns and of some rows, over all rows up to part.stop.

        No block has rows before part.start and others; each is the caller's.
        """

    @abstractmethod
    def take(self, rows: np.ndarray) -> Floats:
        """Some rows, (m, n)."""

    @abstractmethod
    def diagonal(self) -> Floats:
        """The entries on it, (n,)."""

    def ready(self) -> None:
        """Make what all strips share, before several threads ask for it."""

    @property
    def n_jobs(self) -> int | None:
        """Threads that may make strips; None: as many as the estimator at work has."""
        return None

    @property
    def shape(self) -> tuple[int, int]:
        """That of the matrix."""
        return len(self), len(self)

    @property
    def size(self) -> int:
        """Number of its entries."""
        return len(self) ** 2

    def __getitem__(self, key: Any) -> Floats:
        """The rows of this index, as an array gives them."""
        rows = np.arange(len(self))[key]
        return self.take(rows) if rows.ndim else self.take(rows[None])[0]

    def times(self, vectors: Floats, change: Change | None = None) -> Floats:
        """B V; with `change`, of the matrix whose entries went through it."""
        known = self._recalled(vectors, change)
        return self.passed(vectors, [change])[0] if known is None else known

    def remember(self, vectors: Floats, changes: Sequence[Change | None] = (None,)) -> None:
        """Compute B V now, by each change, for products with vectors of their span."""
        basis = np.linalg.qr(vectors)[0]
        images = self.passed(basis, changes)
        self._memory[:] = [(basis, *pair) for pair in zip(images, changes, strict=True)]

    def passed(self, vectors: Floats, changes: Sequence[Change | None]) -> list[Floats]:
        """B V by each change, in one pass over the matrix."""
        self.ready()
        n, width = vectors.shape
        vectors, stop = np.ascontiguousarray(vectors, dtype=np.float64), stop_flag()
        sums: list[Floats] = [np.zeros((n, width)) for _ in changes]

        def work(part: slice) -> list[Floats]:
            return self._strip_times(part, vectors, changes, stop)

        parts, threads = self.parts(), thread_count(self.n_jobs)
        groups = blocks(len(parts), _STRIPS_PER_THREAD * threads)
        with one_blas_thread():  # the pool's threads are enough
            for group in current_stages().bar(groups, len(groups), "pass"):
                for part, found in zip(
                    parts[group], run_blocks(work, parts[group], self.n_jobs, stop=stop), strict=True
                ):
                    for total, one in zip(sums, found, strict=True):
                        total[: part.stop] += one
        return sums

    def _strip_times(
        self, part: slice, vectors: Floats, changes: Sequence[Change | None], stop: StopFlag
    ) -> list[Floats]:
        """What a strip adds to the rows of the product up to its own."""
        found: list[Floats] = [np.zeros((part.stop, vectors.shape[1])) for _ in changes]
        for rows, values in self.strip(part, stop):
            block = values.astype(np.float64, copy=False)
            for i, (change, sums) in enumerate(zip(changes, found, strict=True)):
                spare = block if i + 1 == len(changes) else block.copy()
                changed = spare if change is None else change(spare)
                sums[part] += changed.T @ vectors[rows]
                if rows.start < part.start:
                    sums[rows] += changed @ vectors[part]
        return found

    def forget(self) -> None:
        """Drop what `remember` has computed."""
        self._memory.clear()

    @property
    def remembered(self) -> Floats | None:
        """Orthonormal vectors (n, p) in whose span a product costs nothing; None where there are none."""
        return self._memory[0][0] if self._memory else None

    def _recalled(self, vectors: Floats, change: Change | None) -> Floats | None:
        for basis, images, known in self._memory:
            if known == change:
                along = basis.T @ vectors
                outside = np.linalg.norm(vectors - basis @ along, axis=0)
                if (outside <= _WITHIN * np.linalg.norm(vectors, axis=0)).all():
                    return np.asarray(images @ along)
        return None

    @cached_property
    def _memory(self) -> list[tuple[Floats, Floats, Change | None]]:
        return []


@dataclass(frozen=True, eq=False)
class StreamedRows(StreamedMatrix):
    """Values of each two rows; a subclass says which."""

    rows: Any = field(metadata=ROWS)  # (n, d)

    @abstractmethod
    def block(self, left: Any, right: Any) -> Floats:
        """Values (m, b) of two sets of rows, in float64."""

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    def parts(self) -> list[slice]:
        return blocks(len(self), _COLUMNS)

    def strip(self, part: slice, stop: StopFlag) -> Iterator[tuple[slice, Floats]]:
        right = self.rows[part]
        for some in rows_of_strip(part, _ROWS_PER_CALL):
            if stop[0]:
                return
            yield some, self.block(self.rows[some], right)

    def take(self, rows: np.ndarray) -> Floats:
        return np.vstack([self.block(self.rows[rows[some]], self.rows) for some in blocks(len(rows), _COLUMNS)])


def rows_of_strip(part: slice, count: int = _ROWS_PER_BLOCK) -> list[slice]:
    """The rows of a strip, at most so many at a time: those before its columns, and then these."""
    own = blocks(part.stop - part.start, count)
    return [*blocks(part.start, count), *(slice(part.start + one.start, part.start + one.stop) for one in own)]


def streams_rows(storage: str, what: str, precomputed: bool) -> bool:
    """Whether this storage is none, which needs rows; `what` is the parameter that says what X holds."""
    if storage == STREAM and precomputed:
        raise InputError(
            f"storage='stream' computes the n x n matrix from rows, but with {what}='precomputed' X is that matrix: "
            "use storage='memory'."
        )
    return storage == STREAM


def stream_width(dimensions: int) -> int:
    """How many vectors a pass has for a map of so many dimensions."""
    return max(_LEAST_WIDTH, dimensions + _SPARE)


def stream_memory(n: int, width: int, held: float = 0.0) -> float:
    """Bytes of passes over n rows, of which a strip holds so many bytes for each row."""
    strips = thread_count(None) * (held + _STRIPS_PER_THREAD * 8 * width)
    return float(n) * (strips + 8 * (_LANDMARKS_HELD * LANDMARKS + _BASES * width))


def stream_advice(n: int, width: int, held: float = 0.0, beside: float = 0.0) -> list[str]:
    """To store nothing, where that fits `beside` so many bytes; in words."""
    need = stream_memory(n, width, held) + beside
    return [f"or use storage='stream', which needs {need / GIGABYTE:.1f} GB"] if fits(need) else []
