"""The noise of each column for which the rows are likeliest; the loadings follow from it.

    R = correlations of the columns, ψ the share of noise in the variance of each;  Ψ^-½ R Ψ^-½ = U Λ Uᵀ
    given ψ:  W = Ψ^½ U₁ (Λ₁ − I)^½ over the leading λ > 1, at most p of them
    f(ψ) = ½ [Σ_j (log ψ_j + 1/ψ_j) + Σ_λ₁ (log λ − λ + 1)]: minus the mean log-likelihood, but for a constant
    ∂f/∂log ψ_j = ½ (W Wᵀ + Ψ − R)_jj / ψ_j

f is minimised over log ψ by L-BFGS-B, with ψ between its floor and 1. Expectation and maximisation moves ψ by −2ψ times
that slope, so that a column without noise of its own (a Heywood case) keeps some for ever. f has several minima, so
there are several starts; and no lower bound where columns that are equal, or sums of others, are explained without any
noise: such an end is taken only if there is no other.
Jöreskog, Psychometrika 32 (1967); Guttman, Psychometrika 21 (1956) for the first start; Anderson, Journal of the ACM 12
(1965) for the last digits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from gramfold.errors import NotConvergedWarning
from gramfold.methods.factor_analysis.correlations import Correlations
from gramfold.runtime.progress import beat
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Integers

_LIKELIER = 1e-6  # by which the mean log-likelihood of a later start must exceed that of an earlier one
_EQUAL = 0.5  # share of the noise in each column at the second start
_LOWEST = 0.05  # the same at random starts, at least
_MEMORY = 20  # steps from which L-BFGS-B learns the curvature
_PER_STEP = 20  # values of f at most
_DEPTH = 15  # steps that Anderson's method combines
_MOST_STEPS = 60  # of it
_STALLED = 8  # steps without a smaller slope
_NEAR = 0.1  # in log ψ: it only sharpens an end
_CLOSE = float(np.log(100.0))  # in log ψ: a column as close to the floor may belong there
_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of 1/ψ, which slopes are differences of


@dataclass(frozen=True)
class Found:
    """Where a start led."""

    logarithms: Floats  # (m,) log ψ
    history: Floats  # (n_iter,) mean log-likelihood after each iteration, but for a constant
    early: bool  # whether it ended at its last iteration
    noiseless: Integers  # columns that are explained without noise though they depend on one another

    @property
    def shares(self) -> Floats:
        """ψ, (m,)."""
        return np.asarray(np.exp(self.logarithms))

    def better(self, other: "Found | None") -> bool:
        """Whether this is an end to prefer."""
        if other is None or bool(self.noiseless.size) != bool(other.noiseless.size):
            return other is None or not self.noiseless.size
        return bool(self.history[-1] > other.history[-1] + _LIKELIER)


@dataclass(frozen=True)
class Search:
    """How the shares of the noise are looked for."""

    given: Correlations
    count: int  # factors at most
    floor: float  # of a share
    n_init: int
    max_iter: int
    tol: float

    def likeliest(self, rng: Any) -> Found:
        """The best end of all starts; an earlier one where they are equally good."""
        best: Found | None = None
        for start in self._starts(rng):
            found = self._descended(start)
            if found.better(best):
                best = found
        assert best is not None
        if not best.early:
            return replace(best, logarithms=self._sharpened(best.logarithms))
        slope = self._largest(best.logarithms, self._value(best.logarithms)[1])
        warn(
            f"the log-likelihood did not converge in max_iter={self.max_iter} iterations (largest gradient "
            f"{slope:.1e}): increase max_iter or tol.",
            NotConvergedWarning,
        )
        return best

    @property
    def _least(self) -> float:
        return float(np.log(self.floor))

    def _starts(self, rng: Any) -> Iterator[Floats]:
        unexplained = self.given.unexplained()
        yield (1.0 - 0.5 * self.count / len(unexplained)) * unexplained
        for number in range(1, self.n_init):
            yield np.full(len(unexplained), _EQUAL) if number == 1 else rng.uniform(_LOWEST, 1.0, len(unexplained))

    def _value(self, logarithms: Floats) -> tuple[float, Floats]:
        """Of f, and its slopes."""
        beat()
        shares = np.exp(logarithms)
        values, vectors = self.given.leading(shares, self.count)
        f = (logarithms + 1.0 / shares).sum() + (np.log(values) - values + 1.0).sum()
        return 0.5 * float(f), 0.5 * (1.0 - 1.0 / shares + np.square(vectors) @ (values - 1.0))

    def _largest(self, logarithms: Floats, slopes: Floats) -> float:
        """The largest slope that the floor leaves."""
        return float(np.abs(np.where(logarithms > self._least, slopes, np.minimum(slopes, 0.0))).max())

    def _descended(self, start: Floats) -> Found:
        history: list[float] = []

        def note(intermediate_result: Any) -> None:
            history.append(-float(intermediate_result.fun))

        ended = minimize(
            self._value,
            np.clip(np.log(start), self._least, 0.0),
            jac=True,
            method="L-BFGS-B",
            bounds=[(self._least, 0.0)] * len(start),
            callback=note,
            options={
                "maxiter": self.max_iter,
                "maxfun": self.max_iter * _PER_STEP,
                "maxcor": _MEMORY,
                "gtol": self.tol,
                "ftol": 0.0,  # as far as rounding lets it
            },
        )
        end = self._settled(ended.x)
        noiseless = self.given.dependent(np.flatnonzero(end <= self._least))
        return Found(end, np.array(history or [-float(ended.fun)]), ended.status == 1, noiseless)

    def _settled(self, end: Floats) -> Floats:
        """The same end with columns at the floor that f leads there, but for rounding.

        Near the floor f is flat, and its rounding of 1/ψ would decide where the descent ends.
        """
        low = end < self._least + _CLOSE
        while low.any():
            there = np.where(low, self._least, end)
            leave = low & (self._value(there)[1] < -_ROUNDING / self.floor)
            if not leave.any():
                return there
            low &= ~leave
        return end

    def _sharpened(self, start: Floats) -> Floats:
        """The same end to the last digits, by slopes alone: f is rounded where some noise is at its floor.

        Steps of expectation and maximisation, log ψ − 2 ∂f/∂log ψ, are combined so that the next one would be least
        (Anderson's method); columns at the floor stay there.
        """
        free = start > self._least
        best, smallest, since = start, np.inf, 0
        places: list[Floats] = []
        steps: list[Floats] = []
        now = start
        for _ in range(_MOST_STEPS):
            slopes = self._value(now)[1]
            largest, since = self._largest(now, slopes), since + 1
            if largest < smallest:
                best, smallest, since = now, largest, 0
            if smallest <= self.tol or since == _STALLED or np.abs(now - start).max() > _NEAR:
                break
            places, steps = [*places[-_DEPTH:], now], [*steps[-_DEPTH:], np.where(free, -2.0 * slopes, 0.0)]
            now = now + steps[-1]
            if len(steps) > 1:
                turns = np.stack([steps[-1] - one for one in steps[:-1]], axis=1)  # (m, ·)
                moves = np.stack([places[-1] - one for one in places[:-1]], axis=1)
                now = now - (moves + turns) @ np.linalg.lstsq(turns, steps[-1], rcond=None)[0]
            now = np.clip(now, self._least, 0.0)
        return best
