"""From values to pixels, with ticks at round numbers, and how numbers are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gramfold.types import Floats

_STEPS = (1.0, 2.0, 5.0, 10.0)
_SLACK = 1e-9  # of a step: a tick at the end of an axis is not lost to rounding
_SMALLEST, _LARGEST = 1e-3, 1e5  # between which numbers are written without an exponent
_NOTHING = float(np.finfo(np.float64).tiny)
_DECADES = 5  # powers of ten that all get a tick
_FEW_DECADES = 1.8  # below which 2 and 5 get one too
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Scale(Protocol):
    """Where values stand along an axis."""

    def __call__(self, values: Any) -> Floats:
        """Shares of the axis, 0 at its start and 1 at its end."""

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Round values within the axis, and how they are written."""


@dataclass(frozen=True)
class Linear:
    """A linear scale between two values."""

    low: float
    high: float
    count: int = 5  # ticks, about

    def __call__(self, values: Any) -> Floats:
        half = self.high / 2 - self.low / 2  # the difference of extreme values would overflow
        return np.asarray((np.asarray(values, dtype=np.float64) / 2 - self.low / 2) / half)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        found = round_ticks(self.low, self.high, self.count)
        return tuple(zip(found, written_alike(found), strict=True))


@dataclass(frozen=True)
class Log:
    """A logarithmic scale between two positive values."""

    low: float
    high: float

    def __call__(self, values: Any) -> Floats:
        low, high = np.log10(self.low), np.log10(self.high)
        return np.asarray((np.log10(np.asarray(values, dtype=np.float64)) - low) / (high - low))

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        low, high = float(np.log10(self.low)), float(np.log10(self.high))
        every = max(1, int(np.ceil((high - low) / _DECADES)))
        leading = (1, 2, 5) if high - low <= _FEW_DECADES else (1,)
        powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
        found = [
            (first, power)
            for power in powers
            if power % every == 0
            for first in leading
            if low - _SLACK <= power + np.log10(first) <= high + _SLACK
        ]
        plain = all(_SMALLEST <= first * 10.0**power < _LARGEST for first, power in found)
        return tuple((first * 10.0**power, _power(first, power, plain)) for first, power in found)


def linear_over(values: Any, *, zero: bool = False, margin: float = 0.04, count: int = 5) -> Linear:
    """A linear scale on which all finite values are seen; from 0 on where asked, with a margin at the other ends."""
    known = np.asarray(values, dtype=np.float64).ravel()
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    from_zero = zero and low >= 0
    low = 0.0 if from_zero else low
    if not high / 2 - low / 2 > _NOTHING:
        beside = abs(high) / 2 or 0.5
        return Linear(low if from_zero else low - beside, high + beside, count)
    beside = margin * (high / 2 - low / 2) * 2
    return Linear(low if from_zero else low - beside, high + beside, count)


def log_over(values: Any, margin: float = 0.06) -> Log:
    """A logarithmic scale on which all positive values are seen."""
    known = np.asarray(values, dtype=np.float64).ravel()
    known = known[np.isfinite(known) & (known > 0)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (1.0, 10.0)
    beside = max(margin * np.log10(high / low), 0.1) if high > low else 0.5
    return Log(low / 10**beside, high * 10**beside)


def round_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About so many values between two, at steps of 1, 2 or 5 times a power of ten."""
    if not high > low or not np.isfinite(high / 2 - low / 2):
        return [low]
    rough = (high / 2 - low / 2) / count * 2
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(times * power for times in _STEPS if times * power >= rough * (1 - _SLACK))
    first, last = int(np.ceil(low / step - _SLACK)), int(np.floor(high / step + _SLACK))
    return [float(f"{step * j:.12g}") for j in range(first, last + 1)]


def written_alike(values: Sequence[float]) -> list[str]:
    """Numbers with as many digits after the point as the one that needs most."""
    largest = max((abs(value) for value in values), default=0.0)
    if largest >= _LARGEST or 0 < largest < _SMALLEST:
        return [number(value) for value in values]
    digits = next((d for d in range(7) if all(abs(round(one, d) - one) <= 1e-9 * largest for one in values)), 7)
    return [minus(f"{value + 0.0:,.{digits}f}") for value in values]


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits; very large and small ones with a power of ten."""
    if not np.isfinite(value):
        return "not known" if np.isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if not _SMALLEST <= abs(value) < _LARGEST:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
        return power if mantissa == "1" else f"{minus(mantissa)}×{power}"
    if abs(float(f"{value:.{digits}g}")) >= 10**digits:
        return minus(f"{value:,.0f}")
    return minus(f"{value:.{digits}g}")


def minus(text: str) -> str:
    """With a minus sign in the place of a hyphen."""
    return text.replace("-", "−")


def _power(first: int, power: int, plain: bool) -> str:
    """A tick of a logarithmic axis."""
    if plain:
        return number(first * 10.0**power)
    return ("" if first == 1 else f"{first}×") + "10" + str(power).translate(_SUPERSCRIPTS)
