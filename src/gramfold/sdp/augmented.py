"""Newton's method on the augmented Lagrangian of a low-rank factor: distances kept, or kept nearly.

    min over Y   −tr M Y Yᵀ + Σ_e [w̄_e q_e + (κ_e/2) q_e²],     q_e = |D_e|² − d_e²

The slack form is this problem with w̄ = 0 and κ = C/d². The exact form solves it repeatedly: w̄ becomes w = w̄ + κ q, the
multipliers at its optimum, and κ grows. Multipliers are a variable of their own, as in an interior-point method, which
allows much longer steps where κ is large:

    L(w) Y = M Y,    w = w̄ + κ q;     H dY = M Y − L(u) Y,    u = w̄ + κ q,    dw = u + 2κ D·dD − w
    H = (L(w) − M) ⊗ I_r + Σ_e 2κ_e (b_e ⊗ D_e)(b_e ⊗ D_e)ᵀ

and steps reduce the merit function of Gill and Robinson, the augmented Lagrangian with Σ (w − u)²/2κ added. H must be
positive definite except for shifts, which its factor tells. Where it is not, negative weights are raised by τ/d², to 0
at most: only they push its eigenvalues below 0, and damping the others too would make steps shorter everywhere.

Gill, Robinson, Computational Optimization and Applications 51 (2012).
"""

from dataclasses import dataclass

import numpy as np

from gramfold.direct.factor import Factor
from gramfold.errors import SingularFactorError
from gramfold.runtime.progress import beat
from gramfold.sdp.newton_matrix import NewtonMatrix
from gramfold.sdp.problem import Problem
from gramfold.types import Floats

_DAMPING, _LEAST_DAMPING = 1e-2, 1e-6  # τ at first, and at least
_HARDER, _MUCH_HARDER, _SOFTER = 4.0, 8.0, 0.25  # H indefinite; no decrease along the step; a full step
_CAREFUL = 3.0  # after a step shortened to less than half
_ALL = 1e-3  # of τ on weights that are not negative: rotations of Y have eigenvalue 0
_TRIES, _HALVINGS, _DECREASE = 20, 4, 1e-2
_MENDED, _MENDS = 1e-8, 30  # largest relative error of a squared length; iterations
_STIFFEST, _SOFTEST, _STIFFEN = 1e6, 1.0, 10.0  # of the springs that pull lengths to d, beside those that hold Y


