"""New rows on a map that is made of all training rows at once: a table, or values against it."""

from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

from scipy.sparse import csr_array, issparse

from gramfold.errors import PrecomputedInputError
from gramfold.extension.extrapolation import EUCLIDEAN, LIMIT, Ball, Rim, Surroundings, warn_if_flown, warn_if_outside
from gramfold.extension.local_slopes import Slopes, local_slopes
from gramfold.extension.placement import Known, Part, widened
from gramfold.neighbors.metrics import Metric
from gramfold.neighbors.units import Unit
from gramfold.runtime.warning import is_heard
from gramfold.types import ROWS, Floats, Plain


class Filling(Protocol):
    """Knows what missing values may be."""

    def fill(self, rows: Floats) -> Floats:
        """The same rows without gaps."""


@dataclass(frozen=True, eq=False)
class TableSource(Plain):
    """Where the rows of such a method come from, and how new rows meet them."""

    unit: Unit
    rows: Any = field(metadata=ROWS)  # the training rows, in the unit; None where X holds values against them
    metric: Metric | None  # by which rows are near; None likewise
    ball: Ball | None  # about the rows: whoever is in it is amid them; None where nobody is asked
    filling: Filling | None = None  # of values that are missing in new rows; None where none may be
    flown: bool = True  # whether rows are told of that are amid the training rows and land far from all of them
    rim: Rim | None = None  # what is left of the rows, where they were left out

    def place(self, X: Any, parts: tuple[Part, ...], known: Known, n_jobs: int | None) -> Floats:
        """Places (m, p) of new rows; those amid the training rows should be on the map."""
        X = self.seen(self.unit.inward_new(X))
        amid: Any = slice(None)
        if self.ball is not None and is_heard():
            outside = self.ball.outside(X, lambda: self.rim or self.surroundings(n_jobs))
            warn_if_outside(outside, "rows")
            amid = outside <= LIMIT
        (part,) = parts
        places = widened(part.placement.place(X, part, n_jobs), len(part.offset))
        if self.flown and is_heard():
            warn_if_flown(places[amid], part.extent)
        return places

    def slopes(self, X: Any, parts: tuple[Part, ...], n_jobs: int | None) -> Slopes:
        """Derivatives (m, p, d) of the places of new rows, in the unit."""
        X = self.seen(self.unit.inward_new(X))
        (part,) = parts
        found = part.placement.slopes(X, part, n_jobs)
        if found is not None:
            return Slopes(widened(found, len(part.offset)), exact=True)
        metric = EUCLIDEAN if self.metric is None else self.metric
        return Slopes(local_slopes(X, self.rows, part.coordinates, metric, n_jobs), exact=False)

    def outside(self, X: Any, n_jobs: int | None) -> Floats:
        """How far outside of the training rows these lie, (m,)."""
        return self.surroundings(n_jobs)(self.seen(self.unit.inward_new(X)))

    def seen(self, X: Any) -> Any:
        """The rows that are placed, in the place of new ones: without gaps, and sparse where the training rows are."""
        if self._sparse and not issparse(X):
            return csr_array(X)  # as the training rows are, which they are compared with
        return X if self.filling is None else self.filling.fill(X)

    @property
    def _sparse(self) -> bool:
        return issparse(self.rows) if self.rim is None else self.rim.sparse

    def compacted(self, parts: tuple[Part, ...]) -> Self:
        """Without the rows, unless the kernel is over all of them."""
        if self.rows is None or parts[0].placement.needs(self.rows):
            return self
        return replace(self.without("rows"), rim=Rim.of(self.ball, self.rows))

    def surroundings(self, n_jobs: int | None) -> Surroundings:
        """The training rows, asked how far others lie outside of them."""
        if self.rows is None or self.metric is None:
            raise PrecomputedInputError(
                "extrapolation of rows needs the rows themselves, but the model was fitted on precomputed input: fit "
                "on a table of rows, or pass coordinates with of='coordinates'."
            )
        return Surroundings(self.rows, n_jobs, self.metric)
