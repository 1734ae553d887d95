"""The pipeline that makes a map: what the table needs first, then the method, and a sentence for each decision."""

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline

from gramfold.advice.advising import Preparation, advice_for, preparation_for
from gramfold.advice.asked import Asked, Gaps
from gramfold.advice.leave_out import LeaveOut
from gramfold.advice.plan import Advice, Item
from gramfold.advice.scaling import Scaling
from gramfold.embedding import Estimator
from gramfold.embedding.mixed_rows import refuse_vectors
from gramfold.embedding.written import call_of
from gramfold.errors import InputError
from gramfold.methods.names import find_method
from gramfold.neighbors.loud import units_count
from gramfold.neighbors.metrics import reads_mixed
from gramfold.onecall.frames import Library

SCALES = ("auto", "standardise", "robust", "none")
_MIXED = {"metric": "gower"}
_ASKED = {scale: Scaling(scale, "it was asked for") for scale in SCALES if scale != "auto"}


@dataclass(frozen=True, eq=False)
class Plan:
    """A pipeline, not fitted, and what is said of it."""

    pipeline: Pipeline
    sentences: tuple[str, ...]
    prepared: bool  # whether the table is prepared; else the pipeline is the user's own
    guesses: tuple[str, ...] = ()  # on columns of numbers that are left out, which may be measurements all the same

    @property
    def left_out(self) -> tuple[Any, ...]:
        """Columns that the first step leaves out."""
        first = self.pipeline[0]
        return tuple(first.columns) if isinstance(first, LeaveOut) else ()


@dataclass(frozen=True)
class Request:
    """What the user asked for, beside the table."""

    method: Any
    parameters: Mapping[str, Any]
    n_components: int | None
    scale: str
    random_state: int
    gaps: Gaps | None = None  # how they are filled in; None: as suits the table
    insisted: Collection[Any] = ()  # columns that stay, whatever they look like
    maps: bool = True  # whether the method has to make a map; a clusterer makes none
    n_rows: int | None = None  # of which the table is a sample

    def of_table(self, aside: Mapping[Any, str]) -> Asked:
        """What is asked of the columns, some of which are no data."""
        return Asked(aside, self.insisted, _ASKED.get(self.scale), self.gaps, n_rows=self.n_rows)


def plan_for(table: Any, asked: Request, aside: Mapping[Any, str]) -> Plan:
    """For a table whose columns in `aside` are no data, and why."""
    if isinstance(asked.method, str) and asked.method == "auto":
        if asked.parameters != _MIXED:
            _refuse_parameters(asked, "method='auto' chooses the parameters")
        return _advised(table, asked, aside)
    if isinstance(asked.method, Pipeline):
        _refuse_parameters(asked, "method is a Pipeline that has its own parameters")
        if asked.scale != "auto":
            raise InputError(f"scale={asked.scale!r} was given with a Pipeline, which scales by itself: leave it out.")
        made = clone(asked.method)
        _set_components(made[-1], asked.n_components)
        return Plan(made, (f"method: {call_of(made[-1])}, in the pipeline that was given",), prepared=False)
    model, chosen = _model(asked)
    return _prepared(table, model, chosen, asked, aside)


def name_columns(plan: Plan, library: Library, frames: bool) -> None:
    """Let each step pass the names of columns on, so that every message has them."""
    if not plan.prepared:
        return
    *steps, last = [step for _, step in plan.pipeline.steps]
    for step in [*(steps if frames else ()), *([last] if isinstance(last, Estimator) else ())]:
        step.set_output(transform=library)


def _advised(table: Any, asked: Request, aside: Mapping[Any, str]) -> Plan:
    decided = replace(asked.of_table(aside), mixed=asked.parameters == _MIXED)
    advice: Advice = advice_for(table, None, asked.random_state, asked=decided)
    made = advice.estimator if isinstance(advice.estimator, Pipeline) else make_pipeline(advice.estimator)
    _set_components(made[-1], asked.n_components)
    first = f"method: {call_of(made[-1])}, chosen by gramfold.advise: {advice.method.reason}"
    return Plan(made, (first, *_decisions(advice)), True, advice.guesses)


