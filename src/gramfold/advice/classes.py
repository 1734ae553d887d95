"""Whether a map made with the classes of rows shows the classes of rows that it has not seen."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from gramfold.advice.columns import Seen, rows_of
from gramfold.diagnostics.refits import FAILS
from gramfold.errors import InputError
from gramfold.methods.lpp import LPP
from gramfold.types import Integers

_MOST = 0.1  # classes per row: more are numbers or names
_ROWS = 1_000
_BETTER = 0.05  # share of the rows that are shown among their own class
_VOTERS = 5
_MOST_COLUMNS = 0.25  # columns per row of the trial: with more, a linear map separates classes by chance


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of rows."""

    values: NDArray[Any]
    number: int

    @classmethod
    def of(cls, y: Any, n: int) -> Self | None:
        """Of given values; None where there are none, or they are no classes."""
        if y is None:
            return None
        values = np.asarray(y)
        if values.shape != (n,):
            raise InputError(
                f"y has shape {values.shape}, but X has {n:,} rows: pass one class or number for each row."
            )
        number = len(np.unique(values.astype(str)))
        return cls(values, number)

    @property
    def are_classes(self) -> bool:
        """Whether there are few different values, of which most occur often."""
        return 2 <= self.number <= max(2, _MOST * len(self.values))


@dataclass(frozen=True)
class Told:
    """What a trial with classes says."""

    better: bool
    words: str


def trial_with_classes(classes: Classes, seen: Seen, steps: tuple[Any, ...], model: Any, width: int) -> Told:
    """Fit both maps on half of some rows, and look at which class the other half comes to lie in."""
    if not classes.are_classes:
        return Told(False, f"y has {classes.number:,} different values: no classes, so that it is not used")
    rows = seen.sample[:: max(1, len(seen.sample) // _ROWS)]
    half = len(rows) // 2
    if issparse(seen.X) or width > _MOST_COLUMNS * half:
        return Told(False, "y is not used: among so many columns a linear map separates any classes")
    rows = np.random.default_rng(0).permutation(rows)
    scores = []
    for one, given in ((LPP(model.n_components, graph="classes"), True), (model, False)):
        found = _shown(classes, seen, [*steps, one], given, rows[:half], rows[half:])
        if found is None:
            return Told(False, "y is not used: a map by classes could not be tried on these rows")
        scores.append(found)
    own, plain = scores
    told = f"{own:.0%} of the rows that it had not seen came to lie among their own class"
    if own < plain + _BETTER:
        return Told(False, f"y is not used: on a map by its {classes.number} classes {told}, without them {plain:.0%}")
    return Told(
        True, f"it is a linear map by the {classes.number} classes of y: {told} ({type(model).__name__}: {plain:.0%})"
    )


def _shown(classes: Classes, seen: Seen, steps: list[Any], given: bool, known: Integers, new: Integers) -> float | None:
    """Share of new rows whose nearest known rows on a map are of their class."""
    whole = make_pipeline(*(clone(step) for step in steps))
    y = classes.values.astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of half of the rows, which is no map that anybody sees
        try:
            places = whole.fit_transform(rows_of(seen.X, known), *([y[known]] if given else []))
            moved = whole.transform(rows_of(seen.X, new))
        except FAILS:
            return None
    voters = KNeighborsClassifier(min(_VOTERS, len(known))).fit(places, y[known])
    return float(voters.score(moved, y[new]))
