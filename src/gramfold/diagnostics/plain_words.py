"""The verdict on a map in plain words: the shape of the data, what the map holds of it, and what to try next."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.doubtful_rows import doubtful_rows_of
from gramfold.diagnostics.four_faults import Fault, Faults, faults_of, percent
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.next_step import loud_columns, next_step, usual_faults
from gramfold.diagnostics.partitions import drawn_rows
from gramfold.diagnostics.shapes.shape import Kind, Shape, Sure, shape_of
from gramfold.embedding import Estimator
from gramfold.neighbors.metrics import MetricName

_MOST = 50_000  # rows that are compared: more are drawn from
_EVERY_ROW = 20_000  # rows up to which each of them gets its faults: beyond that a search would take long
FEWEST = 20  # rows below which faults cannot be told from chance
FEW = 50  # rows below which each counts for much
_THIRD = 3  # a neighbour can be a stranger if neighbours are at most one in so many rows
_WHAT = {
    "glued": "rows that are far apart in the data were put side by side",
    "torn": "neighbours in the data were put far apart",
    "strained": "distances between neighbours were changed",
    "collapsed": "rows that differ cannot be told apart",
}
_ALIKE, _LITTLE = 1e-3, 0.01  # maps whose faults differ by less are one; a share below which nothing is lost
_HALF = 0.5
_SAME = 1e-6  # relative: totals of one map, computed twice
_SURE = {"clear": "this is clear", "likely": "this is likely, not certain", "not known": "so nothing is claimed"}


@dataclass(frozen=True)
class Sentence:
    """A sentence of a verdict.

    Attributes
    ----------
    text : str
        The sentence.
    number : float
        What it rests on; NaN where it rests on no number.
    test : str
        The name of the test that gave the number.
    """

    text: str
    number: float
    test: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """What can be said of a map. ``print(verdict)`` shows the sentences.

    Attributes
    ----------
    kind : {"line", "ring", "sheet", "sphere", "branches", "groups", "noise", "unclear"}
        The shape of the data, found from the data and not from the map.
    sure : {"clear", "likely", "not known"}
        How sure that is.
    faults : tuple of str
        Those of "glued", "torn", "strained" and "collapsed" that the map has.
    sentences : tuple of Sentence
        At most six: the shape, what the map holds, what is lost, crowds, where, and what to try next.
    dimension : float
        Intrinsic dimension of the data between 8 and 32 neighbours; NaN for few rows.
    """

    kind: Kind
    sure: Sure
    faults: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    dimension: float

    def __str__(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    def __repr__(self) -> str:
        return f"Verdict({self.kind}, {self.sure}; faults: {', '.join(self.faults) or 'none'})"

    def _repr_html_(self) -> str:
        from html import escape

        items = "".join(
            f'<li title="{escape(f"{one.test}: {one.number:.3g}")}">{escape(one.text)}</li>' for one in self.sentences
        )
        return f"<p><b>{self.kind}</b> ({self.sure})</p><ul>{items}</ul>"


@described
def verdict(
    X: Any,
    Y: Any = None,
    *,
    n_neighbors: int = 10,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
) -> Verdict:
    """Say in plain words what shape the data have, how far a map shows it, and what to try next.

    Parameters
    ----------
    {shared}
    {options} Neighbours are at most a third of the rows.

    Returns
    -------
    verdict : Verdict
        `kind` (the shape of the data), `faults` (of the map), and `sentences`, each with the number and the test behind
        it.

    Notes
    -----
    The shape is looked for in up to 1,500 distinct rows, and is "unclear" where no test decides. "noise" means that
    shuffling each column changes nothing: also a filled square of two columns is noise by that.

    Examples
    --------
    A rolled-up sheet that was folded on its way to the map:

    >>> import numpy as np
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import verdict
    >>> roll = make_swiss_roll(1000, random_state=0)
    >>> found = verdict(roll.points, np.abs(roll.truth - roll.truth.mean(axis=0)))
    >>> found
    Verdict(sheet, clear; faults: glued)
    >>> found.sentences[2].text[:77]
    'The map is glued (rows that are far apart in the data were put side by side: '
    >>> found.sentences[0].test
    'gaps around rows'
    """
    model = X if isinstance(X, Estimator) else None
    if not isinstance(X, Judged):
        drawn = drawn_rows(X, Y, random_state=random_state, metric=metric)
        X, Y = (X, Y) if drawn is None else (drawn, None)
        n_neighbors = _fewer(n_neighbors, _count_placed(X, Y if drawn is None else drawn.Y))
    judged = Judged.of(X, Y, n_neighbors=n_neighbors, metric=metric, sample=sample, random_state=random_state)
    return verdict_of(judged, model)


def verdict_of(judged: Judged, model: Any = None, found: Faults | None = None, names: Any = None) -> Verdict:
    """The verdict on a map; `found` are its faults and `names` the columns of the data, where they are known."""
    judged = judged.fewer(_MOST) if found is None else judged
    names = getattr(model, "feature_names_in_", None) if names is None else names
    shape = shape_of(judged, names)
    if judged.map.constant():
        return _of_constant(shape)
    if judged.n < FEWEST:
        return _of_few(judged, shape)
    if found is None:
        found = faults_of(judged, every_row=judged.n <= _EVERY_ROW)
    if shape.kind not in ("noise", "unclear") and (loud := loud_columns(judged)) is not None:
        few = "one column has" if len(loud.columns) == 1 else f"{len(loud.columns)} columns have"
        words = f"{shape.words}, but {few} {percent(loud.share)} of the variance and may be all of it"
        shape = replace(shape, words=words, sure="likely")
    sentences = [_shape_sentence(shape), _held(judged, found), _lost(found)]
    if merged(found):
        words = f"Most rows lie on top of others: {found.collapsed.words}."
        sentences.append(Sentence(words, found.collapsed.total, "collapsed"))
    doubtful = doubtful_rows_of(judged, found)
    if doubtful.share > 0.0:
        sentences.append(Sentence(f"Do not trust {doubtful.words}.", doubtful.share, "faults of each row"))
    step = next_step(judged, shape, found, model, names)
    sentences.append(Sentence(f"Next: {step}.", float("nan"), "shape and faults"))
    return Verdict(shape.kind, shape.sure, tuple(found.named), tuple(sentences), shape.dimension)


def _shape_sentence(shape: Shape) -> Sentence:
    return Sentence(f"The data {shape.words}; {_SURE[shape.sure]}.", shape.number, shape.test)


def _held(judged: Judged, found: Faults) -> Sentence:
    p, k = int(judged.map.rows.shape[1]), judged.n_neighbors
    chance = k / (judged.n - 1)
    kept = found.kept.value
    near = (
        f"{percent(kept)} of the {k} nearest neighbours"
        if k > 1
        else f"the nearest neighbour of {percent(kept)} of the rows"
    )
    drawn = "" if judged.n == judged.n_all else f", among {judged.n:,} of {judged.n_all:,} rows,"
    words = f"In {p} dimension{'s' * (p != 1)} the map keeps{drawn} {near} (by chance: {percent(chance)})."
    return Sentence(words, kept, "neighbours kept")


def _lost(found: Faults) -> Sentence:
    named = sorted((fault for fault in found if fault.named), key=lambda fault: -fault.total / fault.threshold)
    if not named and _is_of_pca(found):
        words = (
            "It is the map of PCA, against which faults are measured, so that only chance can name one: "
            f"{percent(found.glued.total)} of the neighbours on it are strangers (glued), "
            f"{percent(found.torn.total)} of those in the data were put far apart (torn), and distances "
            f"between neighbours changed by {percent(found.strained.total)} (strained)."
        )
        return Sentence(words, found.strained.total, "strained")
    if not named:
        usual = [getattr(found, name) for name in usual_faults(found)]
        if usual:
            first = max(usual, key=lambda fault: fault.total)
            words = f"It has no fault beyond those of PCA, on which as on this map {_WHAT[first.name]}"
            return Sentence(f"{words} ({percent(first.total)} of neighbours).", first.total, first.name)
        worst = max(found, key=lambda fault: np.nan_to_num(fault.total / fault.threshold))
        open_ = [fault for fault in found if undecided(fault)]
        if open_:
            each = [f"{fault.name} ({_within(fault)})" for fault in open_]
            words = f"Whether it is {' or '.join(each)} cannot be decided from the rows drawn; it has no other fault."
            return Sentence(words, worst.total, worst.name)
        return Sentence(
            "It is not glued, torn, strained or collapsed beyond what chance and PCA explain.", worst.total, worst.name
        )
    each = [
        f"{fault.name} ({_WHAT[fault.name]}: {_within(fault)}{', which is not certain' * undecided(fault)})"
        for fault in named
    ]
    listed = each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"
    return Sentence(f"The map is {listed}.", named[0].total, named[0].name)


def _is_of_pca(found: Faults) -> bool:
    """Whether a map that lost something lost just what that of PCA did."""
    three = (found.glued, found.torn, found.strained)
    alike = all(np.isclose(fault.total, fault.plain, rtol=_ALIKE, atol=_ALIKE * _LITTLE) for fault in three)
    return alike and max(fault.total for fault in three) > _LITTLE


def merged(found: Faults) -> bool:
    """Whether most rows lie in crowds, but no more than on the map of PCA, so that this is not named."""
    return found.collapsed.total > _HALF and not found.collapsed.named


def undecided(fault: Fault) -> bool:
    """Whether the rows drawn leave open if a fault is above its threshold; none of PCA's own map is, or above 100%."""
    if not fault.named and (fault.threshold >= 1.0 or np.isclose(fault.total, fault.plain, rtol=_SAME, atol=0.0)):
        return False
    return fault.interval is not None and bool(fault.interval[0] <= fault.threshold <= fault.interval[1])


