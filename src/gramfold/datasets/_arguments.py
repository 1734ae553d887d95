"""Checks of arguments: each refusal is one sentence that says what was found and what to change."""

import math
import operator


def count(name: str, value: int, *, least: int = 1) -> int:
    """`value` as an int that is at least `least`."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r} is not a whole number; give an integer of at least {least}.") from None
    if whole < least:
        raise ValueError(f"{name}={whole} is too small; give an integer of at least {least}.")
    return whole


def positive(name: str, value: float) -> float:
    """`value` as a finite float above zero."""
    number = _finite(name, value)
    if number <= 0:
        raise ValueError(f"{name}={value!r} leaves nothing to sample; give a number above 0.")
    return number


def nonnegative(name: str, value: float) -> float:
    """`value` as a finite float of at least zero."""
    number = _finite(name, value)
    if number < 0:
        raise ValueError(f"{name}={value!r} is negative and cannot be a size; give 0 or more.")
    return number


def between(name: str, value: float, low: float, high: float, *, closed: str = "") -> float:
    """`value` as a float in the interval from `low` to `high`; `closed` names the ends that belong to it."""
    number = _finite(name, value)
    above = number >= low if "low" in closed else number > low
    below = number <= high if "high" in closed else number < high
    if not (above and below):
        brackets = "[" if "low" in closed else "(", "]" if "high" in closed else ")"
        interval = f"{brackets[0]}{low:g}, {high:g}{brackets[1]}"
        raise ValueError(f"{name}={value!r} is outside {interval}; choose a number in that interval.")
    return number


def _finite(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} is not a number; give a finite number.") from None
    if not math.isfinite(number):
        raise ValueError(f"{name}={value!r} is not finite; give a finite number.")
    return number
