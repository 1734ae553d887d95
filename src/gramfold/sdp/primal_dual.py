"""A dense primal-dual interior-point method for rank-one constraints.

    primal   max ⟨C, X⟩   over X ⪰ 0 with    bₑᵀX bₑ = dₑ²                    "exact"
                                             bₑᵀX bₑ + sₑ = dₑ²,  s ≥ 0       "nonexpansive"
             max ⟨C, X⟩ − (c/2) Σ (bₑᵀX bₑ − dₑ²)²/dₑ²   over X ⪰ 0           "slack"
    dual     min Σ wₑ dₑ²  [slack: + Σ wₑ² dₑ²/2c]   over   Z = L(w) − C ⪰ 0  [nonexpansive: w ≥ 0]

with L(w) = Σ wₑ bₑbₑᵀ and C ⪰ 0. Z belongs to its w exactly and stays positive definite, so that each dual value bounds
the optimum; the primal equations are reached on the way (slack: bₑᵀX bₑ = dₑ² (1 + wₑ/c)). A step aims at X Z = t I and
sₑwₑ = t: the linearised product, its symmetric part (Helmberg, Rendl, Vanderbei, Wolkowicz, SIAM J. Optim. 6 (1996);
Kojima, Shindoh, Hara; Monteiro), with Mehrotra's correction from the step ' that aimed at t = 0. With V = Z⁻¹

    dX = tV − X − sym(X L(dw) V) − sym(dX' L(dw') V)
    ds = (t − ds' dw')/w − s − (s/w) dw
    (S + D) dw = the residual of the primal equations when dw = 0,    S_ef = (bₑᵀX b_f)(bₑᵀV b_f),    D = 0, s/w, d²/c

S, an elementwise product because the constraints have rank one, takes m² operations; factoring it takes m³/3.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg.lapack import dpotrs

from gramfold.errors import NotConvergedError, UnboundedProblemError
from gramfold.runtime.progress import beat
from gramfold.sdp.constraints import Constraints
from gramfold.sdp.dense import cholesky, factor_above, inverse_of, longest, product, symmetric_part
from gramfold.sdp.problem import Isometry, gap_between
from gramfold.types import Floats

End = Literal["converged", "iterations", "time", "stalled", "infeasible"]

_FRACTION = 0.95  # of the way to the boundary
_AIM = (1e-3, 0.5)  # σ: at least; and where the predictor's step is shorter than _SHORT and its forecast worth little
_SHORT = 0.1
_ABOVE = 2.0  # the first w is this many times the smallest multiple of 1/d² that is feasible
_LARGE = 3.0  # mean of bᵀXb/d² at the start: too small an X costs iterations, too large a one nearly none
_MIXED = 1e-2  # of the cold start in a warm one, at least
_RIDGE = (1e-14, 1e-9)  # relative to the diagonal of S + D: at first; beyond the last, give up
_REFINE = 1e-9  # relative miss of the primal equations that is worth another solve
_PATIENCE = 12  # iterations without progress
_PROGRESS = 0.9
_HALT = 1e-5  # a step as short as this moves nothing
_ROUGHLY = 0.1  # accuracy of the predictor's step
_CLOSELY = 0.03  # and of the step itself
_ROUNDING = 1e-10  # a sum less negative than this, relative to its terms, is not called negative


@dataclass(frozen=True)
class Program:
    """The program. The bₑ must span the whole space: a dimension that is orthogonal to all of them is left out."""

    constraints: Constraints
    squared: Floats  # (m,) d²
    objective: Floats  # (N, N) C
    isometry: Isometry = "nonexpansive"
    stiffness: float = 100.0  # c


@dataclass(frozen=True)
class Point:
    """One iterate: X, Z and their factors."""

    X: Floats
    weights: Floats  # (m,) w
    slack: Floats | None  # (m,) s, nonexpansive only
    Z: Floats
    root_x: Floats  # lower Cholesky factor of X
    root_z: Floats

    @classmethod
    def of(cls, program: Program, X: Floats, weights: Floats, slack: Floats | None) -> "Point | None":
        """The iterate; None if X or Z is not positive definite."""
        Z = program.constraints.weighted(weights) - program.objective
        root_x, root_z = cholesky(X), cholesky(Z)
        return None if root_x is None or root_z is None else cls(X, weights, slack, Z, root_x, root_z)


@dataclass(frozen=True)
class Values:
    """Objective, bound and violation of an iterate."""

    primal: float  # of X made feasible by scaling; exact: of X, corrected to first order for what its lengths miss
    bound: float
    violation: float  # exact: max |√(bᵀXb)/d − 1|; else 0
    complementarity: float  # ⟨X, Z⟩ + sᵀw

    @property
    def gap(self) -> float:
        """1 − primal / bound."""
        return gap_between(self.primal, self.bound)


@dataclass(frozen=True)
class Outcome:
    """The best primal and dual iterates, and why the iteration ended."""

    X: Floats
    weights: Floats
    end: End
    iterations: int


Watcher = Callable[[int, float, float], None]  # iteration, best primal, best bound


def core(
    program: Program,
    *,
    start: tuple[Floats, Floats] | None = None,
    tol: float = 1e-6,
    max_iter: int = 100,
    time_limit: float | None = None,
    watch: Watcher | None = None,
) -> Outcome:
    """Solve until gap and violation are below `tol`; `start` holds X and w of a warm start."""
    started = time.perf_counter()
    point = cold_start(program) if start is None else warm_start(program, *start)
    work = _Work.of(program)
    exact = program.isometry == "exact"
    primal, bound = -np.inf, np.inf
    best_x, best_weights = point.X, point.weights
    progress, since = np.inf, 0
    iteration = 0
    while True:
        beat()
        values = measure(program, point)
        if exact or values.primal > primal:  # exact: the later, the nearer to its lengths
            primal, best_x = values.primal, point.X
        if values.bound < bound:
            bound, best_weights = values.bound, point.weights
        primal = min(primal, bound)
        if watch is not None:
            watch(iteration, primal, bound)
        gap = values.gap if exact else gap_between(primal, bound)
        left = max(abs(gap), values.violation)
        progress, since = (left, 0) if left < _PROGRESS * progress else (progress, since + 1)
        end: End | None = None
        if exact and values.bound < -_ROUNDING * float(np.abs(point.weights) @ program.squared):
            end = "infeasible"  # L(w) ⪰ C ⪰ 0, so Σ w dₑ² = ⟨L(w), X⟩ ≥ 0 for every feasible X: there is none
        elif left <= tol:
            end = "converged"
        elif iteration >= max_iter:
            end = "iterations"
        elif time_limit is not None and time.perf_counter() - started >= time_limit:
            end = "time"
        elif since > _PATIENCE:
            end = "stalled"
        following = None if end else _next(program, point, values, work)
        if following is None:
            return Outcome(best_x, best_weights, end or "stalled", iteration)
        point = following
        iteration += 1


def measure(program: Program, point: Point) -> Values:
    """Primal and dual values of an iterate, and its complementarity."""
    d2, c, w = program.squared, program.stiffness, point.weights
    lengths = program.constraints.lengths(point.X)
    inner = float(np.vdot(point.X, point.Z))
    bound = float(w @ d2)
    value = float(np.vdot(program.objective, point.X))
    if program.isometry == "nonexpansive":
        assert point.slack is not None
        return Values(value / float((lengths / d2).max()), bound, 0.0, inner + float(point.slack @ w))
    if program.isometry == "slack":
        scale = best_scale(value, lengths, d2, c)
        price = 0.5 * c * float((scale * lengths - d2) ** 2 @ (1.0 / d2))
        return Values(scale * value - price, bound + float(w**2 @ d2) / (2.0 * c), 0.0, inner)
    violation = float(np.abs(np.sqrt(lengths / d2) - 1.0).max())
    return Values(bound - inner, bound, violation, inner)  # bound − ⟨X, Z⟩ = ⟨C, X⟩ + Σ w (d² − bᵀXb)


def best_scale(value: float, lengths: Floats, squared: Floats, stiffness: float) -> float:
    """The a that maximises a⟨C, X⟩ − (c/2) Σ (a bᵀXb − d²)²/d²."""
    return (value + stiffness * float(lengths.sum())) / (stiffness * float(lengths**2 @ (1.0 / squared)))


# --- starts


def cold_start(program: Program) -> Point:
    """The start w ∝ 1/d², with X and s of about the right size for which X Z = t I and s w = t hold exactly."""
    constraints, d2 = program.constraints, program.squared
    laplacian = constraints.weighted(1.0 / d2)
    root = cholesky(laplacian)
    if root is None:
        raise UnboundedProblemError(
            "the constraints do not bound the variance in some direction, so it has no maximum: add constraints (for a "
            "graph, pairs between its connected components)."
        )
    # the eigenvalue that bounds the step is at most −1 in this unit, and `longest` works relative to that
    unit = _power_of_two(float((np.diag(program.objective) / np.diag(laplacian)).max()))
    weights = _ABOVE / (longest(root, -program.objective / unit) / unit * d2)
    Z = constraints.weighted(weights) - program.objective
    root_z = cholesky(Z)
    if root_z is None:
        raise too_far_apart(d2)
    X = inverse_of(root_z)
    ratio = constraints.lengths(X) / d2
    slack = None
    if program.isometry == "nonexpansive":
        slack = 1.0 / weights
        ratio = ratio + slack / d2
    wanted = 1.0 + weights.mean() / program.stiffness if program.isometry == "slack" else 1.0
    t = _LARGE * wanted / float(ratio.mean())
    X *= t
    root_x = cholesky(X)
    if root_x is None:
        raise too_far_apart(d2)
    return Point(X, weights, None if slack is None else t * slack, Z, root_x, root_z)


def _power_of_two(value: float) -> float:
    return float(np.ldexp(1.0, int(np.frexp(value)[1]) - 1))


def too_far_apart(squared: Floats) -> NotConvergedError:
    """The error for lengths of too different sizes for dense matrices."""
    shortest, longest_one = np.sqrt([squared.min(), squared.max()])
    return NotConvergedError(
        f"the kept distances lie between {shortest:.1e} and {longest_one:.1e}, so that the shortest are lost in the "
        'rounding of dense matrices: use isometry="nonexpansive" with solver="low-rank", or remove near-duplicate rows '
        "and outliers."
    )


def warm_start(program: Program, X: Floats, weights: Floats) -> Point:
    """A start near X and w: w is moved towards the cold start until Z is positive definite, then X along Z⁻¹."""
    cold = cold_start(program)
    if program.isometry == "nonexpansive":
        weights = np.maximum(weights, 0.0)
    share = _MIXED
    while share < 1.0:
        mixed = (1.0 - share) * weights + share * cold.weights
        Z = program.constraints.weighted(mixed) - program.objective
        root_z = cholesky(Z)
        if root_z is not None:
            inner = float(np.vdot(X, Z))
            t = inner / len(X)
            inside = X + t * inverse_of(root_z)
            root_x = cholesky(inside)
            if root_x is None:
                break
            slack = None
            if program.isometry == "nonexpansive":
                slack = np.maximum(program.squared - program.constraints.lengths(inside), t / mixed)
            return Point(inside, mixed, slack, Z, root_x, root_z)
        share *= 4.0
    return cold


# --- one iteration


@dataclass(frozen=True)
class _Work:
    """The Schur matrix, allocated once for all iterations."""

    schur: Floats  # (m, m)
    diagonal: Floats  # a view of it

    @classmethod
    def of(cls, program: Program) -> "_Work":
        m = program.constraints.count
        schur = np.empty((m, m))
        return cls(schur, schur.reshape(-1)[:: m + 1])


@dataclass(frozen=True)
class _Direction:
    X: Floats
    weights: Floats
    slack: Floats | None
    Z: Floats


def _next(program: Program, point: Point, values: Values, work: _Work) -> Point | None:
    """The next iterate; None if rounding prevents it."""
    newton = _Newton.of(program, point, work)
    if newton is None:
        return None
    predictor = newton.direction(0.0, None)
    ahead, back = _steps(program, point, predictor, 1.0, _ROUGHLY)
    mean = values.complementarity / (len(point.X) + (0 if point.slack is None else len(point.slack)))
    sigma = _AIM[1]
    if min(ahead, back) > _SHORT:
        left = float(np.vdot(point.X + ahead * predictor.X, point.Z + back * predictor.Z))
        if point.slack is not None and predictor.slack is not None:
            left += float((point.slack + ahead * predictor.slack) @ (point.weights + back * predictor.weights))
        sigma = min(1.0, max(_AIM[0], (left / values.complementarity) ** 2))
    direction = newton.direction(sigma * mean, predictor)
    primal, dual = _steps(program, point, direction, _FRACTION, _CLOSELY)
    return _moved(point, direction, primal, dual)


def _moved(point: Point, direction: _Direction, primal: float, dual: float) -> Point | None:
    """The iterate after the step, shortened where Lanczos overestimated its length."""
    root_x = root_z = None
    while root_x is None and primal > _HALT:
        X = point.X + primal * direction.X
        root_x = cholesky(X)
        primal *= 1.0 if root_x is not None else 0.8
    while root_z is None and dual > _HALT:
        Z = point.Z + dual * direction.Z
        root_z = cholesky(Z)
        dual *= 1.0 if root_z is not None else 0.8
    if root_x is None or root_z is None:
        return None
    slack = None
    if point.slack is not None and direction.slack is not None:
        slack = point.slack + primal * direction.slack
    return Point(X, point.weights + dual * direction.weights, slack, Z, root_x, root_z)


def _steps(
    program: Program, point: Point, direction: _Direction, fraction: float, accuracy: float
) -> tuple[float, float]:
    """Step lengths of X (with s) and Z (with w) along the direction, at most 1."""
    primal, dual = longest(point.root_x, direction.X, accuracy), longest(point.root_z, direction.Z, accuracy)
    if point.slack is not None and direction.slack is not None:
        primal = min(primal, _ratio(point.slack, direction.slack))
        dual = min(dual, _ratio(point.weights, direction.weights))
    primal, dual = min(1.0, fraction * primal), min(1.0, fraction * dual)
    if program.isometry == "slack":  # w stands in the primal equations
        primal = dual = min(primal, dual)
    return primal, dual


def _ratio(values: Floats, changes: Floats) -> float:
    """Largest a with values + a·changes ≥ 0."""
    worst = float((changes / values).min())
    return np.inf if worst >= 0 else -1.0 / worst


@dataclass(frozen=True)
class _Newton:
    """The linear system of one iterate, factored."""

    program: Program
    point: Point
    inverse: Floats  # V
    factor: Floats  # of S + D, the lower one in LAPACK's order

    @classmethod
    def of(cls, program: Program, point: Point, work: _Work) -> "_Newton | None":
        """The factored system; None if S + D is not positive definite up to rounding."""
        inverse = inverse_of(point.root_z)
        ridge = _RIDGE[0]
        while ridge <= _RIDGE[1]:
            program.constraints.schur(point.X, inverse, work.schur)
            if point.slack is not None:
                work.diagonal[:] += point.slack / point.weights
            elif program.isometry == "slack":
                work.diagonal[:] += program.squared / program.stiffness
            work.diagonal[:] *= 1.0 + ridge
            if factor_above(work.schur):
                return cls(program, point, inverse, work.schur.T)
            ridge *= 100.0
        return None

    def direction(self, t: float, before: _Direction | None) -> _Direction:
        """The direction towards t, with the second-order correction of the predictor."""
        program, point = self.program, self.point
        constraints, w = program.constraints, point.weights
        fixed = t * self.inverse - point.X  # dX where dw = 0
        if before is not None:
            fixed -= symmetric_part(product(constraints.times(before.weights, before.X).T, self.inverse))
        missing = program.squared - constraints.lengths(point.X)  # the residual where dw = 0
        missing -= constraints.lengths(fixed)
        slack = None
        if point.slack is not None:
            second = before.slack * before.weights if before is not None and before.slack is not None else 0.0
            slack = (t - second) / w - point.slack
            missing -= point.slack + slack
        elif program.isometry == "slack":
            missing += program.squared * w / program.stiffness
        dw = np.zeros_like(w)
        X, change = fixed, -missing
        for _ in range(2):  # the second time for what rounding left
            dw = dw + dpotrs(self.factor, change, lower=1)[0]
            X = fixed - symmetric_part(product(constraints.times(dw, point.X).T, self.inverse))
            reached = constraints.lengths(X) - constraints.lengths(fixed)
            if point.slack is not None:
                reached -= point.slack / w * dw
            elif program.isometry == "slack":
                reached -= program.squared / program.stiffness * dw
            change = reached - missing
            if np.abs(change / program.squared).max() <= _REFINE:
                break
        if slack is not None and point.slack is not None:
            slack = slack - point.slack / w * dw
        return _Direction(X, dw, slack, constraints.weighted(dw))
