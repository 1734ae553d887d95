"""Maps of the same rows for several numbers of neighbours, from one neighbour search, each turned onto the one before.

A map that holds over a range of neighbours shows the data; one that changes from each number to the next shows the
number. No score chooses among them: too few neighbours cut the graph, too many make short circuits, and what lies
between is seen in the maps themselves, their distances from each other, connected components, residuals and warnings.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from gramfold.alignment import similarity
from gramfold.diagnostics.refits import FAILS, Table, Told, coordinates
from gramfold.embedding import Alignment, Embedding
from gramfold.embedding.sharing import shared_search
from gramfold.errors import InputError
from gramfold.extension.graph_source import GraphSource
from gramfold.graph.connect import components
from gramfold.runtime.progress import Progress, Stages
from gramfold.types import Floats, Spectrum

_NONE = float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class SweepStep:
    """One number of neighbours of a sweep.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbours.
    fitted : ndarray of shape (n_rows, n_components), or None
        The map as a fit with this number gives it; None where the fit failed.
    alignment : Alignment or None
        How it was turned onto the map before it; None for the first, or where the two could not be compared.
    moved : float
        Misfit of the two maps, from 0 (the same) to 1 (nothing of one is in the other): the root of their Procrustes
        disparity. NaN where there is no alignment.
    components : int
        Connected components of the neighbour graph, before any were bridged or left out; 0 where the fit failed.
    kept : int
        Rows that have coordinates.
    spectrum : Spectrum or None
        Eigenvalues and residuals of the kernel of the largest component.
    residual : float
        The largest residual.
    measures : dict of str to float
        Of the map, by the functions that were given.
    warned : tuple of str
        What the fit warned of.
    failure : str
        Why the fit failed; empty where it did not.
    seconds : float
        Of the fit; the first of a sweep has the neighbour search.
    """

    n_neighbors: int
    fitted: Floats | None = None
    alignment: Alignment | None = None
    moved: float = _NONE
    components: int = 0
    kept: int = 0
    spectrum: Spectrum | None = None
    residual: float = _NONE
    measures: Mapping[str, float] = field(default_factory=dict)
    warned: tuple[str, ...] = ()
    failure: str = ""
    seconds: float = 0.0

    @property
    def embedding(self) -> Floats | None:
        """The map, turned onto the one before; None where the fit failed."""
        if self.fitted is None or self.alignment is None:
            return self.fitted
        return self.alignment.outward(self.fitted, self.fitted.dtype)

    def __repr__(self) -> str:
        if self.failure:
            return f"SweepStep(n_neighbors={self.n_neighbors}, failed)"
        return f"SweepStep(n_neighbors={self.n_neighbors}, {self.components} components, moved {self.moved:.2g})"


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """Maps of the same rows for several numbers of neighbours.

    Attributes
    ----------
    steps : tuple of SweepStep
        One for each number, ascending. `sweep[k]` is that of k neighbours, and iteration yields them all.
    searches : int
        Number of neighbour searches that were made: 1, or more where copies leave too few distinct rows for the largest
        number, so that each fit searches by itself.
    recall : float or None
        Recall of the search, where it was approximate.
    """

    steps: tuple[SweepStep, ...]
    searches: int
    recall: float | None

    @property
    def n_neighbors(self) -> tuple[int, ...]:
        """The numbers."""
        return tuple(step.n_neighbors for step in self.steps)

    @property
    def moved(self) -> Floats:
        """Misfit of each map and the one before it, (n_steps − 1,); NaN where one of them failed."""
        return np.array([step.moved for step in self.steps[1:]])

    @property
    def warned(self) -> Mapping[int, tuple[str, ...]]:
        """What fits warned of, by the number of neighbours."""
        return {step.n_neighbors: step.warned for step in self.steps if step.warned}

    @property
    def failures(self) -> Mapping[int, str]:
        """Why fits failed, by the number of neighbours."""
        return {step.n_neighbors: step.failure for step in self.steps if step.failure}

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[SweepStep]:
        return iter(self.steps)

    def __getitem__(self, n_neighbors: int) -> SweepStep:
        for step in self.steps:
            if step.n_neighbors == n_neighbors:
                return step
        raise KeyError(f"{n_neighbors} is not among the numbers of neighbours {self.n_neighbors}")

    def __repr__(self) -> str:
        return f"Sweep(n_neighbors={self.n_neighbors})"

    def __str__(self) -> str:
        """A table, one line for each number of neighbours."""
        names = list(dict.fromkeys(name for step in self.steps for name in step.measures))
        head = ["n_neighbors", "components", "rows", "moved", "residual", *names, "told"]
        lines = [head]
        for step in self.steps:
            told = "failed: " + step.failure if step.failure else ", ".join(_categories(step.warned))
            numbers = ["", "", "", "", *("" for _ in names)]
            if not step.failure:
                numbers = [
                    str(step.components),
                    f"{step.kept:,}",
                    "" if np.isnan(step.moved) else f"{step.moved:.3f}",
                    f"{step.residual:.0e}",
                    *(f"{step.measures[name]:.3f}" if name in step.measures else "" for name in names),
                ]
            lines.append([str(step.n_neighbors), *numbers, told])
        widths = [max(len(line[j]) for line in lines) for j in range(len(head) - 1)]
        return "\n".join(
            "  ".join([*(cell.rjust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]).rstrip()
            for line in lines
        )


def sweep(
    model: Any,
    X: Any,
    n_neighbors: Iterable[int] = (5, 8, 12, 20),
    *,
    y: Any = None,
    measures: Mapping[str, Callable[[Any, Floats], Any]] | None = None,
    verbose: int = 0,
    progress: Progress | None = None,
) -> Sweep:
    """Fit maps for several numbers of neighbours, from one neighbour search, and compare each with the one before.

    Parameters
    ----------
    model : estimator
        A method of a neighbour graph. It is not changed; clones with each number of neighbours are fitted.
    X : array-like of shape (n_rows, n_features)
        Rows, or a dense matrix of their distances with ``metric="precomputed"``.
    n_neighbors : iterable of int, default=(5, 8, 12, 20)
        Numbers of neighbours. A fit for as many as there are distinct rows, or more, fails.
    y : array-like of shape (n_rows,), default=None
        As for `fit`.
    measures : dict of str to function, default=None
        Functions of X and the coordinates of its rows that return a number, such as those of this module.
    verbose : int, default=0
        Report progress on standard error.
    progress : callable, default=None
        Function that is called as ``progress(stage, done, total)``, as that of an estimator is; an error that it raises
        ends the work.

    Returns
    -------
    sweep : Sweep
        A step for each number of neighbours: the map, turned onto the one before, how far the two differ, connected
        components, residuals, warnings. ``print(sweep)`` shows a table. A fit that fails is a step with its `failure`.

    Notes
    -----
    Every map equals that of a fit by itself if the search is exact: lists of k neighbours are the beginnings of those
    of the largest number. An approximate search is made for the largest number, and may find more of the true
    neighbours than one for fewer would.

    Examples
    --------
    >>> from gramfold import Isomap
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import sweep
    >>> X = make_swiss_roll(1000, random_state=0).points
    >>> found = sweep(Isomap(), X, [7, 8, 9, 30])
    >>> found.searches
    1
    >>> [bool(moved > 0.1) for moved in found.moved]  # 30 neighbours make short circuits
    [False, False, True]
    """
    counts = _read_counts(n_neighbors)
    _require_neighborhood(model)
    _require_measures(measures)
    table = Table.of(model, X, y)
    stages, steps, before = Stages(verbose, "sweep", progress), [], None
    recall: float | None = None
    largest = max((count for count in counts if count < len(table)), default=counts[-1])  # that can be searched
    with shared_search(largest, optional=True) as search, stages("fits"):
        for count in stages.bar(counts, len(counts), "numbers of neighbors"):
            step, fitted = _fit(clone(model).set_params(n_neighbors=count), table)
            if fitted is not None:
                recall = fitted.neighbors_.recall
                step = replace(step, measures=_measured(measures, table.X, step))
                step = step if before is None else _turned(step, before)
                before = step
            steps.append(step)
    if before is None:
        # what all of them say is of the rows, not of the first number
        alike = len({step.failure for step in steps}) == 1
        first = "" if alike else f", the first (n_neighbors={counts[0]})"
        raise InputError(f"every fit failed{first} with: {steps[0].failure}")
    return Sweep(tuple(steps), search.searches + search.alone, recall)


def _fit(model: Any, table: Table) -> tuple[SweepStep, Any]:
    """A step and the model behind it, which is not kept; None where it failed."""
    told, step = Told(), SweepStep(model.n_neighbors)
    stages = Stages()
    try:
        with told.hearing(), stages("fit"):
            model.fit(table.X, table.y)
    except FAILS as error:
        return replace(step, failure=f"{type(error).__name__}: {error}", seconds=stages.seconds["fit"]), None
    inner = vars(model)["model_"]
    source: Any = inner.source
    graphs = source if isinstance(source, GraphSource) else source.members
    spectrum = model.spectrum_
    found = replace(
        step,
        fitted=coordinates(model.embedding_),
        components=int(components(graphs.components.net.whole()).max()) + 1,
        kept=int(model.kept_.sum()),
        spectrum=spectrum,
        residual=float(spectrum.residuals.max(initial=0.0)),
        warned=tuple(f"{name}: {text}" for name, text in told.examples.items()),
        seconds=stages.seconds["fit"],
    )
    return found, model


def _turned(step: SweepStep, before: SweepStep) -> SweepStep:
    """Onto the map before, by the rows that both have."""
    places, earlier = step.fitted, before.embedding
    assert places is not None
    assert earlier is not None
    both = np.flatnonzero(~np.isnan(places).any(axis=1) & ~np.isnan(earlier).any(axis=1))
    if len(both) <= places.shape[1]:
        return step
    try:
        alignment, _ = similarity(places, earlier, np.column_stack([both, both]))
    except InputError:  # one of them is a point, or they have nothing in common: there is no turn to speak of
        return replace(step, moved=1.0)
    return replace(step, alignment=alignment, moved=alignment.misfit)


def _measured(measures: Any, X: Any, step: SweepStep) -> dict[str, float]:
    found = {}
    for name, measure in (measures or {}).items():
        value = measure(X, step.fitted)
        try:
            found[str(name)] = float(value)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"measures[{name!r}] returned a {type(value).__name__}, which is no number: pass a function of X and "
                "the coordinates that returns one."
            ) from error
    return found


def _require_measures(measures: Any) -> None:
    if measures is None:
        return
    if not isinstance(measures, Mapping):
        raise InputError(
            f"measures is a {type(measures).__name__}: pass a dict of names and functions, such as "
            "{'trustworthiness': trustworthiness}."
        )
    for name, measure in measures.items():
        if not callable(measure):
            raise InputError(
                f"measures[{name!r}] is a {type(measure).__name__}, which is no function: pass one of X and the "
                "coordinates."
            )


def _read_counts(n_neighbors: Any) -> list[int]:
    given = list(n_neighbors) if isinstance(n_neighbors, Iterable) else [n_neighbors]
    for value in given:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            raise InputError(
                f"n_neighbors contains {value!r}, which is no number of neighbours: pass positive integers."
            )
    counts = sorted({int(value) for value in given})
    if len(counts) < 2:
        raise InputError(
            f"n_neighbors={n_neighbors!r} is fewer than two numbers, so there is nothing to compare: pass several."
        )
    return counts


def _require_neighborhood(model: Any) -> None:
    if not isinstance(model, Embedding) or not hasattr(model, "n_neighbors"):
        named = model.__name__ if isinstance(model, type) else type(model).__name__
        raise InputError(
            f"model is {named}, which has no map of n_neighbors: pass an estimator such as Isomap() (of a pipeline, "
            "its last step, with the rows that it is given)."
        )
    if getattr(model, "radius", None) is not None:
        raise InputError(f"radius={model.radius:g} defines the neighbours, not n_neighbors: leave radius at None.")
    if getattr(model, "weights", None) == "precomputed":
        raise InputError(
            "weights='precomputed' takes the graph from X, so n_neighbors has no effect: use other weights."
        )
    if not isinstance(getattr(model, "search", "auto"), str):
        raise InputError("search is a neighbours transformer, which has its own number of neighbours: name a search.")


def _categories(warned: tuple[str, ...]) -> list[str]:
    return [text.split(":", 1)[0] for text in warned]
