"""The result types Neighbors, Graph, Kernel and Spectrum, which are immutable dataclasses."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, wraps
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gramfold.errors import LeftOutError
from gramfold.runtime.counting import counted

Floats = NDArray[np.floating]
Integers = NDArray[np.integer]

# What a field of a model holds of the training data, for whoever asks what would be given away with it.
ROWS = {"holds": "rows"}  # all of them or some, up to the unit
COORDINATES = {"holds": "coordinates"}
DISTANCES = {"holds": "distances"}  # or kernel values, between rows
CENTERS = {"holds": "centers"}  # of groups of rows
CATEGORIES = {"holds": "categories"}


@dataclass(frozen=True, eq=False)
class Plain:
    """Base of the result types: only fields are copied, pickled and written; cached values are computed again.

    A cached value is a `cached_property`. From Python 3.12 on it has no lock, and two threads may both compute it: each
    must get the same value, and the value must be complete before it is stored.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def without(self, *names: str) -> Self:
        """The same with these fields left out; those that are None stay so."""
        gone = {name: LeftOut.of(name, getattr(self, name)) for name in names}
        return replace(self, **{name: left for name, left in gone.items() if left is not None})


@dataclass(frozen=True, eq=False, repr=False)
class LeftOut(Plain):
    """Stands in a compact model for what it does not hold: whoever uses it gets an error that says so."""

    what: str

    @classmethod
    def of(cls, what: str, value: Any) -> "LeftOut | None":
        """In the place of this value; nothing can be left out of None, and nothing twice."""
        return value if value is None or isinstance(value, LeftOut) else cls(what)

    @property
    def error(self) -> LeftOutError:
        """What whoever uses it is told."""
        return LeftOutError(
            f"{self.what} was left out: this model was saved with compact=True and holds only what transform needs; "
            f"save it without compact=True to keep {self.what}."
        )

    def __repr__(self) -> str:
        return f"LeftOut({self.what!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "what":  # of whoever copies, pickles or looks at it
            raise AttributeError(f"'LeftOut' object has no attribute '{name}'")
        raise self.error

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise self.error

    __array__ = __len__ = __iter__ = __getitem__ = __contains__ = __call__ = __bool__ = __float__ = __int__ = _refuse
    __index__ = __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __invert__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = _refuse
    __array_ufunc__ = __array_function__ = _refuse


def or_compact(representation: Callable[[Any], str]) -> Callable[[Any], str]:
    """A `__repr__` that says so where what it shows was left out."""

    @wraps(representation)
    def shown(self: Any) -> str:
        try:
            return representation(self)
        except LeftOutError:
            return f"{type(self).__name__}(compact)"

    return shown


