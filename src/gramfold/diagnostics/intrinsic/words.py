"""What several estimates of a dimension say together, in sentences."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gramfold.diagnostics.intrinsic.estimate import Estimate, shown
from gramfold.diagnostics.intrinsic.scales import Scales
from gramfold.diagnostics.intrinsic.tight_groups import TightGroups
from gramfold.runtime.counting import counted

_CLOSE = 0.15  # relative to the dimension
_LEAST = 0.5  # dimensions, that estimates may differ by in any case
_CHANGED = 1.25  # ratio of the dimensions at two scales that is told of,
_BY_CHANCE = 3.5  # and this over √n more: two to three standard deviations of a ratio of neighbour distances
_APART = 0.8  # a dimension by maximum likelihood below this is that of groups apart
_UNEVEN = 2.0  # ratio of the local dimensions of the 10% and 90% quantile that is told of
_TIED = 0.02  # share of tied rows likewise
_WIDER = ("maximum_likelihood", "correlation_dimension", "local_pca")  # estimates from more than two neighbours
_EVEN = 0.6  # of the spread of nearest distances of random rows, below which rows are evenly spaced,
_EVEN_BY_CHANCE = 1.0  # and this over √n less: the spread of few rows is hardly known


@dataclass(frozen=True, eq=False)
class Found:
    """What the sentences are made of."""

    estimates: Mapping[str, Estimate]
    value: float
    scales: Scales
    n_rows: int
    n_distinct: int
    n_sampled: int
    n_near: int
    tied: float
    even: bool
    tight: TightGroups | None
    loud: str | None  # columns that are nearly all that distances see
    local: tuple[float, float] | None  # quantiles of the local dimension
    reasons: Mapping[str, str]


def agreement(estimates: Mapping[str, Estimate], value: float) -> list[str]:
    """The names of the estimates that are far from the value, or that cannot be corrected."""
    far = max(_LEAST, _CLOSE * value)
    return [name for name, one in estimates.items() if one.beyond_correction or not abs(one.best - value) <= far]


def evenly_spaced(spacing: float, n: int) -> bool:
    """Whether the distances to the nearest neighbours of n rows vary less than those of random rows can."""
    return spacing < _EVEN - _EVEN_BY_CHANCE / float(np.sqrt(n))


def sentence_of(found: Found) -> str:
    """One to some sentences: the dimension, who disagrees, and why that may be."""
    said = [_headline(found), _loud(found), _copies(found), _undefined(found), _tight(found), _apart(found)]
    said += [_ties(found), _even(found), _over_scales(found), _few_rows(found), _uneven(found), _notes(found)]
    return " ".join(one for one in said if one)


def _headline(found: Found) -> str:
    far = agreement(found.estimates, found.value)
    if not far:
        return f"The intrinsic dimension is about {found.value:.2g}: {counted(len(found.estimates), 'estimate')} agree."
    if _bounded(found):
        return _bounds(found)
    order = sorted(found.estimates, key=lambda name: found.estimates[name].best)
    low, high = (f"{found.estimates[name].best:.3g} ({name})" for name in (order[0], order[-1]))
    grouped = found.tight is not None and found.tight.small
    if found.even or grouped:
        largest = f"the ratio of distances to neighbour {found.scales.n_neighbors[-1]}"
        by = f"local_pca and {largest}" if "local_pca" in found.estimates else largest
        return (
            f"The intrinsic dimension is about {found.value:.2g}, by {by}. The estimates range from {low} to {high}: "
            f"ratios of distances to few neighbours read {'the groups' if grouped else 'the spacing'} of the rows."
        )
    return f"The estimates disagree: from {low} to {high}, with a median of {found.value:.3g}."


def _bounded(found: Found) -> bool:
    """Whether the rows are too few to correct estimates; on a grid these are too high, above the others."""
    low = [one.value for one in found.estimates.values() if one.beyond_correction]
    return bool(low) and max(low) <= found.value and not found.even and found.tied < _TIED


def _bounds(found: Found) -> str:
    """What is known where the rows are too few."""
    known = [name for name, one in found.estimates.items() if not one.beyond_correction]
    low = [f"{one.value:.3g} ({name})" for name, one in found.estimates.items() if one.beyond_correction]
    about = f"about {found.value:,.0f}, by {_listed(known)}" if known else f"at least {found.value:.3g}"
    return (
        f"The intrinsic dimension is {about}. {found.n_distinct:,} rows are too few to correct estimates for so many "
        f"dimensions: {_listed(low)} {'are lower bounds' if len(low) > 1 else 'is a lower bound'}."
    )


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _loud(found: Found) -> str:
    if found.loud is None:
        return ""
    return f"{found.loud[0].upper()}{found.loud[1:]}, or the dimension says little of the others."


def _tight(found: Found) -> str:
    """Rows that were measured again."""
    one = found.tight
    if one is None:
        return ""
    pairs, others = ("pairs", "another row") if one.size == 2 else (f"groups of {one.size}", f"{one.size - 1} others")
    if one.gap is None:
        found_by = f"{one.share:.0%} of the rows are the nearest of their nearest, and of random rows at most 67%"
    else:
        found_by = f"{one.share:.0%} of the rows have {others} at less than {one.gap:.0%} of the distance to the next"
    if not one.small:
        return (
            f"{found_by}: rows lie in groups far apart, of {one.size} rows; fewer than {one.size} neighbours show the "
            "dimension within groups, and one row of each group that of how groups lie."
        )
    seen = f"{found_by}: rows come in tight {pairs}, as repeated measurements do"
    large = shown(found.scales.value[-1], found.scales.corrected[-1])
    return (
        f"{seen}, and few neighbours do not see beyond. Trust larger neighbourhoods ({large} at neighbour "
        f"{found.scales.n_neighbors[-1]}), or keep one row of each."
    )


def _copies(found: Found) -> str:
    copies = found.n_rows - found.n_distinct
    nearly = f" ({found.n_near:,} of them nearly)" if found.n_near else ""
    if copies == 1:
        return f"1 of {found.n_rows:,} rows is a copy of another and was left out."
    return f"{copies:,} of {found.n_rows:,} rows are copies of others{nearly} and were left out." if copies else ""


def _undefined(found: Found) -> str:
    return " ".join(f"{name} is not defined here: {reason}" for name, reason in found.reasons.items())


def _ties(found: Found) -> str:
    if found.tied < _TIED:
        return ""
    return (
        f"{found.tied:.0%} of the rows have their two nearest neighbours at exactly the same distance, as values on a "
        f"grid do (counts, rounded or integer data): {_of_grid(found)}."
    )


def _of_grid(found: Found) -> str:
    """What two_nn makes of a grid, beside the other estimates from rows."""
    others = [found.estimates[name].best for name in _WIDER if name in found.estimates]
    one = found.estimates.get("two_nn")
    if one is None or not others:
        return "few neighbours show the grid"
    middle = float(np.median(others))
    step = one.best - middle
    if abs(step) <= max(_LEAST, _CLOSE * middle):
        return "two_nn may read the grid, but is near the others here"
    return f"two_nn then reads the grid, and a {'higher' if step > 0 else 'lower'} dimension than the others"


def _apart(found: Found) -> str:
    one = found.estimates.get("maximum_likelihood")
    if one is None or one.value >= _APART or found.tight is not None:
        return ""
    return (
        f"maximum_likelihood reads {one.value:.2g}, below 1: the rows lie in groups far apart that have fewer rows "
        "than a neighbourhood; use fewer neighbours."
    )


def _even(found: Found) -> str:
    if found.tied >= _TIED or not found.even:
        return ""
    return (
        "The rows are spaced more evenly than random ones, as the frames of a film or the nodes of a grid are: "
        "estimates from few neighbours, two_nn above all, are then too high."
    )


def _over_scales(found: Found) -> str:
    """Noise makes the dimension fall with the scale, curvature makes it rise."""
    if _apart(found) or found.tight is not None:
        return ""
    scales = found.scales
    by_grid = found.tied >= _TIED or found.even
    first = 1 if by_grid else 0  # a grid is seen at the first scale, and was told of
    if len(scales) < first + 2:
        return ""
    small, large = scales.corrected[first], scales.corrected[-1]
    if not (np.isfinite(small) and np.isfinite(large)):
        return ""
    ratio, step = small / large, abs(small - large)
    where = f"({small:.2g} at neighbour {scales.n_neighbors[first]}, {large:.2g} at neighbour {scales.n_neighbors[-1]})"
    limit = max(_CHANGED, 1.0 + _BY_CHANCE / np.sqrt(found.n_sampled))
    if step < _LEAST or 1.0 / limit < ratio < limit:
        return ""
    if ratio > 1:
        if by_grid:
            return f"The dimension falls with the scale {where}: trust larger neighbourhoods."
        if found.loud is not None:
            return f"The dimension falls with the scale {where}: only at small scales the other columns are seen."
        return (
            f"The dimension falls with the scale {where}: noise is seen at small scales, and two_nn reads it most; "
            "trust larger neighbourhoods, or pass more n_neighbors."
        )
    if found.tied >= _TIED:
        return (
            f"The dimension rises with the scale {where}: few neighbours show the grid, and at large scales curvature, "
            "or layers and groups that come near one another, count as dimensions; these are not told apart."
        )
    return (
        f"The dimension rises with the scale {where}: at large scales curvature, or layers and groups that come near "
        "one another, count as dimensions; trust smaller neighbourhoods."
    )


def _few_rows(found: Found) -> str:
    digits = found.value / 2.0
    if _bounded(found) or np.log10(found.n_distinct) >= digits:
        return ""
    much = f"{10.0**digits:,.0f}" if digits < 7 else f"1e{digits:.0f}"
    return (
        f"A dimension of {found.value:.2g} needs about 10^(d/2) = {much} rows, and there are {found.n_distinct:,}: "
        f"neighbourhoods are no longer local, edges make estimates from distances too low, and their correction "
        "assumes edges like those of a normal distribution."
    )


def _uneven(found: Found) -> str:
    if found.local is None or found.local[0] <= 0.0:
        return ""
    low, high = found.local
    if high < _UNEVEN * low or high - low < _LEAST:
        return ""
    return (
        f"The local dimension varies from {low:.2g} to {high:.2g} (10% and 90% quantile): one number does not describe "
        "all rows; see per_point."
    )


def _notes(found: Found) -> str:
    """Of the estimators whose reservations were not told above."""
    noted = ((name, found.estimates.get(name)) for name in ("correlation_dimension", "spectral_gap"))
    return " ".join(f"{name}: {one.note}." for name, one in noted if one is not None and one.note is not None)
