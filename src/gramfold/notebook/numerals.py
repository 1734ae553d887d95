"""Shares in words."""

_ROUNDING = 1e-12  # less than this below all is all


def percent(part: float, whole: float = 1.0) -> str:
    """A share in percent with one digit; 100% is said only of all."""
    if part >= (1 - _ROUNDING) * whole:
        return "100%"
    shown = f"{100 * part / whole:.1f}%"
    return "over 99.9%" if shown == "100.0%" else shown