@dataclass(frozen=True, eq=False, repr=False)
class Neighbors(Plain):
    """Lists of neighbours, one per row and of any length, nearest first and the lower index at a tie."""

    indptr: Integers  # (m + 1,)
    indices: Integers  # (total,) vertices
    distances: Floats = field(metadata=DISTANCES)  # (total,) float64
    n_vertices: int
    recall: float | None = None  # share of the true neighbours found, on a sample; None where exact

    @classmethod
    def from_lists(cls, indices: Integers, distances: Floats, n_vertices: int) -> Self:
        """Neighbour lists from (m, k) arrays."""
        m, k = indices.shape
        return cls(k * np.arange(m + 1), indices.ravel(), distances.ravel(), n_vertices)

    @classmethod
    def from_pairs(cls, rows: Integers, columns: Integers, distances: Floats, shape: tuple[int, int]) -> Self:
        """Neighbour lists from pairs in any order; of a pair given twice the shorter distance is kept."""
        order = np.lexsort((distances, columns, rows))
        rows, columns, distances = rows[order], columns[order], distances[order]
        fresh = np.ones(len(rows), dtype=bool)
        fresh[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        rows, columns, distances = rows[fresh], columns[fresh], distances[fresh]
        order = np.lexsort((columns, distances, rows))
        indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=shape[0]))))
        return cls(indptr, columns[order], distances[order], shape[1])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @or_compact
    def __repr__(self) -> str:
        median = f"median distance {np.median(self.distances):.3g}" if len(self.distances) else "no neighbours"
        recall = "" if self.recall is None else f", recall {self.recall:.3f}"
        return f"Neighbors({len(self):,} rows, {len(self.indices):,} neighbours, {median}{recall})"

    @property
    def counts(self) -> Integers:
        """Number of neighbours of each row."""
        return np.diff(self.indptr)

    @cached_property
    def rows(self) -> Integers:
        """Row index of each (row, neighbour) pair, parallel to `indices`."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def nearest(self) -> Integers:
        """The nearest vertex of each row; -1 if a row has none."""
        found = np.full(len(self), -1)
        filled = self.counts > 0
        found[filled] = self.indices[self.indptr[:-1][filled]]
        return found

    @property
    def farthest(self) -> Floats:
        """Distance to the last neighbour of each row; 0 if a row has none."""
        last = np.zeros(len(self))
        filled = self.counts > 0
        last[filled] = self.distances[self.indptr[1:][filled] - 1]
        return last

    @property
    def last(self) -> Self:
        """The distance of the last neighbour of each row alone, by which `farthest` stays the same."""
        last = np.zeros(len(self.indices), dtype=bool)
        last[self.indptr[1:][self.counts > 0] - 1] = True
        return self.keep(last).without("indices")

    def keep(self, pairs: NDArray[np.bool_]) -> Self:
        """Keep only the pairs for which the mask is true."""
        counts = np.bincount(self.rows[pairs], minlength=len(self))
        indptr = np.concatenate(([0], np.cumsum(counts)))
        return replace(self, indptr=indptr, indices=self.indices[pairs], distances=self.distances[pairs])

    def take(self, rows: Integers) -> Self:
        """Keep only the given rows, in the given order."""
        counts = self.counts[rows]
        indptr = np.concatenate(([0], np.cumsum(counts)))
        # position of each kept pair: the start of its old row plus its place within the row
        pairs = np.repeat(self.indptr[:-1][rows] - indptr[:-1], counts) + np.arange(indptr[-1])
        return replace(self, indptr=indptr, indices=self.indices[pairs], distances=self.distances[pairs])

    def renumber(self, number: Integers, n_vertices: int) -> Self:
        """The same lists with vertex v renumbered as `number[v]`."""
        return replace(self, indices=number[self.indices], n_vertices=n_vertices)


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Plain):
    """A symmetric neighbour graph. A stored length of 0 is an edge of length 0, not an absent one.

    Identical data rows are one vertex. What a user sees is over the data rows: vertex i is row i, and the edges of
    identical rows are stored at the first of them: `rows[i]` for row i. Within a fit a vertex is a distinct row,
    numbered in the order that suits the method.
    """

    lengths: csr_array = field(metadata=DISTANCES)  # (n, n) symmetric, no diagonal
    neighbors: Neighbors  # the nearest neighbours of each vertex, bridges included
    radii: Floats | None  # (n,) neighbourhood radius: distance to the last neighbour; None where the graph was given
    multiplicity: Floats  # (n,) number of identical data rows, or the sum of their weights; 0 where it has no row
    vertices: Integers  # (n,) number of each vertex in the search index; -1 likewise
    rows: Integers  # (n,) data row of each vertex, the first of identical rows; -1 likewise
    bridges: Integers = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))  # (b, 2) joined pairs
    loops: Floats | None = None  # (n,) weights of self-loops, where the graph was given with its weights
    shortest: Floats | None = None  # (n,) what `shortest_edges` gives, where the lengths were left out

    def __len__(self) -> int:
        return len(self.vertices)

    @or_compact
    def __repr__(self) -> str:
        bridges = f", {counted(len(self.bridges), 'bridge')}" if len(self.bridges) else ""
        return f"Graph({len(self):,} rows, {self.n_edges:,} edges{bridges})"

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return int(self.lengths.nnz // 2)

    def shortest_edges(self, vertices: Integers) -> Floats:
        """Length of the shortest edge of each of these vertices; infinite where it has none."""
        if self.shortest is not None:
            return np.asarray(self.shortest[vertices])
        edges = csr_array(self.lengths[vertices])
        shortest = np.full(len(vertices), np.inf)
        np.minimum.at(shortest, np.repeat(np.arange(len(vertices)), np.diff(edges.indptr)), edges.data)
        return shortest

    def bare(self) -> Self:
        """Its vertices alone."""
        return self.without("lengths", "neighbors", "radii", "multiplicity", "rows", "bridges", "loops")

    def with_shortest(self) -> Self:
        """Its vertices, how many rows each stands for, and the length of the shortest edge of each."""
        shortest = self.shortest_edges(np.arange(len(self)))
        return replace(self.bare(), multiplicity=self.multiplicity, shortest=shortest)


class Kernel(Plain, ABC):
    """A Gram matrix as an object, over vertices that may stand for several identical data rows.

    It is one of two things: a *gram*, whose largest eigenpairs are wanted, or a *penalty*, a sparse positive
    semidefinite matrix P with a decreasing function f, K = f(P), whose smallest eigenpairs are wanted.
    Eigenvectors satisfy Vᵀ diag(mass) V = I; coordinates are V Λ^exponent.
    """

    kind: Literal["gram", "penalty"]
    mass: Floats  # (n,)
    null: Floats  # (n, c) known null vectors (of the penalty)
    exponent: float
    rows: Integers  # (n_rows,) the vertex of each data row
    landmarks: Integers | None = None  # the vertices that it is over, where these are not all

    @property
    def streamed(self) -> bool:
        """Whether its entries are computed anew for every product, which is then what costs."""
        return False

    def forget(self) -> None:
        """Drop what a streamed kernel remembers of its products, of which a loaded one knows nothing."""

    @property
    def near(self) -> Floats | None:
        """Of a streamed kernel vectors (n, p) whose products are known, the leading eigenvectors nearly among them."""
        return None

    @abstractmethod
    def product(self, vectors: Floats) -> Floats:
        """K times (n, p) vectors over the vertices."""

    @abstractmethod
    def matrix(self) -> Floats:
        """K over the vertices as a dense float64 array."""

    def over(self, rows: Integers) -> Self:
        """The same kernel, over other data rows: `rows` gives the vertex of each."""
        return replace(self, rows=rows)  # type: ignore[call-arg]

    # What a user sees is over the data rows.

    @or_compact
    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"{type(self).__name__}({rows:,} x {columns:,} {self.kind}, {len(self.mass):,} distinct rows)"

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the Gram matrix, (n_rows, n_rows)."""
        return len(self.rows), len(self.rows)

    def dense(self) -> Floats:
        """The whole Gram matrix, (n_rows, n_rows)."""
        return np.asarray(self.matrix()[np.ix_(self.rows, self.rows)])

    def __matmul__(self, vectors: Floats) -> Floats:
        """K times vectors, without forming K."""
        vectors = np.asarray(vectors, dtype=np.float64)
        flat = vectors.reshape(len(vectors), -1)
        gathered = np.zeros((len(self.mass), flat.shape[1]))
        np.add.at(gathered, self.rows, flat)
        return np.asarray(self.product(gathered)[self.rows].reshape(vectors.shape))

    def columns(self, rows: Integers) -> Floats:
        """The columns of K that belong to these data rows, (n_rows, len(rows))."""
        units = np.zeros((len(self.mass), len(rows)))
        units[self.rows[rows], np.arange(len(rows))] = 1.0
        return np.asarray(self.product(units)[self.rows])

    def squared_distances(self, rows: Integers, columns: Integers | None = None) -> Floats:
        """Squared feature-space distances d²_ij = K_ii + K_jj − 2 K_ij between data rows.

        With `columns=None`, to every data row; a penalty kernel then needs its whole matrix.
        """
        rows = np.atleast_1d(np.asarray(rows))
        if columns is None:
            gram = self.dense()
            diagonal = np.diag(gram)
            return np.asarray(diagonal[rows][:, None] + diagonal[None, :] - 2.0 * gram[rows])
        columns = np.atleast_1d(np.asarray(columns))
        wanted, place = np.unique(np.concatenate([rows, columns]), return_inverse=True)
        gram = self.columns(wanted)[wanted]
        diagonal = np.diag(gram)
        first, second = place[: len(rows)], place[len(rows) :]
        return np.asarray(diagonal[first][:, None] + diagonal[second][None, :] - 2.0 * gram[np.ix_(first, second)])


