"""Multipliers of either sign towards the optimum, with L(w) ⪰ θM kept by a barrier.

    min  Σ_e w_e d_e² + (a_e/2) w_e²  −  μ log det(L(w) − θM)     over   L(w) ⪰ M  [multiplier Y Yᵀ]

with a = 0 in the exact form and d²/C in the slack one. The kernel that belongs to w is Y Yᵀ + μ S⁻¹, S = L(w) − θM, θ a
little below 1: few long columns, and a short tail in all dimensions, so that

    L(w) Y = M Y,     |D_e|² + t_e = d_e² + a_e w_e,     t_e = μ b_eᵀ S⁻¹ b_e

The tails need the entries of S⁻¹ on the pairs only, at the cost of two factorisations. Their derivative
−μ (b_eᵀ S⁻¹ b_f)² is replaced by a diagonal −A_e, several times its own: rows of that matrix of squares sum to about as
much. A step then is

    (S ⊗ I_r + Σ (2/A_e) (b_e ⊗ D_e)(b_e ⊗ D_e)ᵀ) dY = M Y − L(w + q/A) Y,    q = |D|² + t − d² − a w
    dw = (q + 2 D·dD) / A

Far from the path A is larger, so that no w_e falls by more than a share of what the barrier allows for it alone. S
stays positive definite, so every iterate proves a bound.
"""

import numpy as np

from gramfold.direct.factor import Factor, Symbolic
from gramfold.direct.selected_inverse import SelectedInverse
from gramfold.errors import NotConvergedError, SingularFactorError
from gramfold.sdp.newton_matrix import NewtonMatrix
from gramfold.sdp.problem import Problem
from gramfold.types import Floats

_SPREAD = 20.0  # of the tails' derivative, relative to its diagonal
_FALL = 0.5  # share of the way to the barrier that a pair alone may go
_TAIL = 0.1  # t/d² at the start, in the median
_COOLING = 0.7  # of μ in a step
_SHORTER = 0.7  # where S is indefinite after a step
_SHORTEST = 1e-6
_SHIFTS = 100  # doublings
_ROUNDING = float(np.finfo(np.float64).eps)  # of b_eᵀ S⁻¹ b_e, relative to the entries it is the difference of


class DualPath:
    """w and Y on their way, from multipliers that may be indefinite."""

    def __init__(
        self, problem: Problem, symbolic: Symbolic, matrix: NewtonMatrix, Y: Floats, w: Floats, tol: float
    ) -> None:
        self.problem, self.symbolic, self.matrix, self.graph = problem, symbolic, matrix, matrix.graph
        vertices = np.arange(len(problem))
        rows, columns = (np.concatenate([vertices, end]) for end in (self.graph.first, self.graph.second))
        self.inverse = SelectedInverse.of(symbolic, rows, columns)
        self.give = problem.squared / problem.stiffness if problem.isometry == "slack" else np.zeros(len(w))
        self.theta = 1.0 - 2.0 * tol
        self.last = tol * problem.variance(Y) / len(problem)  # of μ: the barrier is worth μ n
        self.Y, self.w, self.step = Y, self._shifted(w, self.last), 1.0
        ratio = float(np.median(self._spread(self._factor(self.w)) / problem.squared))
        self.mu = max(self.last, _TAIL / ratio)

    def _shifted(self, w: Floats, least: float) -> Floats:
        """The w + δ/d² with the first δ = least, 2 least, 4 least … that makes S positive definite."""
        for doubling in range(_SHIFTS):
            shifted = w + least * 2.0**doubling / self.problem.squared
            if self._inside(shifted):
                return np.asarray(shifted)
        raise NotConvergedError(
            "no multipliers prove a bound, because kept distances of very different sizes are lost in rounding: remove "
            "near-duplicate rows and outliers."
        )

    def _factor(self, w: Floats) -> Factor:
        return Factor.of(self.graph.laplacian(w, -self.theta * self.problem.mass), self.symbolic)

    def _inside(self, w: Floats) -> bool:
        try:
            return self._factor(w).negative == 1  # the constant vector's: −θ
        except SingularFactorError:
            return False

    def _spread(self, factor: Factor) -> Floats:
        """b_eᵀ S⁻¹ b_e of each pair."""
        entries = self.inverse.entries(factor)
        n = len(self.problem)
        ends = entries[self.graph.first] + entries[self.graph.second]
        return np.maximum(ends - 2.0 * entries[n:], _ROUNDING * np.abs(ends))

    def advance(self) -> bool:
        """One step towards the path, and along it; False where rounding prevents it."""
        problem, graph, Y, w = self.problem, self.graph, self.Y, self.w
        D = graph.differences(Y)
        spread = self._spread(self._factor(w))
        q = _squares(D) + self.mu * spread - problem.squared - self.give * w
        A = np.maximum(_SPREAD * self.mu * spread**2 + self.give, np.abs(q) * spread / _FALL)
        try:
            factor = self.matrix.factored(w, 2.0 / A, D, -self.theta * problem.mass)
        except SingularFactorError:
            return False
        right = problem.mass[:, None] * Y - graph.spread((w + q / A)[:, None] * D)
        dY = problem.centered(factor.solve(right.reshape(-1, 1)).reshape(right.shape))
        dD = graph.differences(dY)
        dw = (q + 2.0 * np.einsum("ec,ec->e", D, dD)) / A
        step = min(1.0, self.step / _SHORTER**2)  # steps change little from one to the next
        while step > _SHORTEST and not self._inside(w + step * dw):
            step *= _SHORTER
        self.step = step
        if step < 1.0:
            step *= _SHORTER  # away from the boundary
        turn = float((_squares(dD) / np.maximum(problem.squared, _squares(D))).max())
        self.Y = Y + min(1.0, 1.0 / max(turn, 1e-300) ** 0.5) * dY
        if step > _SHORTEST:
            self.w = w + step * dw
        self.mu = max(self.last, _COOLING * self.mu)
        return True


def _squares(differences: Floats) -> Floats:
    return np.asarray(np.einsum("ec,ec->e", differences, differences))
