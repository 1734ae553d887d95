"""The iteration of the low-rank solver: an interior-point method on a factor of the kernel.

    max tr M Y Yᵀ   over centred Y (n, r),   |y_i − y_j|² + s_e = d_e²,  s_e ≥ 0 for each pair e

The barrier is on the pairs only, so that v ≥ 0 alone makes L(v) positive semidefinite. With D_e = y_i − y_j a step
solves, to first order,

    L(v) Y = M Y,     s_e = d_e² − |D_e|²,     v_e s_e = μ

and, with s and v eliminated, its direction is given by

    H dY = M Y − L(u) Y,    u = (t − v ρ)/s,    ρ = d² − |D|² − s
    H = (L(v) − θM) ⊗ I_r + Σ_e (2 v_e/s_e) (b_e ⊗ D_e)(b_e ⊗ D_e)ᵀ,     b_e = e_i − e_j
    ds = ρ − 2 D·dD,    dv = (t − v ds)/s − v

Newton's method has θ = 1. Then H is indefinite wherever L(v) has an eigenvalue below 1, and the iteration diverges. A θ
just below the least eigenvalue of L(v) x = λ M x makes H positive definite (except for constants). This damping is
essential. Mehrotra's predictor and corrector choose the targets t.

A step is linear and squared lengths are not: they differ by |dD|² after it. Where a vertex between its neighbours
begins to leave their line, Newton's step is many times too long, so no pair may change by more than its length. A
vertex exactly on the line would never leave it, because the gradient there is 0: it is moved off the line. And μ is not
reduced while the lengths are still far from feasible.

Y needs enough columns. If its rank is full and L(v) has further small eigenvalues, or if Y is at a saddle point, two
columns are added, along the eigenvectors that are not in Y yet; columns near zero are dropped. With enough columns only
the optimum has multipliers that pass the certificate.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, eye_array

from gramfold.direct.factor import Factor, Symbolic, symmetric_factor
from gramfold.direct.superlu import SymmetricLU
from gramfold.errors import SingularFactorError
from gramfold.runtime.progress import beats
from gramfold.sdp.assembly import Assembly
from gramfold.sdp.feasible import made_feasible
from gramfold.sdp.problem import Problem, Solution, gap_between
from gramfold.types import Floats

_RANK = 3  # to begin with: a sheet and one more
_MOST_COLUMNS = 24
_SPARE = 3  # eigenvectors of L(v) beyond those that Y should span: where Y may grow
_ABSENT, _LACKED = 1e-6, 0.5  # share of a column that is as good as empty; of an eigenvector that Y does not have
_FREED, _FAR = 0.4, 1e-4  # of the slack that a free vertex takes up; of its length² where that is worth mentioning
_LOOSE = 2  # vertices that hang by the least weight: inverse iteration looks there, for it would find them late
_SWEEPS, _SETTLED = 40, 1e-3  # of inverse iteration, and the relative change of eigenvalues at which it ends
_CHANCE = 1e-6
_LENGTH, _SLACK = 0.5, 0.2  # at the start: squared length of the 99% quantile pair, and least slack, relative to d²
_SHORTEST = 1e-6  # of the mean length: a pair below that starts as if it were so long, or L(v) would be all rounding
_BOUNDARY = 0.9  # share of the way to the boundary that a step may go
_TURN = 1.0  # by how much of its length a step may change a pair
_LEAST_SIGMA = 1e-2
_LAG = 0.3  # what the lengths lack, relative to the barrier's worth: μ waits while it is more
_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 0.1, 1e-4, 0.2  # of θ, relative to how far Y is from L(v) Y = M Y
_GROW_SHARE, _GROW_BELOW = 1e-3, 1.3  # every column carries more, and more than r eigenvalues are below: r is too small
_SADDLE_RESIDUAL, _SADDLE_BELOW = 1e-2, 0.9  # L(v) Y = M Y nearly, and there is an eigenvalue below: a saddle point
_GROW_LENGTH = 0.02  # of new columns, as _LENGTH
_DROP_SHARE = 1e-7  # two columns carry less than this: one is dropped
_PATIENCE = 3  # iterations between changes of the rank
_WARM_LENGTH, _WARM_SLACK, _WARM_WEIGHT = 0.99, 1e-2, 1e-2  # of a start that is given
_FELL, _IDLE, _LONG_IDLE = 0.95, 5, 30  # a gap that fell, and iterations without: when to give up
_RIDGE = 1e-8  # on a matrix that has a pivot of 0, relative to its mean diagonal
_FACTORS = 30  # of each size, that a search takes about


@dataclass(frozen=True)
class Best:
    """The best feasible coordinates and the best multipliers so far, possibly of different iterations."""

    coordinates: Floats
    primal: float
    weights: Floats
    bound: float

    @property
    def gap(self) -> float:
        """1 − primal / bound."""
        return gap_between(self.primal, self.bound)


class Search:
    """The state of the iteration: Y, s, v, and the smallest eigenpairs of L(v)."""

    prove_at = 0.9  # of the gap that is asked for: the proved bound is a little above the estimate

    def __init__(self, problem: Problem, symbolic: Symbolic, start: Solution | None) -> None:
        self.problem, self.symbolic = problem, symbolic
        self.graph = Assembly.of(problem.pairs, len(problem))
        self.phase = 1e3 * self.graph.gather(problem.squared) / problem.squared.mean()
        self.since = 0  # iterations since the rank changed
        self.idle = 0  # iterations since the gap fell
        rank = min(_RANK, len(problem) - 1)
        self.V = self.waves(min(rank + _SPARE, len(problem) - 1), first=1)
        if start is None:
            lengths = np.maximum(problem.squared, _SHORTEST**2 * problem.squared.mean())
            self.bottom(1.0 / lengths)
            self.Y = self.stretched(self.V[:, :rank] / np.sqrt(self.eigenvalues[:rank]), _LENGTH)
            self.v = 1.0 / (lengths * self.eigenvalues[0])
            self.s = np.maximum(problem.squared - problem.squared_lengths(self.Y), _SLACK * problem.squared)
        else:
            self.Y, self.v = start.coordinates, start.certificate.weights
            self.loosen()
        self.best = Best(self.Y, 0.0, self.v, np.inf)

    def waves(self, count: int, first: int) -> Floats:
        """Pseudo-random vectors that depend on the vertices but not on their order.

        Vertices with the same distances would get the same values: a little random noise distinguishes them.
        """
        chance = np.random.default_rng(first).standard_normal((len(self.phase), count))
        return np.cos(np.outer(self.phase, np.arange(first, first + count))) + _CHANCE * chance

    def stretched(self, Y: Floats, length: float) -> Floats:
        """Y scaled so that the 99% quantile of |D_e|²/d_e² is `length`."""
        Y = self.problem.centered(Y)
        ratio = np.quantile(self.problem.squared_lengths(Y) / self.problem.squared, 0.99)
        return np.asarray(Y * np.sqrt(length / ratio))

    def bottom(self, v: Floats, settled: float = _SETTLED) -> None:
        """Smallest eigenpairs of L(v) x = λ M x besides the constant, by inverse iteration from the previous ones."""
        mass = self.problem.mass
        root = np.sqrt(mass)[:, None]
        self.laplacian = self.graph.laplacian(v)
        shift = 1e-9 * self.laplacian.diagonal().mean() / mass.mean()
        factor = _factor(self.graph.laplacian(v, shift * mass), self.symbolic)
        last = np.full(2, np.inf)
        count = self.V.shape[1]
        self.V = np.column_stack([self.V, self.loose()])
        for _ in beats(range(_SWEEPS)):
            W = self.problem.centered(factor.solve(self.V * mass[:, None]))
            basis = np.linalg.qr(root * W)[0] / root
            values, turn = np.linalg.eigh(basis.T @ (self.laplacian @ basis))
            self.eigenvalues, self.V = values[:count], basis @ turn[:, :count]
            leading = self.eigenvalues[:2]
            if np.abs(leading - last[: len(leading)]).max() < settled * leading[0]:
                break
            last = leading

    def loose(self) -> Floats:
        """Indicator vectors of the vertices of least weight, which is their Rayleigh quotient.

        The previous eigenvectors are nearly 0 at a vertex that has just lost its weight. Inverse iteration from them
        alone would find its eigenvalue too late, when it is already below the θ in use.
        """
        # centred vectors have n − 1 dimensions: among more of them the constant would be found, and its 0
        count = min(_LOOSE, len(self.problem) - 1 - self.V.shape[1])
        hanging = np.argsort(self.laplacian.diagonal() / self.problem.mass, kind="stable")[:count]
        vectors = np.zeros((len(self.problem), len(hanging)))
        vectors[hanging, np.arange(len(hanging))] = 1.0
        return self.problem.centered(vectors)  # L is all but singular along the constants: only rounding would be left

    def measure(self, tol: float) -> None:
        """Measure the iterate: a bound, a feasible kernel, and residuals."""
        before = self.best.gap
        self.bottom(self.v, min(_SETTLED, tol))  # an error of the eigenvalue is one of the bound
        bound = self.problem.bound(self.v, self.eigenvalues[0])
        if bound < self.best.bound:
            self.best = replace(self.best, bound=bound, weights=self.v / self.eigenvalues[0])
        feasible = made_feasible(self.problem, self.Y, min(1e-4, tol / 20))
        primal = self.problem.variance(feasible)
        if primal > self.best.primal:
            self.best = replace(self.best, primal=primal, coordinates=feasible)
        self.idle = 0 if self.best.gap < _FELL * before else self.idle + 1
        MY = self.problem.mass[:, None] * self.Y
        self.residual = float(np.linalg.norm(MY - self.laplacian @ self.Y) / np.linalg.norm(MY))
        self.mu = float(self.v @ self.s) / len(self.s)
        self.words = f"rank {self.Y.shape[1]}, mu {self.mu:.1e}, residual {self.residual:.1e}"

    def at_rest(self, tol: float) -> bool:
        """Whether the iteration stalled: the gap has not fallen for long, or for a while with a negligible barrier."""
        gone = self.mu * len(self.s) < 1e-3 * tol * self.best.bound
        return self.idle >= (_IDLE if gone else _LONG_IDLE) or not np.isfinite(self.residual)

    def damped(self) -> float:
        """θ: just below the least eigenvalue, and further below it the farther Y is from L(v) Y = M Y."""
        damping = np.clip(_DAMPING * self.residual, _LEAST_DAMPING, _MOST_DAMPING)
        return float(min(1.0, self.eigenvalues[0]) * (1.0 - damping))

    def advance(self) -> None:
        """One predictor-corrector step."""
        self.since += 1
        freed = self.free()
        if self.since > _PATIENCE:
            self.adapt_rank(freed)
        newton = _Newton(self, self.damped())
        step = newton.direction(0.0, 0.0)
        a_p = min(1.0, _to_boundary(self.s, step.s), newton.turned(step))
        a_d = min(1.0, _to_boundary(self.v, step.v))
        after = float((self.s + a_p * step.s) @ (self.v + a_d * step.v)) / len(self.s)
        lag = float(self.v @ np.abs(newton.rho)) / (self.mu * len(self.s))
        # near the boundary a length that is still wrong can hardly be mended
        sigma = float(np.clip((after / self.mu) ** 2, _LEAST_SIGMA, 1.0)) if lag < _LAG else 1.0
        # what the predictor leaves out: ds dv, and the curvature |dD|² of the lengths
        step = newton.direction(sigma * self.mu - a_p * a_d * step.s * step.v, -(a_p**2) * _squares(step.d))
        a_p = min(1.0, _BOUNDARY * _to_boundary(self.s, step.s), newton.turned(step))
        a_d = min(1.0, _BOUNDARY * _to_boundary(self.v, step.v))
        self.Y = self.problem.centered(self.Y + a_p * step.y)
        self.s = self.s + a_p * step.s
        self.v = self.v + a_d * step.v

    def free(self) -> bool:
        """Move Y along eigenvectors that it lacks and that limit the bound; True if some pair changed noticeably.

        A move a x in a new column adds a² |x_i − x_j|² to the pairs and a² (1 − λ) to the Lagrangian: a vertex without
        tight pairs moves as far as a share of their slack allows. Newton's step would not, because the gradient is 0.
        """
        low = np.flatnonzero(1.0 - self.eigenvalues > max(self.best.gap, _LEAST_DAMPING))
        if not low.size:
            return False
        root = np.sqrt(self.problem.mass)[:, None]
        values, turn = np.linalg.eigh((root * self.Y).T @ (root * self.Y))  # ascending
        span = np.linalg.qr(root * self.Y @ turn[:, values > _ABSENT * values[-1]])[0]
        far = False
        for number in low:
            vector = self.V[:, number]
            if np.sum((span.T @ (root[:, 0] * vector)) ** 2) > _LACKED:
                continue
            lengths = self.problem.squared_lengths(self.Y)
            across = (vector[self.graph.first] - vector[self.graph.second]) ** 2
            move = np.sqrt(_FREED * (self.s / np.maximum(across, np.finfo(float).tiny)).min())
            empty = self.Y @ turn[:, 0]  # all but; what it holds decides on the side
            Y = self.Y + np.copysign(move, self.problem.mass * empty @ vector) * np.outer(vector, turn[:, 0])
            longer = self.problem.squared_lengths(Y) - lengths
            if (longer < 2 * _FREED * self.s).all():
                self.Y, self.s = Y, self.s - longer
                far |= bool((longer > _FAR * self.problem.squared).any())
        return far

    def adapt_rank(self, freed: bool) -> None:
        """Add two columns where small eigenvalues of L(v) require them, drop one where two are near zero."""
        n, r = self.Y.shape
        root = np.sqrt(self.problem.mass)[:, None]
        values, turn = np.linalg.eigh((root * self.Y).T @ (root * self.Y))  # ascending
        shares = values / values.sum()
        full = shares[0] > _GROW_SHARE and (self.eigenvalues < _GROW_BELOW).sum() > r
        saddle = self.residual < _SADDLE_RESIDUAL and self.eigenvalues[0] < _SADDLE_BELOW and not freed
        more = min(2, n - 1 - r, _MOST_COLUMNS - r)
        if more > 0 and (full or saddle):
            span = np.linalg.qr(root * self.Y)[0]
            beside = root * self.V - span @ (span.T @ (root * self.V))
            fresh = np.linalg.svd(beside, full_matrices=False)[0][:, :more] / root
            self.Y = np.column_stack([self.Y, self.stretched(fresh, _GROW_LENGTH)])
            known = self.V.shape[1]
            wanted = max(known, min(r + more + _SPARE, n - 1))  # columns of Y that were dropped are still in V
            self.V = np.column_stack([self.V, self.waves(wanted - known, first=known + 1) / np.sqrt(n)])
            self.since = 0
            if saddle:
                self.loosen()
        elif r > _RANK and shares[1] < _DROP_SHARE:
            self.Y = self.Y @ turn[:, 1:]

    def loosen(self) -> None:
        """Move the iterate away from the boundary, where steps would be short."""
        self.Y = _WARM_LENGTH * self.Y
        self.v = np.maximum(self.v, _WARM_WEIGHT * self.v.mean())
        squared = self.problem.squared
        self.s = np.maximum(squared - self.problem.squared_lengths(self.Y), _WARM_SLACK * squared)


@dataclass(frozen=True)
class _Direction:
    """dY, dD, ds, dv."""

    y: Floats
    d: Floats
    s: Floats
    v: Floats


class _Newton:
    """The linear system of one iteration, factored once for predictor and corrector."""

    def __init__(self, at: Search, theta: float) -> None:
        self.at = at
        self.D = at.Y[at.graph.first] - at.Y[at.graph.second]  # (m, r)
        self.rho = at.problem.squared - _squares(self.D) - at.s
        r = at.Y.shape[1]
        forms = (2.0 * at.v / at.s)[:, None, None] * self.D[:, :, None] * self.D[:, None, :]
        forms[:, np.arange(r), np.arange(r)] += at.v[:, None]
        self.factor = _factor(at.graph.blocks(forms, -theta * at.problem.mass), at.symbolic.blocks(r))

    def direction(self, target: Floats | float, extra: Floats | float) -> _Direction:
        """The direction towards v s = target, with `extra` added to the residual of the lengths."""
        at, rho = self.at, self.rho + extra
        u = (target - at.v * rho) / at.s
        right = at.problem.mass[:, None] * at.Y - at.graph.spread(u[:, None] * self.D)
        dY = self.factor.solve(right.reshape(-1, 1)).reshape(right.shape)
        dD = dY[at.graph.first] - dY[at.graph.second]
        ds = rho - 2.0 * np.einsum("ec,ec->e", self.D, dD)
        return _Direction(dY, dD, ds, (target - at.v * ds) / at.s - at.v)

    def turned(self, step: _Direction) -> float:
        """The step length at which some pair changes by _TURN times its length, or its distance if that is larger."""
        lengths = np.maximum(self.at.problem.squared, _squares(self.D))
        change = float((_squares(step.d) / lengths).max())
        return _TURN / change**0.5 if change > 0 else np.inf


def _factor(matrix: csr_array, symbolic: Symbolic) -> Factor | SymmetricLU:
    try:
        return symmetric_factor(matrix, symbolic, _FACTORS)
    except SingularFactorError:  # some 1e-16 of slack is left on a pair: the direction need not be exact
        ridge = _RIDGE * float(np.abs(matrix.diagonal()).mean())
        return symmetric_factor(csr_array(matrix + ridge * eye_array(matrix.shape[0])), symbolic, _FACTORS)


def _squares(differences: Floats) -> Floats:
    return np.asarray(np.einsum("ec,ec->e", differences, differences))


def _to_boundary(values: Floats, steps: Floats) -> float:
    """The largest α for which values + α steps are positive."""
    falling = steps < 0
    return float((-values[falling] / steps[falling]).min()) if falling.any() else np.inf