@dataclass(frozen=True, repr=False)
class Spectrum(Plain):
    """Leading eigenpairs of a kernel, with their residuals."""

    eigenvalues: Floats  # (p,) of the kernel, descending (or in the order of `penalties`)
    eigenvectors: Floats = field(metadata=COORDINATES)  # (n, p), orthonormal in the kernel's mass, signs canonical
    residuals: (
        Floats  # (p,) ‖A u − λ u‖ / λ of the symmetric form: A = M^½ K M^½ (gram) or M^-½ P M^-½ (penalty), |u| = 1
    )
    solver: str  # that found them
    seconds: float
    penalties: Floats | None = None  # (p,) eigenvalues μ of the penalty, ascending; None for a gram
    total: float | None = None  # trace of the kernel, where it is known
    taken: Integers | None = None  # (p,) which of the leading eigenpairs these are, from 0; None: the first p
    novelty: Floats | None = None  # (p,) how far each is from being a function of those before it; None: not asked

    def __len__(self) -> int:
        return len(self.eigenvalues)

    @or_compact
    def __repr__(self) -> str:
        n, count = self.eigenvectors.shape
        numbers = (
            f"largest eigenvalue {self.eigenvalues.max():.4g}, largest residual {self.residuals.max():.0e}"
            if count
            else "empty"
        )
        return f"Spectrum({count} eigenpairs of {n:,} rows, {numbers}, {self.solver})"

    @property
    def participation(self) -> Floats:
        """Effective number of rows on which each eigenvector lives: (Σ v²)² / Σ v⁴, (p,).

        It is 1 for a vector that is 0 but for one row, and n for one of equal size everywhere.
        """
        return participation(self.eigenvectors, np.ones(len(self.eigenvectors)))

    def take(self, taken: Integers) -> Self:
        """Keep only the given eigenpairs, by their positions among the leading ones."""
        return replace(
            self,
            eigenvalues=self.eigenvalues[taken],
            eigenvectors=self.eigenvectors[:, taken],
            residuals=self.residuals[taken],
            penalties=None if self.penalties is None else self.penalties[taken],
            novelty=None if self.novelty is None else self.novelty[taken],
            taken=taken,
        )


