"""What a user has decided of a table, before anything is advised."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gramfold.advice.scaling import Scaling

Gaps = Literal["mean", "ppca", "keep"]


@dataclass(frozen=True)
class Asked:
    """Decisions that an advice keeps to; None, and no columns, leave all to it."""

    aside: Mapping[Any, str] = field(default_factory=dict)  # columns that are no data, and why
    insisted: Collection[Any] = ()  # columns that stay, whatever they look like
    scaling: Scaling | None = None
    gaps: Gaps | None = None  # how they are filled in; "keep": the method reads them
    mixed: bool = False  # whether text is compared, by Gower's distance
    n_rows: int | None = None  # that there are, where the table is a sample of them
