"""The measures of each map, its faults, and what each row adds to the measures that maps are ranked by.

purpose     measure               best
local       r_nx                  highest: neighbours kept
global      distance_correlation  highest: the order of all distances
isometry    strain                lowest: changes of the lengths of edges between neighbours, beyond one common scale
clusters    neighborhood_purity   highest: neighbours of the same label
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramfold.diagnostics import (
    Faults,
    Judged,
    Measure,
    continuity,
    neighborhood_purity,
    r_nx,
    silhouette,
    stress,
    trustworthiness,
)
from gramfold.diagnostics.four_faults import faults_of
from gramfold.diagnostics.noise import Added, added_globally, added_locally, added_to_clusters, added_to_edges
from gramfold.diagnostics.rank_correlation import RankCorrelation
from gramfold.errors import UndefinedMeasureError, UndefinedMeasureWarning
from gramfold.runtime.warning import warn

# purpose: the measure, and whether a higher value is better
PURPOSES = {
    "local": ("r_nx", True),
    "global": ("distance_correlation", True),
    "isometry": ("strain", False),
    "clusters": ("neighborhood_purity", True),
}


@dataclass(frozen=True, eq=False)
class Judgement:
    """All that is said of one map."""

    measures: Mapping[str, Measure] = field(default_factory=dict)
    faults: Faults | None = None
    added: Mapping[str, Added] = field(default_factory=dict)  # by measure


def judge_map(judged: Judged, labels: Any) -> Judgement:
    """With the numbers of `gramfold.diagnostics` on the same map."""
    found: dict[str, Measure] = {}
    added: dict[str, Added] = {}

    def measure(name: str, value: Callable[[], Measure], parts: Callable[[], Added] | None = None) -> None:
        try:
            found[name] = value()
            if parts is not None:
                added[name] = parts()
        except UndefinedMeasureError as error:
            warn(f"{name} is NaN: {error}", UndefinedMeasureWarning)
            found[name] = Measure(float("nan"))

    correlation: list[RankCorrelation] = []

    def correlated() -> Measure:
        correlation.append(RankCorrelation.of(judged))
        return correlation[0].measure

    measure("r_nx", lambda: r_nx(judged), lambda: added_locally(judged))
    measure("trustworthiness", lambda: trustworthiness(judged))
    measure("continuity", lambda: continuity(judged))
    measure("distance_correlation", correlated, lambda: added_globally(judged, correlation[0]))
    measure("stress", lambda: stress(judged))
    wrong = faults_of(judged, every_row=False)
    strained = wrong.strained
    found["strain"] = Measure(strained.total, strained.interval, strained.per_point)
    if not np.isnan(strained.total):  # else hardly a row has a place of its own
        added["strain"] = added_to_edges(judged, strained)
    if labels is not None:
        purity = "neighborhood_purity"
        measure(purity, lambda: neighborhood_purity(judged, labels=labels), lambda: added_to_clusters(judged, labels))
        measure("silhouette", lambda: silhouette(judged, labels=labels))
    return Judgement(found, wrong, added)
