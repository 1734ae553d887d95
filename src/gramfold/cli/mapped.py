"""From INPUT to a map: a table is prepared by the plan of `gramfold.embed`, a matrix of pairs is taken as it is."""

import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gramfold.cli.aligned import aligned_account, read_old_map
from gramfold.cli.beside import account_of, check_use, read_beside
from gramfold.cli.explained import check_explained
from gramfold.cli.options import chosen_parameters, read_matrix
from gramfold.cli.row_weights import account_of_weights, check_weighed, read_weighed
from gramfold.cli.wishes import AUTO, Wishes
from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.io import Columns, Table


@dataclass(frozen=True, eq=False)
class Ready:
    """Rows that a method can be fitted to."""

    pipeline: Any  # whose last step is the method
    rows: Any  # (m, d) as the method sees them
    table: "Table"  # as they were measured
    sentences: tuple[str, ...]  # what was decided, and why
    weights: Any  # of the rows, (m,) or None
    known: Any = None  # (n,) which rows of INPUT these are; None: all


@dataclass(frozen=True, eq=False)
class Mapped:
    """A map, and the rows it was made of."""

    ready: Ready
    model: Any  # fitted
    aligned: Any  # the same in the frame of an earlier map
    coordinates: Any  # (m, p) of the rows that were mapped
    places: Any  # (n, p) of all rows of INPUT, aligned
    seconds: float
    used: tuple[str, ...]  # lines on what was given beside the rows
    fit: tuple[str, ...]  # line on the alignment

    @property
    def names(self) -> list[str]:
        """Of the columns that the method saw; none where it saw others."""
        names = self.ready.table.names
        return names if self.ready.rows.shape[1] == len(names) else []

    @property
    def could_scale(self) -> bool:
        """Whether --scale applies."""
        return bool(self.ready.table.names) and len(self.ready.pipeline) > 1

    @property
    def seen(self) -> "Table":
        """The rows as the method saw them, with the names of their columns."""
        return replace(self.ready.table, values=self.ready.rows)


def make_ready(wishes: Wishes, method: Any, found: "Columns | None") -> Ready:
    """INPUT for a method or the one of a name, or for one that is advised; a sparse matrix has no columns."""
    kind = method
    model, parameters = None, {}
    if kind != AUTO:
        from gramfold.methods.names import find_method

        kind = find_method(method) if isinstance(method, str) else method
        given = {**wishes.parameters, "dim": wishes.dim}
        parameters = chosen_parameters(kind, given, wishes.settings, wishes.seed, wishes.silent)
        model = kind(**parameters)
        check_use(model, wishes.labels, wishes.distorted, wishes.squares)
        check_weighed(model, wishes.weight)
        check_explained(model, wishes.explain)
    pairs = model is not None and "precomputed" in (
        str(model.get_params().get(one)) for one in ("metric", "kernel", "weights")
    )
    if found is None or pairs or (model is None and _all_distances(found)):
        wishes.preparing.refuse(wishes.source)
        return _advised_as_it_is(wishes, found) if model is None else _as_it_is(wishes, model, found)
    return _prepared(wishes, kind, parameters, found)


def _all_distances(found: "Columns") -> bool:
    """Whether a table is square, of numbers, and a matrix of distances."""
    width = len(found.names) - len(found.aside)
    if found.n_rows != width or any(found.kind(j) != "number" for j in range(width)):
        return False
    from gramfold.advice.looks import is_distances

    return is_distances(found.numbers())


def _as_it_is(wishes: Wishes, model: Any, found: "Columns | None") -> Ready:
    """A sparse matrix, or one of distances, kernel values or edge weights."""
    from sklearn.pipeline import make_pipeline

    aside = set() if found is None else set(found.aside)
    named = [one for one in (wishes.color, wishes.label, wishes.ids) if one is not None and one not in aside]
    skip = [*(wishes.skip or []), *(named if wishes.columns is None else [])] or None
    table, weights = read_weighed(
        wishes.source, model, wishes.written, wishes.columns, skip, wishes.labels, wishes.weight
    )
    return Ready(make_pipeline(model), table.values, table, (), weights)


def _advised_as_it_is(wishes: Wishes, found: "Columns | None") -> Ready:
    """The same by a method that is advised: rows of a sparse matrix, or distances."""
    from gramfold.io import read_table
    from gramfold.onecall.pipelines import Request, plan_for

    table = read_matrix(wishes.source) if found is None else read_table(wishes.source, **wishes.written)
    plan = plan_for(table.values, Request(AUTO, {}, wishes.dimensions(), "auto", wishes.seed), {})
    rows = table.values
    for _, step in plan.pipeline.steps[:-1]:
        rows = step.fit_transform(rows)
    return Ready(plan.pipeline, rows, table, plan.sentences, None)


def _prepared(wishes: Wishes, kind: Any, parameters: dict[str, Any], found: "Columns") -> Ready:
    """A table of columns: some are left out, the others filled in and scaled."""
    from gramfold.cli.prepared import prepare
    from gramfold.cli.table_columns import classes_of
    from gramfold.io import Table
    from gramfold.runtime.progress import Stages

    classes, weights = classes_of(found, wishes.labels), _weights(wishes, found)
    dim = wishes.dimensions() if kind == AUTO else None
    maps = kind == AUTO or hasattr(kind, "fit_transform")
    stages = Stages(not wishes.silent and sys.stderr is not None and sys.stderr.isatty(), "embed")
    with stages("columns"):
        made = prepare(found, wishes.not_data, kind, parameters, dim, wishes.preparing, maps=maps)
    if kind == AUTO:
        check_explained(made.model, wishes.explain)
        if stages.verbose and "verbose" in made.model.get_params():
            made.model.set_params(verbose=1)
    classes = None if classes is None else classes[made.known]
    table = Table(made.raw, made.names, wishes.source, classes, found.reading)
    weights = None if weights is None else weights[made.known]
    known = None if made.known.all() else made.known
    return Ready(made.pipeline, made.rows, table, tuple(made.sentences), weights, known)


def _weights(wishes: Wishes, found: "Columns") -> Any:
    weight = wishes.weight
    if weight is None:
        return None
    if weight == wishes.labels:
        raise InputError(f"column '{weight}' cannot be both --labels and --sample-weight: name two columns.")
    if wishes.columns is not None and weight in wishes.columns:
        raise InputError(f"column '{weight}' holds weights and is not data: leave it out of --columns.")
    return found.numbers([weight])[:, 0]


def fit(wishes: Wishes, ready: Ready) -> Mapped:
    """Fit the method, and align the map."""
    import numpy as np

    from gramfold.cli.trust import scales_told_by_name

    model = ready.pipeline[-1]
    beside = read_beside(ready.table, wishes.distorted, wishes.written, wishes.squares)
    missing = model.__sklearn_tags__().input_tags.allow_nan
    old = read_old_map(wishes, ready, missing)
    given = {} if ready.weights is None else {"sample_weight": ready.weights}
    started = time.perf_counter()
    with scales_told_by_name():
        coordinates = model.fit_transform(ready.rows, **beside, **given)
    seconds = time.perf_counter() - started
    aligned = model if old is None else old.align(model)
    places = aligned.embedding_
    if ready.known is not None:
        places = np.full((len(ready.known), coordinates.shape[1]), np.nan)
        places[ready.known] = aligned.embedding_
    used = (
        *account_of(ready.table, wishes.labels, wishes.distorted, beside),
        *account_of_weights(ready.weights, wishes.weight),
    )
    return Mapped(ready, model, aligned, coordinates, places, seconds, used, tuple(aligned_account(old, aligned)))