def _prepared(table: Any, model: Any, chosen: bool, asked: Request, aside: Mapping[Any, str]) -> Plan:
    """The steps of an advice before a method of the user's; `chosen`: its metric is still free."""
    known = model.get_params() if hasattr(model, "get_params") else {}
    metric = known.get("metric")
    free = chosen and "metric" not in asked.parameters
    if metric == "precomputed":
        return Plan(make_pipeline(model), (f"method: {call_of(model)}",), prepared=True)
    mixed = reads_mixed(metric) or (free and _may_be_mixed(model))
    decided = replace(asked.of_table(aside), mixed=reads_mixed(metric))
    if asked.scale == "auto" and _keeps_units(model):
        decided = replace(decided, scaling=Scaling("none", f"{type(model).__name__} does not depend on units"))
    if asked.gaps is None and _reads_gaps(model):
        decided = replace(decided, gaps="keep")
    found = preparation_for(table, type(model).__name__, asked.random_state, mixed=mixed, asked=decided)
    steps = found.steps
    if free and "metric" in known and found.metric.value != "euclidean":
        model.set_params(metric=found.metric.value)
    elif reads_mixed(metric):  # which needs neither
        steps = tuple(step for step in steps if isinstance(step, LeaveOut))
    said = (f"method: {call_of(model)}", *_decisions(found))
    return Plan(make_pipeline(*steps, model), said, True, found.guesses)


def _decisions(found: Advice | Preparation) -> list[str]:
    told: list[tuple[str, Item]] = [
        ("left out", found.left_out),
        ("gaps", found.gaps),
        ("scaling", found.scaling),
        ("metric", found.metric),
    ]
    words = []
    for name, item in told:
        if item.value not in ((), "none", "euclidean"):
            words.append(f"{name}: {item.reason}" if name == "left out" else f"{name}: {item.value}: {item.reason}")
    return [*words, *(f"note: {note}" for note in found.notes)]


def _model(asked: Request) -> tuple[Any, bool]:
    """The method, not fitted, and whether it was given by name or class, with parameters that are free."""
    kind = find_method(asked.method) if isinstance(asked.method, str) else asked.method
    if isinstance(kind, type):
        known = inspect.signature(kind).parameters
        odd = [name for name in asked.parameters if name not in known]
        if odd:
            raise InputError(f"{kind.__name__} has no parameter {odd[0]!r}: use one of {', '.join(known)}.")
        own = {"n_components": asked.n_components, "random_state": asked.random_state}
        given = {name: value for name, value in own.items() if name in known and value is not None}
        model: Any = kind(**{**given, **asked.parameters})
        if "n_components" not in known:
            _set_components(model, asked.n_components)
    else:
        _refuse_parameters(asked, "method is an estimator that has its own parameters")
        model = clone(kind, safe=False)
        _set_components(model, asked.n_components)
    if asked.maps and not hasattr(model, "fit_transform"):
        raise InputError(
            f"method is a {type(model).__name__}, which makes no map: pass the name of a method, an estimator with "
            "fit_transform or a Pipeline."
        )
    return model, isinstance(kind, type)


def _set_components(model: Any, count: int | None) -> None:
    if count is None:
        return
    if not hasattr(model, "get_params") or "n_components" not in model.get_params():
        raise InputError(f"n_components={count} was given, but {type(model).__name__} has no such parameter.")
    model.set_params(n_components=count)


def _refuse_parameters(asked: Request, why: str) -> None:
    if asked.parameters:
        name = next(iter(asked.parameters))
        raise InputError(f"{name} was given, but {why}: name the method, as in embed(table, 'isomap', {name}=…).")


def _keeps_units(model: Any) -> bool:
    """Whether scaled columns would change nothing, or would not be those that matrices of the user's are of.

    The map of factor analysis is that of scaled columns too, but what judges it measures distances in the columns.
    """
    if not isinstance(model, Estimator) or units_count(model):
        return False
    matrices = ("signal_covariance", "noise_correlation")
    return not model.unit_free or any(getattr(model, name, None) is not None for name in matrices)


def _reads_gaps(model: Any) -> bool:
    """Whether a method of ours maps rows with gaps as they are."""
    return isinstance(model, Estimator) and bool(model.__sklearn_tags__().input_tags.allow_nan)


def _may_be_mixed(model: Any) -> bool:
    """Whether a method can map rows by Gower's distance."""
    if not isinstance(model, Estimator) or "metric" not in model.get_params():
        return False
    try:
        refuse_vectors(model)
    except InputError:
        return False
    return True
