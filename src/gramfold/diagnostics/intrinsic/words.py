"""What several estimates of a dimension say together, in sentences."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gramfold.diagnostics.intrinsic.estimate import Estimate
from gramfold.diagnostics.intrinsic.scales import Scales
from gramfold.runtime.counting import counted

_CLOSE = 0.15  # relative to the dimension
_LEAST = 0.5  # dimensions, that estimates may differ by in any case
_CHANGED = 1.25  # ratio of the dimensions at two scales that is told of,
_BY_CHANCE = 3.5  # and this over √n more: two to three standard deviations of a ratio of neighbour distances
_APART = 0.8  # a dimension by maximum likelihood below this is that of groups apart
_UNEVEN = 2.0  # ratio of the local dimensions of the 10% and 90% quantile that is told of
_TIED = 0.02  # share of tied rows likewise
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
    local: tuple[float, float] | None  # quantiles of the local dimension
    reasons: Mapping[str, str]


def agreement(estimates: Mapping[str, Estimate], value: float) -> list[str]:
    """The names of the estimates that are far from the value."""
    far = max(_LEAST, _CLOSE * value)
    return [name for name, one in estimates.items() if not abs(one.best - value) <= far]


def evenly_spaced(spacing: float, n: int) -> bool:
    """Whether the distances to the nearest neighbours of n rows vary less than those of random rows can."""
    return spacing < _EVEN - _EVEN_BY_CHANCE / float(np.sqrt(n))


def sentence_of(found: Found) -> str:
    """One to some sentences: the dimension, who disagrees, and why that may be."""
    said = [_headline(found), _copies(found), _undefined(found), _apart(found), _ties(found), _even(found)]
    said += [_over_scales(found), _few_rows(found), _uneven(found), _notes(found)]
    return " ".join(one for one in said if one)


def _headline(found: Found) -> str:
    far = agreement(found.estimates, found.value)
    if not far:
        return f"The intrinsic dimension is about {found.value:.2g}: {counted(len(found.estimates), 'estimate')} agree."
    order = sorted(found.estimates, key=lambda name: found.estimates[name].best)
    low, high = (f"{found.estimates[name].best:.3g} ({name})" for name in (order[0], order[-1]))
    if found.even:
        largest = f"the ratio of distances to neighbour {found.scales.n_neighbors[-1]}"
        by = f"local_pca and {largest}" if "local_pca" in found.estimates else largest
        return (
            f"The intrinsic dimension is about {found.value:.2g}, by {by}. The estimates range from {low} to {high}: "
            "ratios of distances to few neighbours read the spacing of the rows."
        )
    return f"The estimates disagree: from {low} to {high}, with a median of {found.value:.3g}."


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
        "grid do (counts, rounded or integer data): two_nn then reads the grid, and too high a dimension."
    )


def _apart(found: Found) -> str:
    one = found.estimates.get("maximum_likelihood")
    if one is None or one.value >= _APART:
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
    if _apart(found):
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
        return (
            f"The dimension falls with the scale {where}: noise is seen at small scales, and two_nn reads it most; "
            "trust larger neighbourhoods, or pass more n_neighbors."
        )
    return (
        f"The dimension rises with the scale {where}: at large scales curvature, or layers and groups that come near "
        "one another, count as dimensions; trust smaller neighbourhoods."
    )


def _few_rows(found: Found) -> str:
    digits = found.value / 2.0
    if np.log10(found.n_distinct) >= digits:
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