@dataclass
class Augmented:
    """Y, w and the damping; with vertices in the order of elimination."""

    problem: Problem
    matrix: NewtonMatrix
    Y: Floats
    w: Floats
    damping: float = _DAMPING
    residual: float = np.inf  # of L(w) Y = M Y, relative
    decrease: float = np.inf  # of the merit function in the last step, relative to the variance

    def excess(self, Y: Floats) -> Floats:
        """|D_e|² − d_e² of each pair."""
        return self.problem.squared_lengths(Y) - self.problem.squared

    def step(self, anchor: Floats, stiff: Floats) -> bool:
        """One step with w̄ and κ; False where there is none that reduces the merit function."""
        Y, w = self.Y, self.w
        u = anchor + stiff * self.excess(Y)
        before = self._merit(Y, w, anchor, stiff)
        for _ in range(_TRIES):
            beat()
            found = self.direction(u, stiff)
            if found is None:
                self.damping *= _HARDER
                continue
            dY, dw = found
            slope = -2.0 * float(np.vdot(dY, self._force(Y, 2.0 * u - w))) + float(dw @ ((w - u) / stiff))
            for part in 0.5 ** np.arange(_HALVINGS):
                after = self._merit(Y + part * dY, w + part * dw, anchor, stiff)
                if after < before + _DECREASE * part * slope:
                    self.Y, self.w = self.problem.centered(Y + part * dY), w + part * dw
                    self._follow(part)
                    self._measure(before - after)
                    return True
            self.damping *= _MUCH_HARDER
        return False

    def direction(self, u: Floats, stiff: Floats) -> tuple[Floats, Floats] | None:
        """The step dY and dw; None where H is not positive definite."""
        graph = self.matrix.graph
        D = graph.differences(self.Y)
        factor = self._factor(D, stiff)
        if factor is None:
            return None
        dY = self._solved(factor, self._force(self.Y, u))
        return dY, u + 2.0 * stiff * np.einsum("ec,ec->e", D, graph.differences(dY)) - self.w

    def mended(self) -> Floats:
        """Y moved to its distances by Gauss–Newton steps, each the shortest that keeps them to first order.

        The variance changes by −Σ w q, and by terms of second order only, as L(w) Y = M Y. Steps that are too long,
        where pairs nearly contradict each other, are damped: then they keep the distances less.
        """
        Y, stiff, error = self.Y, _STIFFEST, self._misfit(self.Y)
        for _ in range(_MENDS):
            beat()
            if float(np.abs(self.excess(Y) / self.problem.squared).max()) < _MENDED or stiff < _SOFTEST:
                break
            moved = self._towards(Y, stiff)
            misfit = np.inf if moved is None else self._misfit(moved)
            if moved is not None and misfit < error:
                Y, error = moved, misfit
                stiff = min(_STIFFEST, stiff * _STIFFEN)
            else:
                stiff /= _STIFFEN**2
        return Y

    def _misfit(self, Y: Floats) -> float:
        return float(np.sum((self.excess(Y) / self.problem.squared) ** 2))

    def _towards(self, Y: Floats, stiff: float) -> Floats | None:
        """Y + dY, dY the shortest in the metric L(1/d²) that brings every distance closer."""
        problem, graph = self.problem, self.matrix.graph
        D = graph.differences(Y)
        weight = stiff / problem.squared**2
        try:
            factor = self.matrix.factored(1.0 / problem.squared, weight, D, _ALL * problem.mass)
        except SingularFactorError:
            return None
        pull = graph.spread((0.5 * weight * self.excess(Y))[:, None] * D)
        return problem.centered(Y - self._solved(factor, pull))

    def _solved(self, factor: Factor, right: Floats) -> Floats:
        return self.problem.centered(factor.solve(right.reshape(-1, 1)).reshape(right.shape))

    def _follow(self, part: float) -> None:
        """Damp less after a whole step, more after less than half of one."""
        if part == 1.0:
            self.damping = max(_LEAST_DAMPING, _SOFTER * self.damping)
        elif part < 0.5:
            self.damping *= _CAREFUL

    def _factor(self, D: Floats, stiff: Floats) -> Factor | None:
        """Of H; None where it is not positive definite."""
        raised = self.damping / self.problem.squared
        weights = np.where(self.w < 0, np.minimum(self.w + raised, 0.0), self.w) + _ALL * raised
        try:
            factor = self.matrix.factored(weights, 2.0 * stiff, D, -self.problem.mass)
        except SingularFactorError:
            return None
        return factor if factor.negative == D.shape[1] else None  # the shifts of each column: −1

    def _force(self, Y: Floats, w: Floats) -> Floats:
        """M Y − L(w) Y."""
        graph = self.matrix.graph
        return np.asarray(self.problem.mass[:, None] * Y - graph.spread(w[:, None] * graph.differences(Y)))

    def _merit(self, Y: Floats, w: Floats, anchor: Floats, stiff: Floats) -> float:
        q = self.excess(Y)
        apart = w - anchor - stiff * q
        return float(anchor @ q + 0.5 * (stiff @ q**2) + 0.5 * (apart @ (apart / stiff))) - self.problem.variance(Y)

    def _measure(self, gained: float) -> None:
        MY = self.problem.mass[:, None] * self.Y
        self.residual = float(np.linalg.norm(self._force(self.Y, self.w)) / np.linalg.norm(MY))
        self.decrease = gained / self.problem.variance(self.Y)
