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
from gramfold.types import Floats, Integers

_MOST = 0.1  # classes per row: more are numbers or names
_ROWS = 1_000
_BETTER = 0.05  # share of the rows that are shown among their own class
_ERRORS = 3.0  # standard errors of a share, beyond which it is not noise
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
    """Fit both maps on each half of some rows, and look at which class the other half comes to lie in."""
    if not classes.are_classes:
        return Told(False, f"y has {classes.number:,} different values: no classes, so that it is not used")
    rows = seen.sample[:: max(1, len(seen.sample) // _ROWS)]
    half = len(rows) // 2
    if issparse(seen.X) or width > _MOST_COLUMNS * half:
        return Told(False, "y is not used: among so many columns a linear map separates any classes")
    rows = np.random.default_rng(0).permutation(rows)
    shown = []
    for one, given in ((LPP(model.n_components, graph="classes"), True), (model, False)):
        halves = ((rows[:half], rows[half:]), (rows[half:], rows[:half]))
        found = [_shown(classes, seen, [*steps, one], given, known, new) for known, new in halves]
        if any(each is None for each in found):
            return Told(False, "y is not used: a map by classes could not be tried on these rows")
        shown.append(np.concatenate([each for each in found if each is not None]))
    own, plain = shown
    return _told(classes, rows, own, plain, type(model).__name__)


def _told(classes: Classes, rows: Integers, own: Floats, plain: Floats, method: str) -> Told:
    """By the rows that each map shows among their own class, 1 or 0: those of both in one order."""
    chance = float(np.unique(classes.values[rows].astype(str), return_counts=True)[1].max()) / len(rows)
    told = f"{own.mean():.0%} of the rows that it had not seen came to lie among their own class"
    by_chance = f"by chance up to {chance:.0%}"
    number = classes.number
    noise = _ERRORS / np.sqrt(len(rows))
    if own.mean() <= chance + noise * np.sqrt(chance * (1.0 - chance)):
        return Told(False, f"y is not used: on a map by its {number} classes {told}, {by_chance}")
    gain = own - plain  # of each row, since both maps show the same rows
    if gain.mean() <= max(_BETTER, noise * gain.std()):
        return Told(
            False,
            f"y is not used: on a map by its {number} classes {told}, without them {plain.mean():.0%}, {by_chance}",
        )
    return Told(
        True,
        f"it is a linear map by the {number} classes of y: {told} ({method}: {plain.mean():.0%}; {by_chance})",
    )


def _shown(
    classes: Classes, seen: Seen, steps: list[Any], given: bool, known: Integers, new: Integers
) -> Floats | None:
    """(m,) 1 for new rows whose nearest known rows on a map are of their class, else 0."""
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
    return np.asarray(voters.predict(moved) == y[new], dtype=np.float64)
