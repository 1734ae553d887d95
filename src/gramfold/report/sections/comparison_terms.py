"""The measures of a comparison in plain words, and numbers as they are written in its tables."""

import re
from dataclasses import dataclass

import numpy as np

from gramfold.report.markup import clean

DASH = "–"
_LETTERS = 60  # of a name, which is shortened beyond
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")  # controls of the direction of writing


@dataclass(frozen=True)
class Term:
    """A measure: its name in plain words, which end is better, and what it says."""

    title: str
    higher: bool
    meaning: str
    low: float  # where its chart begins, unless a value is lower
    high: float  # where it ends, unless one is higher

    @property
    def better(self) -> str:
        """Which end is better."""
        return "higher is better" if self.higher else "lower is better"


TERMS = {
    "r_nx": Term(
        "Neighbours kept",
        higher=True,
        meaning="how many of the nearest rows stay the nearest, beyond chance: 0 by chance, 1 if all do",
        low=0.0,
        high=1.0,
    ),
    "trustworthiness": Term(
        "Trustworthiness",
        higher=True,
        meaning="rows that are near on the map are near in the data: 1 is best",
        low=0.5,
        high=1.0,
    ),
    "continuity": Term(
        "Continuity",
        higher=True,
        meaning="rows that are near in the data are near on the map: 1 is best",
        low=0.5,
        high=1.0,
    ),
    "distance_correlation": Term(
        "Order of distances",
        higher=True,
        meaning="rank correlation of all distances, those in the data taken straight: 1 is best",
        low=0.0,
        high=1.0,
    ),
    "stress": Term(
        "Stress",
        higher=False,
        meaning="how far all distances are changed, those in the data taken straight: 0 is best",
        low=0.0,
        high=1.0,
    ),
    "strain": Term(
        "Strain",
        higher=False,
        meaning="how far lengths between neighbours are changed, beyond one common scale: 0 is best",
        low=0.0,
        high=1.0,
    ),
    "neighborhood_purity": Term(
        "Labels kept",
        higher=True,
        meaning="how many of the nearest rows on the map have the same label: 1 is best",
        low=0.0,
        high=1.0,
    ),
    "silhouette": Term(
        "Silhouette",
        higher=True,
        meaning="how far the groups of the labels are apart on the map, from −1 to 1",
        low=0.0,
        high=1.0,
    ),
}
PURPOSES = {  # title of the card, and the words after "best for"
    "local": ("Neighbours", "neighbours"),
    "global": ("All distances", "all distances"),
    "isometry": ("Lengths between neighbours", "lengths between neighbours"),
    "clusters": ("Labels", "labels"),
}


def term_of(measure: str) -> Term:
    """That of a measure; one that is not known keeps its own name."""
    return TERMS.get(measure) or Term(measure, higher=True, meaning="", low=0.0, high=1.0)


def number(value: float, digits: int = 3) -> str:
    """With so many digits after the point, and a proper minus sign."""
    if not np.isfinite(value):
        return DASH if np.isnan(value) else ("∞" if value > 0 else "−∞")
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def name_of(name: str) -> str:
    """The name of a map as HTML; its direction of writing does not spill over, and a long one is shortened."""
    if len(name) <= _LETTERS:
        return f"<bdi>{clean(name)}</bdi>"
    return f'<bdi title="{clean(name)}">{clean(name[: _LETTERS - 1])}…</bdi>'


def sentence(text: str) -> str:
    """A sentence with names in it, as HTML: none of them turns the words and numbers after it around."""
    return clean(_TURNING.sub("", text))


def listed(items: list[str], last: str = "and") -> str:
    """Items in a sentence."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"
