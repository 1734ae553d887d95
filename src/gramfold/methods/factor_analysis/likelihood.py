"""The noise of each column for which the rows are likeliest; the loadings follow from it.

    R = correlations of the columns, ψ the share of noise in the variance of each;  Ψ^-½ R Ψ^-½ = U Λ Uᵀ
    given ψ:  W = Ψ^½ U₁ (Λ₁ − I)^½ over the leading λ > 1, at most p of them
    f(ψ) = ½ [Σ_j (log ψ_j + 1/ψ_j) + Σ_λ₁ (log λ − λ + 1)]: minus the mean log-likelihood, but for a constant
    ∂f/∂log ψ_j = ½ (W Wᵀ + Ψ − R)_jj / ψ_j

f is minimised over log ψ by L-BFGS-B, with ψ between its floor and 1. Expectation and maximisation moves ψ by −2ψ times
that slope, so that a column without noise of its own (a Heywood case) keeps some for ever. f has several minima, so
there are several starts; and no lower bound where columns that are equal, or sums of others, are explained without any
noise: such an end is taken only if there is no other.
Jöreskog, Psychometrika 32 (1967); Guttman, Psychometrika 21 (1956) for the first start.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from gramfold.errors import NotConvergedError, NotConvergedWarning
from gramfold.runtime.warning import warn
from gramfold.spectral.dense import eigenpairs_between, leading_eigenpairs
from gramfold.types import Floats, Integers

_RIDGE = 1e-3  # added to correlations whose inverse is asked for: columns may be the same, or more than rows
_EXACTLY = 1e-9  # smallest eigenvalue of the correlations of columns that are functions of one another
_INVOLVED = 1e-3  # what a column contributes to such a function, at least
_AT_FLOOR = 1.0 + 1e-9
_LIKELIER = 1e-6  # by which the mean log-likelihood of a later start must exceed that of an earlier one
_EQUAL = 0.5  # share of the noise in each column at the second start
_LOWEST = 0.05  # the same at random starts, at least
_MEMORY = 20  # steps from which L-BFGS-B learns the curvature
_PER_STEP = 20  # values of f at most


@dataclass(frozen=True)
class Correlations:
    """Correlations of m columns: the matrix, or the rows themselves where these are fewer."""

    matrix: Floats | None  # (m, m)
    rows: Floats | None = None  # (n, m) of mean 0 and variance 1

    def leading(self, shares: Floats, count: int) -> tuple[Floats, Floats]:
        """The leading eigenpairs of Ψ^-½ R Ψ^-½, at most so many, descending; only those above 1."""
        weights = 1.0 / np.sqrt(shares)
        if self.matrix is not None:
            values, vectors = _eigenpairs(self.matrix * weights * weights[:, None], count)
            kept = values > 1
            return values[kept], vectors[:, kept]
        assert self.rows is not None
        scaled = self.rows * (weights / np.sqrt(len(self.rows)))
        values, vectors = _eigenpairs(scaled @ scaled.T, count)
        kept = values > 1
        return values[kept], scaled.T @ (vectors[:, kept] / np.sqrt(values[kept]))

    def dependent(self, columns: Integers) -> Integers:
        """Those of these columns that are linear functions of the others of them."""
        if self.matrix is not None:
            own = self.matrix[np.ix_(columns, columns)]
        else:
            assert self.rows is not None
            if len(columns) >= len(self.rows):
                return columns
            own = self.rows[:, columns].T @ self.rows[:, columns] / len(self.rows)
        values, vectors = np.linalg.eigh(own)
        return columns[(np.abs(vectors[:, values < _EXACTLY]) > _INVOLVED).any(axis=1)]

    def unexplained(self) -> Floats:
        """The share of each column's variance that the others do not explain, 1 / (R⁻¹)_jj, (m,)."""
        if self.matrix is not None:
            return np.asarray(1.0 / np.diag(np.linalg.inv(self.matrix + _RIDGE * np.eye(len(self.matrix)))))
        assert self.rows is not None
        n = len(self.rows)
        factor = cho_factor(self.rows @ self.rows.T + n * _RIDGE * np.eye(n))
        return np.asarray(_RIDGE / (1.0 - (self.rows * cho_solve(factor, self.rows)).sum(axis=0)))


