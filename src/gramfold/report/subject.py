"""What a report is about, as its sections read it, and what they return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gramfold.diagnostics import Dimensions, Judged, Stability
from gramfold.types import Floats


@dataclass(frozen=True, eq=False)
class Subject:
    """A map and all that is known of it."""

    title: str
    model: Any | None  # the fitted estimator of gramfold, not the pipeline around it; None: a map made by others
    Y: Floats  # (n, p) the map; NaN where a row has no place
    X: Any = None  # (n, d) the rows as the method saw them, or distances; None where they are not known
    steps: tuple[str, ...] = ()  # of a pipeline before the model, as one would write them
    names: tuple[str, ...] = ()  # of the columns of X; none where they have none
    judged: Judged | None = None  # rows and map compared; None where the rows are not known, or too few
    unjudged: str = ""  # why not, in a sentence
    decisions: tuple[str, ...] = ()  # of gramfold.embed
    call: str = ""  # which makes the map again
    seconds: Mapping[str, float] = field(default_factory=dict)  # of each stage
    digest: str = ""  # SHA-256 of the rows, with shape and dtype, in hexadecimal
    warnings: tuple[str, ...] = ()  # of the fit
    stability: Stability | None = None
    not_measured: str = ""  # why it is not known, where it was asked for
    dimension: Dimensions | None = None
    seed: int = 0
    metric: Any = "euclidean"  # by which rows are near
    axes: tuple[str, ...] = ()  # names of the coordinates
    method: str = ""  # the name of the model's class; of a map made by others, what is known of it

    @property
    def precomputed(self) -> bool:
        """Whether X holds distances, edges or kernel values, and no columns."""
        return isinstance(self.metric, str) and self.metric.lower() == "precomputed"


@dataclass(frozen=True)
class Sections:
    """Parts of the page that are text, tables and charts, as HTML."""

    head: str  # title and the line about the method; within <header>
    verdict: str  # before the map
    below: str  # after it
