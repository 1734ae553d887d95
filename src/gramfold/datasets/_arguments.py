"""Check the arguments of the data set functions."""

import math
import operator


def count(name: str, value: int, *, least: int = 1) -> int:
    """Return `value` as an int of at least `least`."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r} is not an integer; give an integer of at least {least}.") from None
    if whole < least:
        raise ValueError(f"{name}={whole} is too small; give an integer of at least {least}.")
    return whole


def positive(name: str, value: float) -> float:
    """Return `value` as a finite float above 0."""
    number = _finite(name, value)
    if number <= 0:
        raise ValueError(f"{name}={value!r} is not positive; give a number above 0.")
    return number


def nonnegative(name: str, value: float) -> float:
    """Return `value` as a finite float of at least 0."""
    number = _finite(name, value)
    if number < 0:
        raise ValueError(f"{name}={value!r} is negative; give a number of at least 0.")
    return number


def between(name: str, value: float, low: float, high: float, *, closed: str = "") -> float:
    """Return `value` as a float between `low` and `high`; `closed` lists the ends that are allowed."""
    number = _finite(name, value)
    above = number >= low if "low" in closed else number > low
    below = number <= high if "high" in closed else number < high
    if not (above and below):
        brackets = "[" if "low" in closed else "(", "]" if "high" in closed else ")"
        interval = f"{brackets[0]}{low:g}, {high:g}{brackets[1]}"
        raise ValueError(f"{name}={value!r} is outside {interval}; give a number in that interval.")
    return number


def _finite(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} is not a number; give a finite number.") from None
    if not math.isfinite(number):
        raise ValueError(f"{name}={value!r} is not finite; give a finite number.")
    return number
