"""Newton's method on the augmented Lagrangian of a low-rank factor: distances kept, or kept nearly.

    min over Y   −tr M Y Yᵀ + Σ_e [w̄_e q_e + (κ_e/2) q_e²],     q_e = |D_e|² − d_e²

The slack form is this problem with w̄ = 0 and κ = C/d². The exact form solves it repeatedly: w̄ becomes w = w̄ + κ q, the
multipliers at its optimum, and κ grows. Multipliers are a variable of their own, as in an interior-point method, which
allows much longer steps where κ is large:

    L(w) Y = M Y,    w = w̄ + κ q;     H dY = M Y − L(u) Y,    u = w̄ + κ q,    dw = u + 2κ D·dD − w
    H = (L(w) − M) ⊗ I_r + Σ_e 2κ_e (b_e ⊗ D_e)(b_e ⊗ D_e)ᵀ

and steps reduce the merit function of Gill and Robinson, the augmented Lagrangian with Σ (w − u)²/2κ added. H must be
positive definite except for shifts, which its factor tells. Where it is not, negative weights are raised by τ/d², to 0 at
most: only they push its eigenvalues below 0, and damping the others too would make steps shorter everywhere.

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
_MENDED, _MENDS, _STIFF = 1e-10, 20, 1e6  # largest relative error of a squared length; iterations; κ, relative


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
        """Q of each pair."""
        return self.problem.squared_lengths(Y) - self.problem.squared

    def step(self, anchor: Floats, stiff: Floats) -> bool:
        """One step with w̄ and κ; False where there is none that reduces the merit function."""
        problem, graph = self.problem, self.matrix.graph
        Y, w = self.Y, self.w
        D = graph.differences(Y)
        u = anchor + stiff * self.excess(Y)
        before = self._merit(Y, w, anchor, stiff)
        right = self._force(Y, u)
        for _ in range(_TRIES):
            beat()
            factor = self._factor(D, stiff)
            if factor is None:
                self.damping *= _HARDER
                continue
            dY = problem.centered(factor.solve(right.reshape(-1, 1)).reshape(right.shape))
            dw = u + 2.0 * stiff * np.einsum("ec,ec->e", D, graph.differences(dY)) - w
            slope = -2.0 * float(np.vdot(dY, self._force(Y, 2.0 * u - w))) + float(dw @ ((w - u) / stiff))
            for halving in range(_HALVINGS):
                part = 0.5**halving
                after = self._merit(Y + part * dY, w + part * dw, anchor, stiff)
                if after < before + _DECREASE * part * slope:
                    self.Y, self.w = problem.centered(Y + part * dY), w + part * dw
                    self.damping = max(_LEAST_DAMPING, self.damping * (_SOFTER if halving == 0 else 1.0))
                    self.damping *= _CAREFUL if part < 0.5 else 1.0
                    self._measure(before - after)
                    return True
            self.damping *= _MUCH_HARDER
        return False

    def mended(self) -> Floats:
        """Y moved to its distances by Gauss–Newton steps, each the shortest that keeps them to first order.

        The variance changes by −Σ w q, and by terms of second order only, as L(w) Y = M Y.
        """
        problem, graph = self.problem, self.matrix.graph
        best, least = self.Y, np.inf
        Y = self.Y
        for _ in range(_MENDS):
            beat()
            q = self.excess(Y)
            error = float(np.abs(q / problem.squared).max())
            if not error < least:
                break
            best, least = Y, error
            if error < _MENDED:
                break
            D = graph.differences(Y)
            soft = 1.0 / problem.squared  # dY is the shortest in the metric L(1/d²)
            try:
                factor = self.matrix.factored(soft, _STIFF * soft**2, D, _ALL * problem.mass)
            except SingularFactorError:
                break
            right = -graph.spread((0.5 * _STIFF * soft**2 * q)[:, None] * D)
            Y = problem.centered(Y + factor.solve(right.reshape(-1, 1)).reshape(right.shape))
        return best

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
