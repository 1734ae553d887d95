"""Projection indices: measures of how far the values along one direction are from Gaussian.

Each takes standardised values y (n,), with mean 0 and variance 1, and returns the index and its gradient dI/dy (n,).

    kurtosis         |E y⁴ − 3|
    negentropy       k₁ (E y e^(−y²/2))² + k₂ (E e^(−y²/2) − √½)²,  k₁ = 36 / (8√3 − 9),  k₂ = 24 / (16√3 − 27)
    Friedman–Tukey   s · Σ_ij (R − |y_i − y_j|)₊ / n²R²,  s the standard deviation of y without its extreme values

Hyvärinen, NIPS 10 (1998), for the negentropy; Friedman, Tukey, IEEE Transactions on Computers C-23 (1974).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np

from gramfold.errors import InputError
from gramfold.types import Floats

IndexName = Literal["kurtosis", "negentropy", "friedman-tukey"]

_ODD = 36 / (8 * np.sqrt(3) - 9)
_EVEN = 24 / (16 * np.sqrt(3) - 27)
_TRIM = 0.05  # share of the values left out at either end
# Steps of a central difference: the error is of order h², the rounding of order eps/h.
_STEP = 6e-6


class Judged(NamedTuple):
    """An index and its gradient."""

    value: float
    slope: Floats  # (d,), by the direction


class ProjectionIndex(Protocol):
    """A projection index of whitened rows."""

    @property
    def smooth(self) -> bool:
        """Whether it has second derivatives."""

    def __call__(self, rows: Floats, direction: Floats) -> Judged:
        """The index of rows (n, d) along a unit direction (d,), and its gradient in all d coordinates."""


@dataclass(frozen=True)
class Kurtosis:
    """Tails heavier or lighter than a Gaussian's; sensitive to outliers."""

    smooth: bool = True

    def __call__(self, rows: Floats, direction: Floats) -> Judged:
        y = rows @ direction
        excess = float(np.mean(y**4)) - 3.0
        return Judged(abs(excess), np.sign(excess) * 4 / len(y) * (y**3 @ rows))


@dataclass(frozen=True)
class Negentropy:
    """Negentropy, approximated by bounded functions; robust to outliers."""

    smooth: bool = True

    def __call__(self, rows: Floats, direction: Floats) -> Judged:
        y = rows @ direction
        bell = np.exp(-0.5 * y**2)
        odd, even = float(np.mean(y * bell)), float(np.mean(bell)) - np.sqrt(0.5)
        slope = 2 * _ODD * odd * (1 - y**2) * bell - 2 * _EVEN * even * y * bell
        return Judged(_ODD * odd**2 + _EVEN * even**2, slope @ rows / len(y))


@dataclass(frozen=True)
class FriedmanTukey:
    """Local density times spread: large for clusters."""

    radius: float
    smooth: bool = False  # its gradient jumps where a pair comes within the radius

    def __call__(self, rows: Floats, direction: Floats) -> Judged:
        y = rows @ direction
        n = len(y)
        order = np.argsort(y, kind="stable")
        ranked = y[order]
        # the values within the radius of the i-th are those from first[i] up to last[i]
        first = np.searchsorted(ranked, ranked - self.radius, side="left")
        last = np.searchsorted(ranked, ranked + self.radius, side="right")
        sums = np.concatenate(([0.0], np.cumsum(ranked)))
        place = np.arange(n)
        left, right = place - first, last - 1 - place
        apart = (left - right) * ranked - (sums[place] - sums[first]) + (sums[last] - sums[place + 1])
        density = float(np.sum(self.radius * (left + right + 1) - apart)) / (n * self.radius) ** 2
        denser = 2.0 * (right - left) / (n * self.radius) ** 2  # each pair counts twice

        kept = slice(int(_TRIM * n), n - int(_TRIM * n))
        inner = ranked[kept] - ranked[kept].mean()
        spread = float(np.sqrt(np.mean(inner**2)))
        wider = np.zeros(n)
        wider[kept] = inner / (len(inner) * spread) if spread > 0 else 0.0

        slope = np.empty(n)
        slope[order] = spread * denser + density * wider
        return Judged(spread * density, slope @ rows)


@dataclass(frozen=True)
class Given:
    """A user's function of the values, with its gradient by central differences."""

    function: Callable[[Floats], float]
    smooth: bool = False

    def __call__(self, rows: Floats, direction: Floats) -> Judged:
        y = rows @ direction
        slope = np.array([self._at(y + _STEP * column) - self._at(y - _STEP * column) for column in rows.T])
        return Judged(self._at(y), slope / (2 * _STEP))

    def _at(self, y: Floats) -> float:
        value = np.asarray(self.function(y))
        if value.ndim or not np.isfinite(value):
            raise InputError(
                f"index returned {' x '.join(map(str, value.shape)) + ' numbers' if value.ndim else value} for a "
                f"projection of {len(y)} values: it must return one finite number, larger where the values are more "
                "interesting."
            )
        return float(value)


def make_index(index: IndexName | Callable[[Floats], float], radius: float) -> ProjectionIndex:
    """The index of that name, or one of a user's function."""
    if not isinstance(index, str):
        return Given(index)
    named: dict[str, ProjectionIndex] = {
        "kurtosis": Kurtosis(),
        "negentropy": Negentropy(),
        "friedman-tukey": FriedmanTukey(radius),
    }
    return named[index]
