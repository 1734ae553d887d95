"""What the page of a comparison is about: several maps of the same rows, their numbers, and which is best for what.

It is filled by the room `comparison`, which stands above this one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramfold.diagnostics import Faults, Measure, Stability
from gramfold.types import Floats

NONE = float("nan")


@dataclass(frozen=True, eq=False)
class ComparedEntry:
    """One map, or why there is none."""

    name: str
    places: Floats | None = None  # (n, p), turned onto the first; None: it cannot be drawn
    failure: str = ""  # why there is no map, or why it was not judged
    measures: Mapping[str, Measure] = field(default_factory=dict)
    faults: Faults | None = None
    stability: Stability | None = None
    not_measured: str = ""  # why the stability is not known
    seconds: float = NONE
    megabytes: float = NONE
    n_rows: int = 0  # with coordinates
    warned: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, str] = field(default_factory=dict)  # of warnings, by category
    n_components: int = 0
    made: str = ""  # the estimator as text; none for a finished map


@dataclass(frozen=True, eq=False)
class Ranking:
    """The best map for a purpose."""

    purpose: str
    measure: str
    winner: str
    sentence: str
    decided: bool  # the margin is larger than noise
    narrow: bool  # but not by much
    runner_up: str | None  # None: there is no other map
    level_with: tuple[str, ...]
    passed_over: tuple[str, ...]  # collapsed


@dataclass(frozen=True, eq=False)
class ComparedSubject:
    """A comparison, and all that its page says."""

    title: str
    entries: Sequence[ComparedEntry]
    rankings: Sequence[Ranking]
    n_given: int  # rows of the table
    n_judged: int  # which all maps have
    n_sampled: int  # which were drawn for measures of all distances
    n_neighbors: int  # by which maps are judged
    metric: str = "euclidean"
    labels: Any = None
    notes: Sequence[str] = ()  # how far numbers can be believed, in sentences
    cost_notes: Sequence[str] = ()  # what seconds and megabytes are, likewise
    seconds: Mapping[str, float] = field(default_factory=dict)  # that are of no single map
    call: str = ""
    digest: str = ""  # SHA-256 of the rows, with shape and dtype

    @property
    def drawn(self) -> list[ComparedEntry]:
        """Those that have a map."""
        return [one for one in self.entries if one.places is not None]

    @property
    def measures(self) -> list[str]:
        """Names of all measures, in their order."""
        return list(dict.fromkeys(name for one in self.entries for name in one.measures))

    def ranking_by(self, measure: str) -> Ranking | None:
        """That for which maps are ranked by this measure."""
        return next((one for one in self.rankings if one.measure == measure), None)


def collapsed(entry: ComparedEntry) -> bool:
    """Whether a map cannot be the best one, since its rows share places."""
    return entry.faults is not None and entry.faults.collapsed.named


def known(value: float) -> bool:
    """Whether it is a number."""
    return bool(np.isfinite(value))
