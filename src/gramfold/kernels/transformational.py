"""The best embedding of a graph among the combinations of given functions: a small eigenproblem, however many rows.

    Z W Zᵀ v = λ Z D Zᵀ v,   y(x) = vᵀ z(x);      Z (r, n) has the functions' values at the vertices, D = diag(W1)

This is the raw approximation of W y = λ D y. The direct problem has the constant as its leading solution, which is
dropped; it need not be a combination of the functions, and then what is dropped is not quite the constant and the other
solutions are contaminated. Three remedies: *affine* appends a row of ones to Z; *stochastic* divides raw coordinates by
the first of them, u; *reweighted* divides the columns of Z by u and solves again: the constant is then a solution.

Z D Zᵀ is nearly singular (kernels overlap), so it is whitened by its eigenvectors, those below a cut left out:
with Rᵀ Z D Zᵀ R = I and P = I − Rᵀ Z W Zᵀ R the kernel of the map is K(x, x') = z(x)ᵀ R P† Rᵀ z(x'), P† without the
leading solution. Nothing n × r is held: rows of Z are made again, a block at a time. With more functions than vertices
the small problem is that of the vertices: D^½ Zᵀ Z D^½ = U Λ Uᵀ has the same eigenvalues, R = Z D^½ U Λ⁻¹ and
Rᵀ Z = Uᵀ D^-½. Brand, IJCAI 2003, section 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from gramfold.errors import ApproximationWarning, InputError
from gramfold.kernels.basis import MARGIN, Basis, Guard, MixtureBasis, Reweighted, WithConstant, constant_of, lower_ends
from gramfold.runtime.progress import SILENT, Stages, beats
from gramfold.runtime.threads import blocks
from gramfold.runtime.warning import warn
from gramfold.spectral.canonical import signs_of
from gramfold.spectral.dense import lowest_eigenpairs
from gramfold.spectral.policy import checked
from gramfold.types import COORDINATES, ROWS, Floats, Integers, Kernel, Spectrum

Approximation = Literal["reweighted", "affine", "stochastic", "raw"]

_ENTRIES_PER_BLOCK = 8_000_000
_ROWS_PER_BLOCK = 5_000
_CUT = 1e-10  # of the largest eigenvalue of Z D Zᵀ: below, a direction is rounding
_SMALLEST_WEIGHT = 1e-3  # of the median |u|: a smaller one would blow its row up
_EPS = float(np.finfo(np.float64).eps)
_ABOVE_ALL = 4.0  # no eigenvalue of I − Rᵀ Z W Zᵀ R is above 2
_SQUARES, _TABLES = 8, 3  # matrices of the size of the small problem that are held at once, and of n × r where r > n


@dataclass(frozen=True)
class ClassWeights:
    """W = E Eᵀ of a graph in which all members of a class are joined, which has too many edges to list."""

    memberships: csr_array  # E (n, classes)

    @property
    def degrees(self) -> Floats:
        """Row sums of W."""
        return np.asarray(self.memberships @ (self.memberships.T @ np.ones(self.memberships.shape[0])))

    def __matmul__(self, vectors: Floats) -> Floats:
        return np.asarray(self.memberships @ (self.memberships.T @ vectors))


@dataclass(frozen=True)
class Vertices:
    """The rows of a table that are the vertices of a graph, in an order in which neighbours are near each other."""

    points: Any = field(metadata=ROWS)  # (n_rows, d) the table, dense or CSR, not copied
    numbers: Integers  # (n,) its row for each vertex
    order: Integers  # (n,) the vertices

    def __len__(self) -> int:
        return len(self.numbers)

    def values(self, basis: Basis, vertices: Integers) -> Any:
        """The values z (b, r) at these vertices."""
        return basis(self.points[self.numbers[vertices]])

    def stream(self, basis: Basis) -> Iterator[tuple[Integers, Any]]:
        """Blocks of vertices with their z."""
        for part in beats(blocks(len(self), _rows_per_block(self.points.shape[1]))):
            yield self.order[part], self.values(basis, self.order[part])

    def map(self, basis: Basis, coefficients: Floats) -> Floats:
        """Zᵀ · coefficients, (n, p)."""
        made = np.empty((len(self), *coefficients.shape[1:]))
        for some, z in self.stream(basis):
            made[some] = z @ coefficients
        return made

    def pull(self, basis: Basis, vectors: Floats) -> Floats:
        """Z · vectors, (r, p)."""
        pulled = np.zeros((basis.size, vectors.shape[1]))
        for some, z in self.stream(basis):
            pulled += z.T @ vectors[some]
        return pulled


@dataclass(frozen=True)
class Problem:
    """A graph, and functions to embed it with."""

    vertices: Vertices
    weights: Any  # W (n, n) CSR, or ClassWeights
    degrees: Floats  # (n,) D's diagonal; where it exceeds W's row sums, the rest is on W's diagonal

    @cached_property
    def own(self) -> Floats:
        """What of D is on W's diagonal."""
        if isinstance(self.weights, ClassWeights):
            return np.asarray(self.degrees - self.weights.degrees)
        return np.asarray(self.degrees - np.asarray(self.weights.sum(axis=1)).ravel())

    @cached_property
    def connected(self) -> bool:
        """Whether W has one connected component, and so the constant alone has λ = 1."""
        return not isinstance(self.weights, ClassWeights) and connected_components(self.weights, directed=False)[0] == 1

    @property
    def uniform(self) -> Floats:
        """D 1 / √(1ᵀ D 1), (n,)."""
        return np.asarray(self.degrees / np.sqrt(self.degrees.sum()))

    def times(self, vectors: Floats) -> Floats:
        """W · vectors, its diagonal included."""
        return np.asarray(self.weights @ vectors + self.own[:, None] * vectors)

    def matrices(
        self, basis: Basis, stages: Stages = SILENT, *, entries_per_block: int = _ENTRIES_PER_BLOCK
    ) -> tuple[Floats, Floats]:
        """Z W Zᵀ and Z D Zᵀ, (r, r), in one pass over the vertices."""
        r, n = basis.size, len(self.vertices)
        joined, scatter = np.zeros((r, r)), np.zeros((r, r))
        of_classes = (
            np.zeros((self.weights.memberships.shape[1], r)) if isinstance(self.weights, ClassWeights) else None
        )
        number = np.empty(n, dtype=np.intp)
        parts = blocks(n, max(1, min(_ROWS_PER_BLOCK, entries_per_block // r)))
        for part in stages.bar(parts, len(parts), "small matrices"):
            some = self.vertices.order[part]
            edges = None if of_classes is not None else self.weights[some]
            met = some if edges is None else np.union1d(edges.indices, some)
            number[met] = np.arange(len(met))
            # rows near each other share their functions: few columns, and dense products of them
            columns, everybody = _compressed(self.vertices.values(basis, met))
            z = everybody[number[some]]
            block = np.ix_(columns, columns)
            scatter[block] += z.T @ (self.degrees[some, None] * z)
            if of_classes is not None:
                of_classes[:, columns] += self.weights.memberships[some].T @ z
            else:
                assert edges is not None
                near = csr_array((edges.data, number[edges.indices], edges.indptr), shape=(len(some), len(met)))
                joined[block] += z.T @ (near @ everybody)
            if self.own.any():
                joined[block] += z.T @ (self.own[some, None] * z)
        if of_classes is not None:
            joined += of_classes.T @ of_classes
        return 0.5 * (joined + joined.T), 0.5 * (scatter + scatter.T)


@dataclass(frozen=True)
class Solution:
    """Leading solutions of the small problem."""

    values: Floats  # (p,) λ, descending
    inner: Floats  # (r', p) orthonormal: v = R · inner
    white: Floats  # (r, r') R
    penalty: Floats  # (r', r') P

    @property
    def coefficients(self) -> Floats:
        """The combinations v, (r, p)."""
        return np.asarray(self.white @ self.inner)


def solved(problem: Problem, basis: Basis, count: int, stages: Stages = SILENT) -> Solution:
    """The `count` largest λ of Z W Zᵀ v = λ Z D Zᵀ v, fewer where the functions span fewer directions."""
    if basis.size > len(problem.vertices):
        return solve_by_vertices(problem, basis, count)
    joined, scatter = problem.matrices(basis, stages)
    uniform = None if problem.connected else problem.vertices.pull(basis, problem.uniform[:, None])[:, 0]
    return solve(joined, scatter, count, basis.units(np.sqrt(np.diag(scatter))), uniform)


def solving_memory(n: int, r: int) -> float:
    """Bytes that `solved` takes for n vertices and r functions."""
    small = 8.0 * _SQUARES * min(n, r) ** 2  # both matrices, eigenvectors, and what LAPACK works in
    return small + (8.0 * _TABLES * n * r if r > n else 0.0)


def solve(joined: Floats, scatter: Floats, count: int, units: Floats, uniform: Floats | None = None) -> Solution:
    """The `count` largest λ of joined · v = λ scatter · v, the functions measured in these units.

    `uniform` (r,) is Z D 1 / √(1ᵀ D 1), for a graph of several connected components. `scatter` is overwritten.
    """
    scale = _inverse(units)
    scatter *= scale[:, None]
    scatter *= scale
    values, white = eigh(scatter, driver="evd", overwrite_a=True, check_finite=False)
    kept = values > _CUT * values[-1]
    white = white[:, kept]
    white /= np.sqrt(values[kept])
    white *= scale[:, None]
    return _leading(white, white.T @ joined @ white, count, None if uniform is None else white.T @ uniform)


def solve_by_vertices(problem: Problem, basis: Basis, count: int) -> Solution:
    """The same from a matrix as large as there are vertices."""
    z = np.empty((len(problem.vertices), basis.size))
    for some, values in problem.vertices.stream(basis):
        z[some] = values.toarray() if issparse(values) else values
    root = np.sqrt(problem.degrees)
    z *= root[:, None]
    scale = _inverse(basis.units(np.sqrt(np.einsum("nr,nr->r", z, z))))
    z *= scale
    values, vectors = eigh(z @ z.T, driver="evd", overwrite_a=True, check_finite=False)
    kept = values > _CUT * values[-1]
    vectors = vectors[:, kept]
    white = z.T @ (vectors / values[kept])
    places = z @ white  # D^½ Zᵀ R, which is U but for what rounding adds along small values
    triangle = cholesky(places.T @ places)  # nearly I
    white = solve_triangular(triangle, white.T, trans="T", overwrite_b=True).T
    places = solve_triangular(triangle, places.T, trans="T", overwrite_b=True).T
    uniform = None if problem.connected else places.T @ (root / np.linalg.norm(root))
    places *= _inverse(root)[:, None]  # where D is 0, W is too
    white *= scale[:, None]
    return _leading(white, places.T @ problem.times(places), count, uniform)


def _inverse(sizes: Floats) -> Floats:
    return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _leading(white: Floats, joined: Floats, count: int, uniform: Floats | None) -> Solution:
    """From R, Rᵀ Z W Zᵀ R and, for a graph of several connected components, Rᵀ Z D 1 / √(1ᵀ D 1).

    On such a graph other solutions than the constant have λ = 1 too, and an eigensolver would return arbitrary
    combinations of them. If the constant is a solution, it is made the first. `uniform` has the length 1 if it is one.
    """
    if not len(joined):
        raise _no_direction(len(white))
    penalty = -joined
    penalty = 0.5 * (penalty + penalty.T)
    penalty[np.diag_indices(len(penalty))] += 1.0
    rounding = _EPS * np.sqrt(len(penalty) / _CUT)
    length = 0.0 if uniform is None else float(np.linalg.norm(uniform))
    if uniform is None or length < 1.0 - rounding or np.linalg.norm(penalty @ uniform) > rounding:
        penalties, inner = lowest_eigenpairs(penalty, min(count, len(penalty)))
        return Solution(1.0 - penalties, inner, white, penalty)
    constant = uniform / length
    values, vectors = np.array([constant @ penalty @ constant]), constant[:, None]
    others = min(count, len(penalty)) - 1
    if others:
        # the constant is moved to the top of the spectrum, out of the way
        penalties, inner = lowest_eigenpairs(penalty + _ABOVE_ALL * np.outer(constant, constant), others)
        values, vectors = np.append(values, penalties), np.hstack([vectors, inner])
    return Solution(1.0 - values, vectors, white, penalty)


def _no_direction(size: int) -> InputError:
    return InputError(
        f"the {size} basis functions are constant on these rows, up to rounding, so they define no coordinate: pass "
        "rows that differ, remove extreme outliers, or use more basis functions (n_kernels, or columns of X)."
    )


@dataclass(frozen=True, repr=False)
class TransformationalKernel(Kernel):
    """See the module. Eigenvalues are 1/(1 − λ), eigenvectors y with yᵀ D y = 1."""

    vertices: Vertices
    basis: Basis
    white: Floats  # (r, r') R
    penalty_inside: Floats  # (r', r') P
    leading: Floats  # (r', c) what P† leaves out, orthonormal
    mass: Floats  # (n,) D's diagonal
    null: Floats
    rows: Integers
    exponent: float = 0.0
    kind: Literal["gram"] = "gram"

    @property
    def degrees(self) -> Floats:
        """The mass, which is the degree of each vertex and not the number of its rows: K D y = y / (1 − λ)."""
        return self.mass

    @property
    def everybody(self) -> Any:
        """What is stored of every row."""
        return self.vertices.points

    @cached_property
    def _modes(self) -> tuple[Floats, Floats]:
        """Coefficients (r, r') of all solutions but the leading ones, and their 1/(1 − λ)."""
        # the leading ones are moved to the top of the spectrum, out of the way
        penalties, inner = eigh(self.penalty_inside + _ABOVE_ALL * self.leading @ self.leading.T)
        kept = len(penalties) - self.leading.shape[1]
        values = 1.0 / np.maximum(
            penalties[:kept], _EPS**2
        )  # finite where a graph has several connected components, and a constant for each
        return self.white @ inner[:, :kept], values

    def eigenvalues(self) -> Floats:
        """All of them, descending."""
        return self._modes[1]

    def product(self, vectors: Floats) -> Floats:
        """Zᵀ R P† Rᵀ (Z V)."""
        modes, values = self._modes
        inside = modes @ (values[:, None] * (modes.T @ self.vertices.pull(self.basis, vectors)))
        return self.vertices.map(self.basis, inside)

    def matrix(self) -> Floats:
        """The whole matrix, n × n."""
        modes, values = self._modes
        factor = self.vertices.map(self.basis, modes * np.sqrt(values))
        return np.asarray(factor @ factor.T)


@dataclass(frozen=True)
class Bounds:
    """Bounds of a mixture's coordinates: from Σ p_k(x) low_k to Σ p_k(x) high_k, combinations of z, as Σ p_k is.

    low_k and high_k are the least and largest coordinates of all rows that kernel k has a share of, moved outwards by
    half of their difference: training rows are within, and so are rows like them.
    """

    low: Floats  # (r, p)
    high: Floats  # (r, p)
    one: Floats  # (r, 1) Σ p_k over what z was divided by


@dataclass(frozen=True)
class Extended:
    """Coordinates of rows, and where they are not vᵀ z(x) itself."""

    places: Floats  # (b, p)
    taken_back: Floats  # (b,) how far they were taken back to the bounds, in units of the map's extent
    unlike: NDArray[np.bool_]  # (b,) whether z was divided by something else than u(x), which is near 0 or negative


@dataclass(frozen=True)
class TransformationalMap:
    """y(x) = vᵀ z(x) within the bounds, with the kernel and spectrum that it belongs to."""

    basis: Basis
    coefficients: Floats  # (r, p)
    kernel: TransformationalKernel
    spectrum: Spectrum
    places: Floats = field(metadata=COORDINATES)  # (n, p) of the vertices
    leading: float  # the eigenvalue that was dropped
    ripple: float  # of the dropped coordinate: largest departure from its mean / mean; 0 is the constant
    bounds: Bounds | None = None

    def __call__(self, rows: Floats) -> Floats:
        """Places (b, p) of any rows."""
        return self.extended(rows).places

    def unbounded(self, rows: Floats) -> Floats:
        """The combination vᵀ z(x) itself, (b, p)."""
        return self._combined(rows, self.coefficients)

    def extended(self, rows: Any) -> Extended:
        """Places of any rows."""
        if self.bounds is None:
            return Extended(self.unbounded(rows), np.zeros(rows.shape[0]), self._unlike(rows))
        p = self.coefficients.shape[1]
        together = np.hstack([self.coefficients, self.bounds.low, self.bounds.high, self.bounds.one])
        free, low, high, one = np.split(self._combined(rows, together), [p, 2 * p, 3 * p], axis=1)
        places = np.clip(free, low / one, high / one)
        extent = float(np.ptp(self.places, axis=0).max()) or 1.0
        return Extended(places, np.abs(places - free).max(axis=1) / extent, np.zeros(rows.shape[0], dtype=bool))

    def slopes(self, rows: Any) -> Floats:
        """Derivatives (b, p, d) of the places of any rows; at a bound those of the bound."""
        p = self.coefficients.shape[1]
        if self.bounds is None:
            return self.basis.slopes(rows, self.coefficients)
        found = self.basis.slopes(rows, self.coefficients).copy()
        together = np.hstack([self.coefficients, self.bounds.low, self.bounds.high, self.bounds.one])
        free, low, high, one = np.split(self._combined(rows, together), [p, 2 * p, 3 * p], axis=1)
        for limit, ends, beyond in (
            (self.bounds.low, low, free < low / one),
            (self.bounds.high, high, free > high / one),
        ):
            some = np.flatnonzero(beyond.any(axis=1))
            if some.size:
                both = self.basis.slopes(rows[some], np.hstack([limit, self.bounds.one]))
                quotient = (both[:, :-1] - (ends / one)[some][:, :, None] * both[:, -1:]) / one[some][:, :, None]
                found[some] = np.where(beyond[some][:, :, None], quotient, found[some])
        return found

    def _combined(self, rows: Any, coefficients: Floats) -> Floats:
        made = np.empty((rows.shape[0], coefficients.shape[1]))
        for part in beats(blocks(rows.shape[0], _rows_per_block(rows.shape[1]))):
            made[part] = self.basis(rows[part]) @ coefficients
        return made

    def _unlike(self, rows: Any) -> NDArray[np.bool_]:
        found = np.zeros(rows.shape[0], dtype=bool)
        if isinstance(self.basis, Reweighted):
            for part in beats(blocks(rows.shape[0], _rows_per_block(rows.shape[1]))):
                found[part] = self.basis.unlike(rows[part])
        return found


def transformational_map(
    problem: Problem,
    basis: Basis,
    count: int,
    approximation: Approximation,
    rows: Integers | None = None,
    stages: Stages = SILENT,
) -> TransformationalMap:
    """The map of at most `count` coordinates; `rows` has the vertex of each data row."""
    found = _unbounded_map(problem, basis, count, approximation, rows, stages)
    return _bounded(found, problem.vertices, basis) if isinstance(basis, MixtureBasis) else found


def _unbounded_map(
    problem: Problem,
    basis: Basis,
    count: int,
    approximation: Approximation,
    rows: Integers | None,
    stages: Stages,
) -> TransformationalMap:
    started = perf_counter()
    if approximation == "affine":
        basis = WithConstant(basis)
    known = constant_of(basis)
    if approximation == "reweighted" and known is not None:
        # no λ exceeds 1, so a constant that is a combination is the leading raw solution: no need to solve for it
        basis = Reweighted(basis, known)
        return _made(problem, basis, solved(problem, basis, count + 1, stages), "raw", count, rows, started)
    solution = solved(problem, basis, count + 1 if approximation != "reweighted" else 1, stages)
    lead = problem.vertices.map(basis, solution.coefficients[:, 0])
    if approximation in {"reweighted", "stochastic"} and not _may_divide(lead):
        least = np.abs(lead).min() / np.median(np.abs(lead))
        warn(
            f"the leading coordinate u(x) changes sign or is close to 0 ({least:.1g} of its median) at a training row, "
            f"so approximation={approximation!r} cannot divide by it: approximation='affine' was used instead.",
            ApproximationWarning,
        )
        approximation, basis = "affine", WithConstant(basis)
        solution = solved(problem, basis, count + 1, stages)
    elif approximation == "reweighted":
        basis = _divided(problem.vertices, basis, solution.coefficients[:, 0], lead)
        solution = solved(problem, basis, count + 1, stages)
    return _made(problem, basis, solution, approximation, count, rows, started)


def _made(
    problem: Problem,
    basis: Basis,
    solution: Solution,
    approximation: Approximation,
    count: int,
    rows: Integers | None,
    started: float,
) -> TransformationalMap:
    every = problem.vertices.map(basis, solution.coefficients)
    lead, degrees = every[:, 0], problem.degrees
    mean = float(degrees @ lead) / float(degrees.sum())
    # what is dropped is the constant, or what comes nearest to it, or what all is divided by: a raw leading solution
    # may be none of these
    dropped = approximation == "stochastic" or mean**2 * float(degrees.sum()) > 0.5
    kept = slice(1 if dropped else 0, None if dropped else count)
    places, values = every[:, kept], solution.values[kept]
    if not len(values):
        raise _no_direction(basis.size)
    signs = signs_of(places)
    places, inner = places * signs, solution.inner[:, kept] * signs
    penalties = np.maximum(1.0 - values, 0.0)
    # how far Rᵀ Z (W y − λ D y) is from 0, from the places themselves
    off = problem.times(places) - degrees[:, None] * places * values
    misfit = np.linalg.norm(solution.white.T @ problem.vertices.pull(basis, off), axis=0)
    solver = "dense (LAPACK)"
    # a direction of Z D Zᵀ at the cut multiplies what rounding leaves there by 1/√cut
    residuals = checked(misfit, penalties, 10 * _EPS * np.sqrt(len(inner) / _CUT), solver)
    n = len(problem.vertices)
    kernel = TransformationalKernel(
        vertices=problem.vertices,
        basis=basis,
        white=solution.white,
        penalty_inside=solution.penalty,
        leading=solution.inner[:, :1] if dropped else np.zeros((len(inner), 0)),
        mass=degrees,
        null=np.ones((n, 1)) if dropped else np.zeros((n, 0)),
        rows=np.arange(n) if rows is None else rows,
    )
    spectrum = Spectrum(
        eigenvalues=1.0 / np.maximum(penalties, _EPS**2),
        eigenvectors=places,
        residuals=residuals,
        solver=solver,
        seconds=perf_counter() - started,
        penalties=penalties,
    )
    coefficients = solution.white @ inner
    if approximation == "stochastic":
        basis = _divided(problem.vertices, basis, solution.coefficients[:, 0], lead)
        places = places / np.abs(lead)[:, None]
    ripple = float(np.abs(lead - mean).max() / abs(mean)) if mean else np.inf
    return TransformationalMap(basis, coefficients, kernel, spectrum, places, float(solution.values[0]), ripple)


def _divided(vertices: Vertices, basis: Basis, first: Floats, lead: Floats) -> Reweighted:
    """The functions over a leading coordinate of one sign, turned to be positive: a solver's signs change nothing."""
    toward = np.sign(lead[0])
    if isinstance(basis, MixtureBasis):  # whose map has bounds
        return Reweighted(basis, toward * first)
    squares, least = np.zeros(basis.size), np.inf
    for _, z in vertices.stream(basis):
        squares += np.square(z).sum(axis=0)
    guard = Guard(np.sqrt(squares / len(vertices)), 0.0)
    for some, z in vertices.stream(basis):
        least = min(least, float((np.abs(lead[some]) / guard.sizes(z)).min()))
    return Reweighted(basis, toward * first, replace(guard, least=0.5 * least))


def _bounded(found: TransformationalMap, vertices: Vertices, mixture: MixtureBasis) -> TransformationalMap:
    """The map within the bounds of its kernels' rows."""
    low, low_of_minus = np.full((2, len(mixture.centers), found.places.shape[1]), np.inf)
    for part in beats(blocks(len(vertices), _rows_per_block(max(mixture.centers.shape)))):
        shares = mixture.responsibilities(vertices.points[vertices.numbers[part]])
        lower_ends(low, shares, found.places[part])
        lower_ends(low_of_minus, shares, -found.places[part])
    unseen = np.isinf(low[:, 0])  # by any row: all of the map is allowed
    low[unseen], low_of_minus[unseen] = found.places.min(axis=0), -found.places.max(axis=0)
    high = -low_of_minus
    margin = MARGIN * (high - low)
    # the functions that are the shares, whatever they were divided by
    shares_of = mixture.block - 1 + mixture.block * np.arange(len(mixture.centers))
    bounds = Bounds(*(np.zeros((len(found.coefficients), width)) for width in (low.shape[1], low.shape[1], 1)))
    bounds.low[shares_of], bounds.high[shares_of], bounds.one[shares_of] = low - margin, high + margin, 1.0
    return replace(found, bounds=bounds)


def _may_divide(lead: Floats) -> bool:
    one_sign = (lead > 0).all() or (lead < 0).all()
    return bool(one_sign and np.abs(lead).min() >= _SMALLEST_WEIGHT * np.median(np.abs(lead)))


def _rows_per_block(width: int) -> int:
    return max(1, min(_ROWS_PER_BLOCK, _ENTRIES_PER_BLOCK // width))


def _compressed(z: Any) -> tuple[Integers, Floats]:
    """The columns of z that are not all zero, and z there, dense."""
    if not issparse(z):
        return np.arange(z.shape[1]), z
    columns, place = np.unique(z.indices, return_inverse=True)
    made = np.zeros((z.shape[0], len(columns)))
    made[np.repeat(np.arange(z.shape[0]), np.diff(z.indptr)), place] = z.data
    return columns, made
