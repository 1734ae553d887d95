"""The pipeline that makes a map: what the table needs first, then the method, and a sentence for each decision."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline

from gramfold.advice.advising import Preparation, advice_for, preparation_for
from gramfold.advice.leave_out import LeaveOut
from gramfold.advice.plan import Advice, Item
from gramfold.advice.scaling import Scaling
from gramfold.advice.written import call_of
from gramfold.embedding import Estimator
from gramfold.embedding.mixed_rows import refuse_vectors
from gramfold.errors import InputError
from gramfold.methods.names import find_method
from gramfold.neighbors.metrics import reads_mixed
from gramfold.onecall.frames import Library

SCALES = ("auto", "standardise", "none")
_ASKED = {
    "standardise": Scaling("standardise", "it was asked for"),
    "none": Scaling("none", "it was asked for"),
}


@dataclass(frozen=True, eq=False)
class Plan:
    """A pipeline, not fitted, and what is said of it."""

    pipeline: Pipeline
    sentences: tuple[str, ...]
    prepared: bool  # whether the table is prepared; else the pipeline is the user's own

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


def plan_for(table: Any, asked: Request, aside: Mapping[Any, str]) -> Plan:
    """For a table whose columns in `aside` are no data, and why."""
    if isinstance(asked.method, str) and asked.method == "auto":
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
    advice: Advice = advice_for(table, None, asked.random_state, aside=aside, scaling=_ASKED.get(asked.scale))
    made = advice.estimator if isinstance(advice.estimator, Pipeline) else make_pipeline(advice.estimator)
    _set_components(made[-1], asked.n_components)
    first = f"method: {call_of(made[-1])}, chosen by gramfold.advise: {advice.method.reason}"
    return Plan(made, (first, *_decisions(advice)), prepared=True)


def _prepared(table: Any, model: Any, chosen: bool, asked: Request, aside: Mapping[Any, str]) -> Plan:
    """The steps of an advice before a method of the user's; `chosen`: its metric is still free."""
    known = model.get_params() if hasattr(model, "get_params") else {}
    metric = known.get("metric")
    free = chosen and "metric" not in asked.parameters
    if metric == "precomputed":
        return Plan(make_pipeline(model), (f"method: {call_of(model)}",), prepared=True)
    mixed = reads_mixed(metric) or (free and _may_be_mixed(model))
    found = preparation_for(
        table, type(model).__name__, asked.random_state, mixed=mixed, aside=aside, scaling=_ASKED.get(asked.scale)
    )
    steps = found.steps
    if free and "metric" in known and found.metric.value != "euclidean":
        model.set_params(metric=found.metric.value)
    elif reads_mixed(metric):  # which needs neither
        steps = tuple(step for step in steps if isinstance(step, LeaveOut))
    return Plan(make_pipeline(*steps, model), (f"method: {call_of(model)}", *_decisions(found)), prepared=True)


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
    if not hasattr(model, "fit_transform"):
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


def _may_be_mixed(model: Any) -> bool:
    """Whether a method can map rows by Gower's distance."""
    if not isinstance(model, Estimator) or "metric" not in model.get_params():
        return False
    try:
        refuse_vectors(model)
    except InputError:
        return False
    return True
