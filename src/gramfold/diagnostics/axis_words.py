"""The meaning of axes in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gramfold.diagnostics.four_faults import percent
from gramfold.runtime.counting import counted
from gramfold.types import Floats, Integers

if TYPE_CHECKING:
    from gramfold.diagnostics.axis_meaning import Loadings, Region

LITTLE = 0.1  # of an axis: where less is explained, no meaning is given
_HALF = 0.5  # of an axis, from which on columns are most of it
_MOST_NAMED = 4
_TIED, _MOST_TIED = 0.7, 6  # of the last share that is named: a column with as much is named too, up to so many
_SPREAD = 0.25  # of an axis: where the first columns have less together, it is spread over many
_BETTER = 0.05  # of an axis, that the slopes of a region explain beyond those of the whole
_MORE = 2.0  # times its share in the whole, from which on a column is a region's own
_ORDINALS = ("first", "second", "third")
_REGIONS_NAMED = 3


def axis_lines(found: "Loadings") -> list[str]:
    """A line for each axis, and one where rows were left out."""
    lines = [_line(found, axis) for axis in range(len(found.shares))]
    if found.n_far:
        were = "was" if found.n_far == 1 else "were"
        lines.append(f"{counted(found.n_far, 'row')} far outside of the rest of the map {were} left out.")
    return lines


def axis_name(axis: int) -> str:
    """The name of an axis, from 0."""
    if axis < len(_ORDINALS):
        return _ORDINALS[axis]
    number = axis + 1
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")  # 11th, 21st
    return f"{number}{ending}"


def leading(shares: Floats, *, tied: bool = True) -> Integers:
    """The columns that are most of an axis: as many as have half of it, at most four, and those nearly tied with them.

    Of a difference a − b both have about half: the one that has a little less belongs to the meaning as well.
    """
    order = np.argsort(-shares, kind="stable")[:_MOST_TIED]
    enough = min(int(np.searchsorted(np.cumsum(shares[order]), _HALF)) + 1, _MOST_NAMED, len(order))
    if not tied:
        return order[:enough]
    as_much = (shares[order] >= _TIED * shares[order[enough - 1]]) & (shares[order] > 0)
    return order[: max(enough, int(as_much.sum()))]


def _line(found: "Loadings", axis: int) -> str:
    name, explained, shares = axis_name(axis), float(found.explained[axis]), found.shares[axis]
    whole = "" if found.straight[axis] else ", within cells of the map"
    if explained < LITTLE or not shares.any():
        return (
            f"The {name} axis has no meaning in these columns, whose slopes explain {percent(explained)} of it{whole}."
        )
    named = leading(shares)
    said = f"The {name} axis {_is(shares, named)} {_signed(found.names, found.slopes[axis], named)}: "
    said += f"{percent(float(shares[named].sum()))} of it."
    where = [text for region in found.regions if (text := _elsewhere(found, region, axis))][:_REGIONS_NAMED]
    if where:
        text = "; ".join(where)
        said += f" {text[0].upper()}{text[1:]}."
    return f"{said} The columns explain {percent(explained)}{whole}."


def _is(shares: Floats, named: Integers) -> str:
    together = float(shares[named].sum())
    if together >= _HALF:
        return "is mostly"
    return "is first of all" if together >= _SPREAD else "is spread over many columns, first"


def _elsewhere(found: "Loadings", region: "Region", axis: int) -> str:
    """What the axis is in a region, where that is something else than in the whole; else nothing."""
    own = leading(region.shares[axis])
    better = region.explained[axis] - region.explained_by_whole[axis]
    if region.explained[axis] < LITTLE or better < _BETTER or found.kin[axis, own[0]]:
        return ""
    share = float(region.shares[axis, own].sum())
    if share < _SPREAD or region.shares[axis, own[0]] < _MORE * found.shares[axis, own[0]]:
        return ""
    return f"{_at(region.name)} it is {_signed(found.names, region.slopes[axis], own)}: {percent(share)}"


def _signed(names: Sequence[str], slopes: Floats, columns: Integers) -> str:
    return _listed([f"{names[j]} ({'+' if slopes[j] > 0 else '−'})" for j in columns])


def _at(name: str) -> str:
    if name == "centre":
        return "in the centre"
    return f"at the {name}" if name in {"top", "bottom"} else f"in the {name}" if " " in name else f"on the {name}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
