"""The exact and slack forms for many rows: Y by Newton's method, multipliers of either sign by a path of their own.

    Y, w     the augmented Lagrangian of the distances (`augmented`), from the non-expansive solution, in rounds: the
             exact form takes the multipliers of one round into the next, and penalises errors of the distances more
    bound    when a round has changed little: the multipliers are moved until L(w) ⪰ M can be proved (`dual_path`)
    kernel   exact: Y with its last errors mended; slack: the best multiple of Y

Y has a few columns more than a vertex has pairs, so that nearly all its places on which distances are kept can be
reached. With fewer than the optimal kernel needs, w misses L(w) ⪰ M in places, by little compared with what the
variance of the whole costs; the bound pays for that.
"""

from dataclasses import dataclass

import numpy as np

from gramfold.direct.factor import Symbolic
from gramfold.runtime.progress import beat
from gramfold.sdp.assembly import Assembly
from gramfold.sdp.augmented import Augmented
from gramfold.sdp.certificate import certify
from gramfold.sdp.dual_path import DualPath
from gramfold.sdp.newton_matrix import NewtonMatrix
from gramfold.sdp.primal_dual import best_scale
from gramfold.sdp.problem import Problem, Solution, by_variance, gap_between
from gramfold.types import Floats

KEPT = 0.1  # of the tolerance: largest relative error of a distance in the exact form
_ROUND = 10  # Newton steps in a round, at most
_LEAST_RANK, _MORE_COLUMNS, _MOST_COLUMNS = 6, 3, 24  # r; beyond the pairs of a vertex
_CHANCE, _LITTLE = 0.1, 0.03  # of the mean length: noise in the first columns, and in later ones
_FIRST_RANK, _WIDE = 8, 1e-2  # columns that do till the error of the lengths is below this, where more are far slower
_STIFFNESS, _STIFFER = 20.0, 3.0  # κ d² at first, relative to the mean multiplier, and from round to round
_NEARLY = 3e-4  # root mean square error of the lengths from which they can be mended
_SETTLED = 2.0  # change in a round that is worth proving, relative to the tolerance
_REST = 1e-4  # relative decrease in a step that ends a round
_PATH, _PATH_COLUMNS = 24, 8  # steps of the multipliers, and columns that go with them: the others are in their tails
_ENOUGH = 0.8  # of the tolerance: a gap at which the path ends
_SHARE = 0.2  # of the tolerance that is given to their barrier
_TRIED, _IDLE = 2, 4  # proofs without a better gap: then more columns; then the end
_FELL = 0.95
_FALLS, _LATE = 0.8, 4  # error of the lengths from round to round; rounds in which it did not fall


@dataclass(frozen=True)
class Found:
    """A kernel and multipliers."""

    coordinates: Floats
    primal: float
    weights: Floats
    bound: float
    violation: float  # largest relative error of a length; 0 in the slack form

    @property
    def gap(self) -> float:
        """1 − primal / bound, or if that is more, the violation in units of what is allowed beside such a gap."""
        return max(abs(gap_between(self.primal, self.bound)), self.violation / KEPT)


def rank_for(n: int, pairs: int) -> int:
    """Number of columns: more than a vertex has pairs."""
    return int(np.clip(np.ceil(pairs / n) + _MORE_COLUMNS, min(_LEAST_RANK, n - 1), min(_MOST_COLUMNS, n - 1)))


