"""`gramfold.advise`: look at a table before a fit, and say what to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline

from gramfold.advice.asked import Asked
from gramfold.advice.choosing import choose
from gramfold.advice.classes import Classes, trial_with_classes
from gramfold.advice.columns import Seen
from gramfold.advice.leave_out import LeaveOut
from gramfold.advice.looks import Look, is_distances, look_at, measured, sharing
from gramfold.advice.plan import Advice, Item
from gramfold.advice.trial import Shape
from gramfold.errors import InputError
from gramfold.methods.lpp import LPP
from gramfold.neighbors.columns import require_one_order

_NAMED = 12  # columns in one sentence
_LARGEST = 1e150  # squares of larger values, and their sums, overflow
_BY_CLASS = Item(None, "classes, not neighbours, are what the map keeps together")


def advise(X: Any, y: Any = None, *, metric: Literal["auto", "gower"] = "auto", random_state: int = 0) -> Advice:
    """Say how to map a table: columns to leave out, gaps, scaling, metric, method and its parameters, with reasons.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Table of numbers, categories, gaps, dates, text, ids, …, or a symmetric matrix of all distances.
    y : array-like of shape (n_samples,), default=None
        Classes or numbers of the rows. Classes are used where a map made with them shows the classes of rows that it
        has not seen clearly better; the estimator is then fitted with them, ``advice.estimator.fit(X, y)``.
    metric : {"auto", "gower"}, default="auto"
        "gower": columns of text are compared beside the numbers, by Gower's distance. "auto": they are left out, unless
        fewer than two columns hold numbers, or there are more than two columns of text for each of these.
    random_state : int, default=0
        Seed of the rows that are looked at where they are many.

    Returns
    -------
    Advice
        The plan, and the `estimator` that does it; ``print(advice)`` shows it, ``print(advice.code)`` its code.

    Examples
    --------
    >>> import numpy as np
    >>> import gramfold
    >>> roll = gramfold.datasets.make_swiss_roll(600, random_state=0)
    >>> table = np.column_stack([np.arange(600), roll.points * [1, 1000, 1]])    # row numbers, another unit
    >>> advice = gramfold.advise(table)
    >>> advice.left_out.value, advice.scaling.value, advice.method.value
    ((0,), 'standardise', 'Isomap')
    >>> advice.estimator.fit_transform(table).shape
    (600, 2)
    """
    if metric not in ("auto", "gower"):
        raise InputError(f"metric={metric!r} is not known: use 'auto' or 'gower', or a method with this metric.")
    return advice_for(X, y, random_state, asked=Asked(mixed=metric == "gower"))


def advice_for(
    X: Any,
    y: Any,
    random_state: int,
    names: Sequence[str] | None = None,
    asked: Asked | None = None,
) -> Advice:
    """`advise`, of a table whose columns have names that it does not hold itself, or of which the user decided some."""
    require_one_order(X, y, ("X", "y"))
    asked = asked or Asked()
    seen = _seen(X, random_state, names, asked)
    classes = Classes.of(y, seen.n)
    if not is_distances(seen.X):
        seen = sharing(measured(seen, asked))
        _require_columns(seen)
    look = look_at(seen, asked)
    shape = Shape.of(look.rows, look.width, random_state)
    n_rows, metric = asked.n_rows or seen.n, str(look.metric.value)
    chosen = choose(shape, n_rows, look.width, metric, in_partitions=asked.n_rows is not None)
    method, model, notes = chosen.method, chosen.model, [*_notes(shape, look, seen), *chosen.notes]
    neighbors, search, landmarks = chosen.n_neighbors, chosen.search, chosen.landmarks
    supervised = False
    if classes is not None and look.metric.value == "euclidean":
        told = trial_with_classes(classes, seen, _steps(seen, look, "position"), model, look.width)
        supervised = told.better
        if supervised:
            model, method = LPP(chosen.n_components.value, graph="classes"), Item("LPP", told.words)
            neighbors = search = landmarks = _BY_CLASS
        else:
            notes.append(told.words)
    steps = _steps(seen, look, "key")
    return Advice(
        left_out=_left_out(seen),
        gaps=look.gaps,
        scaling=look.scaling,
        metric=look.metric,
        method=method,
        n_components=chosen.n_components,
        n_neighbors=neighbors,
        search=search,
        landmarks=landmarks,
        notes=tuple(notes),
        estimator=make_pipeline(*steps, model) if steps else model,
        n_rows=seen.n,
        n_columns=seen.width,
        supervised=supervised,
        guesses=_guesses(seen),
    )


@dataclass(frozen=True, eq=False)
class Preparation:
    """What to do with a table before a method that the user has chosen; the first decisions of an `Advice`."""

    left_out: Item
    gaps: Item
    scaling: Item
    metric: Item
    notes: tuple[str, ...]  # on columns that stay, such as one that may be a class
    guesses: tuple[str, ...]  # on columns of numbers that are left out, which may be measurements all the same
    steps: tuple[Any, ...]  # scikit-learn transformers, not fitted


def preparation_for(
    X: Any,
    method: str,
    random_state: int,
    *,
    mixed: bool,
    asked: Asked,
) -> Preparation:
    """How `advise` would measure the rows; text is left out unless the method of this name reads mixed rows."""
    seen = _seen(X, random_state, None, asked)
    if not is_distances(seen.X):
        why = f"it holds categories, which {method} does not read"
        seen = sharing(measured(seen, asked)) if mixed else seen.without(lambda one: not one.numbers, lambda _: why)
        _require_columns(seen)
    look = look_at(seen, asked)
    return Preparation(
        _left_out(seen),
        look.gaps,
        look.scaling,
        look.metric,
        tuple(_doubts(seen)),
        _guesses(seen),
        _steps(seen, look, "key"),
    )


def left_out_of(X: Any, random_state: int, asked: Asked) -> Item:
    """The columns that a map should not see, and why, without more of an advice."""
    return _left_out(_seen(X, random_state, None, asked))


def _seen(X: Any, random_state: int, names: Sequence[str] | None, asked: Asked) -> Seen:
    _require_seed(random_state)
    seen = Seen.of(X, random_state, names, asked)
    _require_size(seen)
    return seen


def _steps(seen: Seen, look: Look, by: Literal["key", "position"]) -> tuple[Any, ...]:
    """The steps before the method: what leaves columns out also makes numbers of what it keeps."""
    if look.reads and not seen.left_out:
        return look.steps
    return LeaveOut(columns=[getattr(one, by) for one in seen.left_out]), *look.steps


def _require_seed(random_state: Any) -> None:
    try:
        np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InputError(f"random_state={random_state!r} is no seed: pass a whole number from 0 on.") from error


def _require_size(seen: Seen) -> None:
    """Raise an error for values that cannot be squared, or that are all 0 where no column is looked at."""
    if issparse(seen.X):
        if not seen.X.count_nonzero():
            raise InputError("every value of X is 0, so that all rows are equal: pass measurements of the rows.")
        sizes = [("X", np.abs(seen.X.data).max())] if seen.X.dtype.kind == "f" else []
    else:
        numbers = [one for one in seen.kept if one.numbers]
        sizes = [(f"column {one.shown}", np.nanmax(np.abs(one.values))) for one in numbers]
    large = next(((name, size) for name, size in sizes if size > _LARGEST), None)
    if large is not None:
        raise InputError(
            f"{large[0]} holds values as large as {large[1]:.0e}, whose squares overflow: correct them, or divide by a "
            "constant."
        )


def _require_columns(seen: Seen) -> None:
    if seen.columns and not seen.kept:
        named = "; ".join(f"column {one.shown}: {one.why_not}" for one in seen.left_out[:_NAMED])
        raise InputError(f"no column of X is left for a map ({named}): pass measurements of the rows.")


def _left_out(seen: Seen) -> Item:
    if not seen.left_out:
        return Item((), "every column may be a measurement")
    told = _by_reason([(str(one.why_not), one.shown) for one in seen.left_out])
    return Item(tuple(one.key for one in seen.left_out), "; ".join(told))


def _guesses(seen: Seen) -> tuple[str, ...]:
    return tuple(_by_reason([(str(one.why_not), one.shown) for one in seen.left_out if one.guessed]))


def _by_reason(told: list[tuple[str, str]]) -> list[str]:
    """A sentence for each reason, with the columns that it holds of."""
    found: dict[str, list[str]] = {}
    for why, shown in told:
        found.setdefault(why, []).append(shown)
    return [f"{_columns(names)}: {_of(len(names), why)}" for why, names in found.items()]


def _of(count: int, why: str) -> str:
    """A reason as it is said of so many columns."""
    return f"each {why.removeprefix('it ')}" if count > 1 and why.startswith("it ") else why


def _columns(names: list[str]) -> str:
    if len(names) == 1:
        return f"column {names[0]}"
    shown, more = names[:_NAMED], len(names) - _NAMED
    return f"columns {', '.join(shown)}" + (f" and {more:,} more" if more > 0 else "")


def _doubts(seen: Seen) -> list[str]:
    return _by_reason([(doubt, one.shown) for one in seen.kept for doubt in one.doubts])


def _notes(shape: Shape, look: Look, seen: Seen) -> list[str]:
    notes = _doubts(seen)
    copies = len(look.rows) - shape.distinct
    if copies:
        of = f"{copies:,} of {len(look.rows):,} rows looked at"
        notes.append(f"{of} are copies of others: a graph has each once, and they share a place")
    if shape.far:
        notes.append(
            f"{shape.far} of the rows looked at are far from all others, and may take an axis of the map: look at them "
            "first, and leave them out if they are errors"
        )
    if look.width > seen.n:
        notes.append(f"there are more columns ({look.width:,}) than rows ({seen.n:,}): a linear map fits noise too")
    return notes