def _eigenpairs(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    try:
        return leading_eigenpairs(matrix, count)[1:]
    except NotConvergedError:  # eigenvalues of a large matrix that lie close together
        values, vectors = eigenpairs_between(matrix, len(matrix) - count, len(matrix) - 1)
        return values[::-1], vectors[:, ::-1]


@dataclass(frozen=True)
class Found:
    """Where a start led."""

    shares: Floats  # (m,) ψ
    history: Floats  # (n_iter,) mean log-likelihood after each iteration, but for a constant
    slope: float  # of it, at most, where it ended before its time; else 0
    noiseless: Integers  # columns that are explained without noise though they depend on one another

    def better(self, other: "Found | None") -> bool:
        """Whether this is an end to prefer."""
        if other is None or bool(self.noiseless.size) != bool(other.noiseless.size):
            return other is None or not self.noiseless.size
        return bool(self.history[-1] > other.history[-1] + _LIKELIER)


@dataclass(frozen=True)
class Search:
    """How the shares of the noise are looked for."""

    count: int  # factors at most
    floor: float  # of a share
    n_init: int
    max_iter: int
    tol: float

    def likeliest(self, given: Correlations, columns: int, rng: Any) -> Found:
        """The best end of all starts; an earlier one where they are equally good."""
        best: Found | None = None
        for start in self._starts(given, columns, rng):
            found = self._descend(given, start)
            if found.better(best):
                best = found
        assert best is not None
        if best.slope > 0:
            warn(
                f"the log-likelihood per row still has a slope of {best.slope:.1e} along the logarithm of a noise "
                f"variance after max_iter={self.max_iter} iterations: allow more iterations, or a larger tol.",
                NotConvergedWarning,
            )
        return best

    def _starts(self, given: Correlations, columns: int, rng: Any) -> Iterator[Floats]:
        yield (1.0 - 0.5 * self.count / columns) * given.unexplained()
        for number in range(1, self.n_init):
            yield np.full(columns, _EQUAL) if number == 1 else rng.uniform(_LOWEST, 1.0, columns)

    def _descend(self, given: Correlations, start: Floats) -> Found:
        history: list[float] = []

        def value(logarithms: Floats) -> tuple[float, Floats]:
            shares = np.exp(logarithms)
            values, vectors = given.leading(shares, self.count)
            f = (logarithms + 1.0 / shares).sum() + (np.log(values) - values + 1.0).sum()
            slopes = 1.0 - 1.0 / shares + np.square(vectors) @ (values - 1.0)
            return 0.5 * float(f), 0.5 * slopes

        def note(intermediate_result: Any) -> None:
            history.append(-float(intermediate_result.fun))

        least = float(np.log(self.floor))
        ended = minimize(
            value,
            np.clip(np.log(start), least, 0.0),
            jac=True,
            method="L-BFGS-B",
            bounds=[(least, 0.0)] * len(start),
            callback=note,
            options={
                "maxiter": self.max_iter,
                "maxfun": self.max_iter * _PER_STEP,
                "maxcor": _MEMORY,
                "gtol": self.tol,
                "ftol": 0.0,  # as far as rounding lets it
            },
        )
        shares = np.maximum(np.exp(ended.x), self.floor)
        inward = np.where(ended.x > least, ended.jac, np.minimum(ended.jac, 0.0))  # what the bounds leave of the slope
        slope = float(np.abs(inward).max()) if ended.status == 1 else 0.0
        noiseless = given.dependent(np.flatnonzero(shares <= self.floor * _AT_FLOOR))
        return Found(shares, np.array(history or [-float(ended.fun)]), slope, noiseless)