class SignedSearch:
    """The state of the rounds: Y, w, w̄ and κ."""

    prove_at = 1.0  # of the gap that is asked for: bounds are proved already

    def __init__(self, problem: Problem, symbolic: Symbolic, start: Solution) -> None:
        self.problem, self.symbolic = problem, symbolic
        self.graph = Assembly.of(problem.pairs, len(problem))
        self.rank = rank_for(len(problem), len(problem.pairs))
        rank = min(self.rank, max(_FIRST_RANK, self.rank - _MORE_COLUMNS))
        if problem.isometry == "slack":  # lengths that give way need no columns for each of them
            self.rank = rank = min(self.rank, _FIRST_RANK)
        matrix = NewtonMatrix.of(self.graph, symbolic, rank)
        w = start.certificate.weights
        self.state = Augmented(problem, matrix, self._widened(start.coordinates, rank, _CHANCE), w)
        self.anchor = np.zeros(len(w)) if problem.isometry == "slack" else w
        self.stiffness = _STIFFNESS * float(np.abs(w) @ problem.squared) / float(problem.squared.sum())
        if problem.isometry == "slack":
            self.stiffness = problem.stiffness
            self.state.Y = self._scaled(self.state.Y)
        self.best = Found(self.state.Y, -np.inf, w, np.inf, np.inf)
        self.least, self.late = np.inf, 0  # error of the lengths, and rounds since it fell
        self.value, self.idle, self.words = np.inf, 0, f"rank {rank}"

    def _widened(self, Y: Floats, rank: int, chance: float) -> Floats:
        """Y with this number of columns, and noise that no saddle point survives."""
        noise = np.random.default_rng(0).standard_normal((len(Y), rank))
        wide = chance * np.sqrt(self.problem.squared.mean()) * noise
        kept = min(rank, Y.shape[1])
        wide[:, :kept] += Y[:, :kept]
        return self.problem.centered(wide)

    def _scaled(self, Y: Floats) -> Floats:
        """Slack: the best multiple of Y."""
        if self.problem.isometry != "slack":
            return Y
        lengths = self.problem.squared_lengths(Y)
        scale = best_scale(self.problem.variance(Y), lengths, self.problem.squared, self.problem.stiffness)
        return np.asarray(Y * np.sqrt(max(scale, 0.0)))

    def advance(self) -> None:
        """A round."""
        state, wide = self.state, self.problem.isometry == "slack" or self.error < _WIDE
        if state.Y.shape[1] < self.rank and (wide or self.late):
            state.matrix = NewtonMatrix.of(self.graph, self.symbolic, self.rank)
            state.Y = self._widened(state.Y, self.rank, _LITTLE)
        stiff = self.stiffness / self.problem.squared
        for step in range(_ROUND):
            beat()
            if not state.step(self.anchor, stiff):  # at the optimum of this round, up to rounding
                self.late += step == 0
                break
            if state.decrease < _REST * _SHARE * self.tol:
                break
        if self.problem.isometry == "exact":
            self.anchor = self.state.w
            if self.error > _NEARLY / 2:
                self.stiffness *= _STIFFER

    @property
    def error(self) -> float:
        """Root mean square of |D|²/d² − 1."""
        return float(np.sqrt(np.mean((self.state.excess(self.state.Y) / self.problem.squared) ** 2)))

    def measure(self, tol: float) -> None:
        """See how far the last round came, and prove a bound if that is worth it."""
        self.tol = tol
        value = self._estimate()
        changed, self.value = abs(value - self.value), value
        error = self.error
        self.least, self.late = (error, 0) if error < _FALLS * self.least else (self.least, self.late + 1)
        near = self.problem.isometry == "slack" or error < _NEARLY
        self.words = f"rank {self.state.Y.shape[1]}, residual {self.state.residual:.1e}, rms error {error:.1e}"
        hopeless = self.problem.isometry == "exact" and self.late >= _LATE
        if hopeless or (near and changed < _SETTLED * tol * abs(value)):
            self._prove(tol)
        elif not np.isfinite(self.best.bound):
            self.best = self._found(self._scaled(self.state.Y), self.best.weights, np.inf)

    def _estimate(self) -> float:
        """The optimum, by the multipliers: Σ w d² [slack: + w² d²/2C]."""
        return self.problem.bound(self.state.w, 1.0)

    def _found(self, Y: Floats, weights: Floats, bound: float) -> Found:
        violation = 0.0
        if self.problem.isometry == "exact":
            ratio = self.problem.squared_lengths(Y) / self.problem.squared
            violation = float(np.abs(np.sqrt(ratio) - 1.0).max())
        return Found(Y, self.problem.objective(Y), weights, bound, violation)

    def _prove(self, tol: float) -> None:
        """Look for a better kernel and bound, by Y and w as they are."""
        state, problem = self.state, self.problem
        Y = state.mended() if problem.isometry == "exact" else self._scaled(state.Y)
        primal = problem.objective(Y)
        few = by_variance(state.Y, problem.mass)[:, :_PATH_COLUMNS]
        matrix = NewtonMatrix.of(self.graph, self.symbolic, few.shape[1])
        path = DualPath(problem, self.symbolic, matrix, few, state.w, _SHARE * tol)
        least, weights = np.inf, path.w
        for _ in range(_PATH):
            beat()
            if not path.advance():
                break
            value = problem.bound(path.w, 1.0)
            if value < least:
                least, weights = value, path.w
            if path.mu <= path.last and abs(gap_between(primal, least)) < _ENOUGH * tol:
                break
        certificate = certify(problem, Y, weights, self.symbolic)
        found = self._found(Y, certificate.weights, certificate.upper_bound)
        before = self.best.gap
        if found.gap < before or (found.bound < 0 and problem.isometry == "exact"):
            self.best = found
        self.idle = 0 if found.gap < _FELL * before else self.idle + 1
        most = min(_MOST_COLUMNS, len(problem) - 1)
        if self.idle >= _TRIED and self.rank < most:
            self.rank, self.idle = min(most, self.rank + _MORE_COLUMNS), 0

    def at_rest(self, tol: float) -> bool:
        """Whether there is no progress any more."""
        return self.idle >= _IDLE or (self.problem.isometry == "exact" and self.best.bound < 0)