def _within(fault: Fault) -> str:
    between = ""
    if fault.interval is not None and undecided(fault):
        between = f", between {percent(fault.interval[0])} and {percent(fault.interval[1])}"
    return f"{percent(fault.total)}{between}, limit {percent(fault.threshold)}"


def _of_few(judged: Judged, shape: Shape) -> Verdict:
    few = Sentence(
        f"With {judged.n} rows no fault of the map can be told from chance.", float(judged.n), "number of rows"
    )
    last = Sentence("Next: collect more rows before reading anything from this map.", float("nan"), "number of rows")
    return Verdict(shape.kind, shape.sure, (), (_shape_sentence(shape), few, last), shape.dimension)


def _of_constant(shape: Shape) -> Verdict:
    sentences = (
        _shape_sentence(shape),
        Sentence("The map has collapsed: all its rows are at one place, so it shows nothing.", 1.0, "collapsed"),
        Sentence("Next: map again by another method, such as PCA().", float("nan"), "shape and faults"),
    )
    return Verdict(shape.kind, shape.sure, ("collapsed",), sentences, shape.dimension)


def _count_placed(X: Any, Y: Any) -> int:
    """Number of rows with a place; 0 where the map cannot be read, which Judged says."""
    places = getattr(getattr(X, "model_", None), "aligned", None) if Y is None else Y
    try:
        found = np.asarray(places, dtype=np.float64)
    except (TypeError, ValueError):
        return 0
    return int((~np.isnan(found).any(axis=1)).sum()) if found.ndim == 2 else 0


def _fewer(n_neighbors: Any, n: int) -> Any:
    """At most a third of the rows; what is no number is refused by Judged."""
    if isinstance(n_neighbors, int) and n > 0:
        return min(n_neighbors, max(1, n // _THIRD))
    return n_neighbors