def participation(vectors: Floats, copies: Floats) -> Floats:
    """(Σ m v²)² / Σ m v⁴ of the columns (n, p), whose entries count m times; 0 for a column of zeros."""
    largest = np.abs(vectors).max(axis=0, initial=0.0)
    squares = np.square(vectors / np.where(largest > 0, largest, 1.0))
    fourth = copies @ squares**2
    return np.asarray((copies @ squares) ** 2 / np.where(fourth > 0, fourth, 1.0))


@dataclass(frozen=True)
class NegativePart(Plain):
    """How much of the spectrum of a Gram matrix is negative: of distances that no Euclidean embedding preserves."""

    most_negative: float  # smallest eigenvalue, 0 where none is negative
    mass: float  # Σ|λ<0| / Σ|λ|
    interval: tuple[float, float]  # 95% confidence interval of `mass`; both ends are `mass` where it is exact
    total: float  # trace of the Gram matrix, Σ λ

    @property
    def exact(self) -> bool:
        """Whether all eigenvalues were computed."""
        return self.interval[0] == self.mass == self.interval[1]

    @property
    def positive_total(self) -> float:
        """Sum P of the positive eigenvalues: total = P − N and mass = N / (P + N)."""
        if self.mass >= 0.5:  # P is at most N, and what is left of it rounding
            return max(self.total, 0.0)
        return self.total * (1.0 - self.mass) / (1.0 - 2.0 * self.mass)
