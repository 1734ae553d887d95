"""The Gram matrix of rows in a linear kernel, known through the rows themselves and never n × n.

    K = F Fᵀ,  F = (X − 1 meanᵀ) · root;    K_ij = (x_i − mean)ᵀ G (x_j − mean) with the metric G = root rootᵀ

Principal components have root = I; white noise of covariance R has root = R^-½. Rows stay in their own dtype, dense or
sparse, and are centred in float64, a block at a time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from scipy.sparse import issparse

from gramfold.runtime.threads import blocks, one_blas_thread, run_blocks
from gramfold.types import ROWS, Floats, Integers, Kernel

_ENTRIES_PER_BLOCK = 100_000  # of dense rows, which stay in the cache
_LEAST_ROWS = 50  # in a block: products with fewer are slow
_MOST_STRETCHES = 32  # whatever the number of threads, so that sums do not depend on it
_LARGE = 10_000_000  # entries
_KEPT_ENTRIES = 10_000_000  # of the sums of all stretches together
_MANY_COLUMNS = 2_000
_NEAR = 3.0  # standard deviations

Result = TypeVar("Result")


@dataclass(frozen=True, repr=False)
class LinearGram(Kernel):
    """See the module."""

    points: Any = field(metadata=ROWS)  # (n, d) the rows, dense or CSR
    mean: Floats  # (d,)
    root: Floats | None  # (d, r); None is the identity
    mass: Floats
    null: Floats
    rows: Integers
    scatter: Floats | None = None  # (d, d) S = Σ m (x − mean)(x − mean)ᵀ, where it is at hand
    n_jobs: int | None = None
    exponent: float = 0.5
    kind: Literal["gram"] = "gram"

    @property
    def everybody(self) -> Any:
        """What is stored of every row."""
        return self.points

    def product(self, vectors: Floats) -> Floats:
        """F (Fᵀ V)."""
        near = self._near
        pulled = pull(self.points, self.mean, np.asarray(vectors, dtype=np.float64), self.n_jobs, near)  # (d, p)
        if self.root is not None:
            pulled = self.root @ (self.root.T @ pulled)
        return project(self.points, self.mean, pulled, self.n_jobs, near)

    @cached_property
    def _near(self) -> Floats | None:
        return None if issparse(self.points) else _near_mean(self.points)

    def matrix(self) -> Floats:
        """The whole matrix, n × n."""
        if self.root is not None or not issparse(self.points):
            features = self._features()
            return np.asarray(features @ features.T)
        wide = self.points.astype(np.float64)
        against_mean = wide @ self.mean
        values = (wide @ wide.T).toarray()
        return np.asarray(values - against_mean[:, None] - against_mean[None, :] + self.mean @ self.mean)

    def trace(self) -> float:
        """Σ m |f|² over the rows, with their mass m."""
        return self._squares

    @cached_property
    def _squares(self) -> float:
        if self.scatter is not None:
            return float(np.trace(self.scatter) if self.root is None else np.vdot(self.root, self.scatter @ self.root))
        if self.root is None:
            return squared_spread(self.points, self.mean, self.n_jobs, self.mass)
        return float(self.mass @ np.square(self._features()).sum(axis=1))

    def eigenvalues(self) -> Floats | None:
        """All that are not 0, descending; None without the scatter."""
        if self.scatter is None:
            return None
        scatter = self.scatter if self.root is None else self.root.T @ self.scatter @ self.root
        return np.asarray(np.maximum(np.linalg.eigvalsh(scatter)[::-1], 0.0))

    def misfit(self, directions: Floats, values: Floats) -> Floats | None:
        """‖A u − λ u‖ of u = M^½ (X − 1 meanᵀ) n / √λ, A = M^½ K M^½; None without the scatter.

        It is |M^½ (X − 1 meanᵀ) g| / √λ, g = (root rootᵀ S − λ) n, so that nothing of the size of the table is read.
        """
        if self.scatter is None:
            return None
        pulled = self.scatter @ directions
        g = (pulled if self.root is None else self.root @ (self.root.T @ pulled)) - directions * values
        size = np.abs(g).max(axis=0, initial=np.finfo(np.float64).tiny)  # whose square may overflow
        g /= size
        return np.asarray(size * np.sqrt(np.maximum((g * (self.scatter @ g)).sum(axis=0), 0.0) / values))

    def offset(self) -> float:
        """Size of what the centring takes out: rows round by eps·|mean| each, which the other factor multiplies."""
        stretch = 1.0 if self.root is None else float(np.linalg.norm(self.root, 2))
        return float(np.linalg.norm(self.mean)) * stretch * float(np.sqrt(self.trace()))

    def _features(self) -> Floats:
        if self.root is not None:
            return project(self.points, self.mean, self.root)
        return np.asarray(self.points - self.mean)


def linear_gram(
    points: Any,
    mean: Floats,
    root: Floats | None = None,
    scatter: Floats | None = None,
    n_jobs: int | None = None,
    mass: Floats | None = None,
) -> LinearGram:
    """The Gram matrix of these rows (of this mass) about a mean; they are kept, not copied."""
    ones = np.ones(points.shape[0])
    return LinearGram(
        points,
        mean,
        root,
        mass=ones if mass is None else mass,
        null=ones[:, None],
        rows=np.arange(len(ones)),
        scatter=scatter,
        n_jobs=n_jobs,
    )


def project(
    points: Any, mean: Floats, directions: Floats, n_jobs: int | None = None, near: Floats | None = None
) -> Floats:
    """(X − 1 meanᵀ) · directions, (n, p); `near` the mean is where rows are measured from, if not from it."""
    if issparse(points):
        return np.asarray(points @ directions - mean @ directions)
    near = mean if near is None else near
    places = np.empty((points.shape[0], directions.shape[1]))
    offset = (mean - near) @ directions

    def work(stretch: slice) -> None:
        for part, block in shifted(points, near, stretch):
            # nothing is taken beside the result: memory given back for every block is slow on workers of a cluster
            np.matmul(block, directions, out=places[part])
            places[part] -= offset

    over_rows(points, work, n_jobs, light=True)
    return places


@dataclass(frozen=True)
class Survey:
    """The places of training rows, and what was seen of them on the way."""

    places: Floats  # (n, p) (X − 1 meanᵀ) · directions
    squares: Floats  # (p,) Σ m y² of each column, with the mass m of the rows
    ends: Floats  # (2, p) the largest y and the largest −y of each column
    farthest: float  # |x − mean| at most


def survey(
    points: Floats, mean: Floats, directions: Floats, n_jobs: int | None = None, mass: Floats | None = None
) -> Survey:
    """Of dense rows, in one pass."""
    near = _near_mean(points)
    shift = mean - near  # y = (x − near) · directions − shift · directions; |x − mean|² = |x − near|² − 2 … + |shift|²
    across = np.vstack([directions.T, shift])
    offset = (across @ shift)[:, None]
    places = np.empty((len(points), directions.shape[1]))

    def work(stretch: slice) -> tuple[Floats, Floats, float]:
        squares, ends, farthest = np.zeros(places.shape[1]), np.full((2, places.shape[1]), -np.inf), 0.0
        for part, block in shifted(points, near, stretch):
            turned = across @ block.T
            turned -= offset
            found = turned[:-1]
            places[part] = found.T
            squares += np.einsum("pn,pn->p", found, found if mass is None else mass[part] * found)
            np.maximum(ends, [found.max(axis=1), -found.min(axis=1)], out=ends)
            lengths = np.einsum("nd,nd->n", block, block) - 2.0 * turned[-1]
            farthest = max(farthest, float(lengths.max()))
        return squares, ends, farthest - float(shift @ shift)

    done = over_rows(points, work, n_jobs, light=True)
    return Survey(
        places,
        np.sum([squares for squares, _, _ in done], axis=0),
        np.max([ends for _, ends, _ in done], axis=0),
        float(np.sqrt(max([0.0, *(farthest for _, _, farthest in done)]))),
    )


def pull(points: Any, mean: Floats, vectors: Floats, n_jobs: int | None = None, near: Floats | None = None) -> Floats:
    """(X − 1 meanᵀ)ᵀ · vectors, (d, p)."""
    if issparse(points):
        return np.asarray(points.T @ vectors - np.outer(mean, vectors.sum(axis=0)))

    near = mean if near is None else near

    def work(stretch: slice) -> Floats:
        pulled = np.zeros((vectors.shape[1], len(mean)))
        for part, block in shifted(points, near, stretch):
            pulled += vectors[part].T @ block
        return pulled

    pulled = sum(over_rows(points, work, n_jobs, kept=vectors.shape[1] * len(mean), light=True))
    return np.asarray(pulled - np.outer(vectors.sum(axis=0), mean - near)).T


def squared_spread(points: Any, mean: Floats, n_jobs: int | None = None, mass: Floats | None = None) -> float:
    """Σ m |x − mean|² over the rows, with their mass m; None: 1 each."""
    mass = None if mass is None or (mass == 1).all() else mass
    if issparse(points) and mass is not None:
        squares = points.astype(np.float64).power(2).sum(axis=1)
        return float(mass @ (np.asarray(squares).ravel() - 2 * (points @ mean)) + mass.sum() * (mean @ mean))
    if issparse(points):
        values = points.data.astype(np.float64)
        # Σ|x|² − 2 Σ⟨x, mean⟩ + n|mean|²
        return float(values @ values - 2 * (points @ mean).sum() + points.shape[0] * (mean @ mean))

    def work(stretch: slice) -> float:
        blocks_of = centered(points, mean, stretch)
        if mass is not None:
            return float(sum(mass[part] @ np.einsum("nd,nd->n", block, block) for part, block in blocks_of))
        return float(sum(np.vdot(block, block) for _, block in blocks_of))

    return sum(over_rows(points, work, n_jobs, light=True))


def mean_of(points: Any, n_jobs: int | None = None, mass: Floats | None = None) -> Floats:
    """The mean row (by mass), summed in float64 whatever the rows are in: float32 sums would round it."""
    if mass is not None:
        if issparse(points):
            return np.asarray((points.T @ mass) / mass.sum()).ravel()
        sums = over_rows(points, lambda stretch: _weighted_sum(points, mass, stretch), n_jobs, light=True)
        return np.asarray(sum(sums) / mass.sum())
    if issparse(points):
        return np.asarray(points.sum(axis=0, dtype=np.float64) / points.shape[0]).ravel()
    sums = over_rows(points, lambda stretch: points[stretch].sum(axis=0, dtype=np.float64), n_jobs, light=True)
    return np.asarray(sum(sums) / len(points))


def _weighted_sum(points: Floats, mass: Floats, stretch: slice) -> Floats:
    """Σ m x, a block at a time."""
    return np.asarray(sum(mass[part] @ points[part].astype(np.float64) for part in _parts(stretch, points.shape[1])))


def mean_and_scatter(points: Floats, n_jobs: int | None = None, mass: Floats | None = None) -> tuple[Floats, Floats]:
    """The mean of dense rows and Σ m (x − mean)(x − mean)ᵀ, with their mass m, in one pass and in float64.

    Rows are measured from a point near their mean, so that little cancels where n·mean meanᵀ is taken off. The mean is
    not finite where a value is not.
    """
    n, d = points.shape
    near = _near_mean(points)
    whole = n if mass is None else float(mass.sum())

    def work(stretch: slice) -> tuple[Floats, Floats]:
        total, scatter = np.zeros(d), np.zeros((d, d))
        with np.errstate(over="ignore", invalid="ignore"):
            for part, block in shifted(
                points, near, stretch, least=d
            ):  # (d, d) products of fewer would mostly be added
                total += (np.ones(len(block)) if mass is None else mass[part]) @ block
                rooted = block if mass is None else np.sqrt(mass[part])[:, None] * block
                scatter += rooted.T @ rooted
        return total, scatter

    # several sums of many columns would take more memory than the threads are worth: linear algebra has its own
    done = (
        over_rows(points, work, n_jobs, kept=d * d, least=d, light=True) if d <= _MANY_COLUMNS else [work(slice(0, n))]
    )
    mean, scatter = done[0][0] / whole, done[0][1]
    with np.errstate(over="ignore", invalid="ignore"):
        for total, more in done[1:]:
            mean += total / whole
            scatter += more
        return near + mean, scatter - whole * np.outer(mean, mean)


def centered(points: Floats, mean: Floats, stretch: slice | None = None) -> Iterator[tuple[slice, Floats]]:
    """Blocks of dense rows with the mean taken off, in float64."""
    for part in _parts(slice(0, len(points)) if stretch is None else stretch, points.shape[1]):
        yield part, points[part] - mean


def shifted(points: Floats, near: Floats, stretch: slice, least: int = _LEAST_ROWS) -> Iterator[tuple[slice, Floats]]:
    """Blocks of dense rows measured from `near`, in float64, each good until the next is asked for.

    They may be the rows themselves, not to be changed. One array holds them in turn: memory that is taken and given
    back for every block costs more than the subtraction where the allocator returns it to the system at once.
    """
    moves, parts = near.any(), list(_parts(stretch, points.shape[1], least))
    longest = max((part.stop - part.start for part in parts), default=0)
    room = np.empty((longest if moves else 0, points.shape[1]))
    for part in parts:
        if moves:
            yield part, np.subtract(points[part], near, out=room[: part.stop - part.start])
        else:
            yield part, points[part].astype(np.float64, copy=False)


def _near_mean(points: Floats) -> Floats:
    """A point from which to measure dense rows so that little cancels: 0 where they lie about it."""
    # the first rows stand for all
    some = points[: _block_rows(points.shape[1])].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = some.mean(axis=0)
        about = (np.abs(mean) <= _NEAR * some.std(axis=0)).all()
    return np.asarray(np.zeros_like(mean) if about else mean)


def over_rows(
    points: Floats,
    work: Callable[[slice], Result],
    n_jobs: int | None = None,
    *,
    kept: int = 0,
    least: int = _LEAST_ROWS,
    light: bool = False,
) -> list[Result]:
    """`work` on consecutive stretches of dense rows, on threads, each of which has its linear algebra to itself.

    A result is said to keep so many entries; `least` is the number of rows that are worth a stretch. `light` work does
    so little to each value that threads wait for one another longer than it takes, unless the table is large.
    """
    n, d = points.shape
    count = int(np.clip(_KEPT_ENTRIES // max(kept, 1), 2, _MOST_STRETCHES))
    stretches = blocks(n, max(_block_rows(d, least), -(-n // count)))
    if len(stretches) == 1:
        return [work(stretches[0])]
    with one_blas_thread():
        return run_blocks(work, stretches, 1 if light and n * d < _LARGE else n_jobs)


def _block_rows(d: int, least: int = _LEAST_ROWS) -> int:
    return max(least, _ENTRIES_PER_BLOCK // d)


def _parts(stretch: slice, d: int, least: int = _LEAST_ROWS) -> Iterator[slice]:
    size = _block_rows(d, least)
    for start in range(stretch.start, stretch.stop, size):
        yield slice(start, min(start + size, stretch.stop))
