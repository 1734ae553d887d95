"""An estimator as the Python code that makes it."""

import inspect
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

_TOLD = ("n_components", "n_neighbors")  # of a method, also where they are the defaults
_OF_A_SESSION = ("verbose", "progress")  # they change nothing of a model
_MOST_VALUES = 20  # of an array that is written in full


def written(estimator: Any, *, supervised: bool = False) -> str:
    """Imports, the estimator, and its fit to a table X (and classes y)."""
    steps = steps_of(estimator)
    homes: dict[str, set[str]] = {}
    for step in steps:
        homes.setdefault(_home(type(step)), set()).add(type(step).__name__)
        for name in _of_pandas(step):
            homes.setdefault("pandas", set()).add(name)
    made = [call_of(step) for step in steps]
    first = ["import datetime"] if any("datetime." in one for one in made) else []
    first += ["import numpy as np"] if any("np." in one for one in made) else []
    if len(steps) > 1:
        homes.setdefault("sklearn.pipeline", set()).add("make_pipeline")
        whole = "make_pipeline(\n" + "".join(f"    {one},\n" for one in made) + ")"
    else:
        whole = made[0]
    imports = [f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(homes.items())]
    given = "X, y" if supervised else "X"
    return "\n".join([*first, *imports, "", f"model = {whole}", f"embedding = model.fit_transform({given})", ""])


def steps_of(estimator: Any) -> list[Any]:
    """The estimators of a pipeline, those of pipelines within it too, without steps that change nothing."""
    if isinstance(estimator, Pipeline):
        return [one for _, step in estimator.steps for one in steps_of(step)]
    return [] if estimator is None or isinstance(estimator, str) else [estimator]


def _home(kind: type) -> str:
    """The module that users import a class from."""
    if kind.__module__.startswith("gramfold.methods."):
        return "gramfold"
    if kind.__module__.startswith("gramfold."):
        return ".".join(kind.__module__.split(".")[:2])
    return kind.__module__.split("._")[0]


def _of_pandas(step: Any) -> set[str]:
    """Types of pandas, such as Timestamp, that name columns among the parameters of a step."""
    columns = getattr(step, "columns", None)
    columns = columns if isinstance(columns, list | tuple) else ()
    names = [part for one in columns for part in (one if isinstance(one, tuple) else (one,))]
    return {type(name).__name__ for name in names if type(name).__module__.split(".")[0] == "pandas"}


def call_of(step: Any) -> str:
    """The call that makes one estimator; of one that does not tell its parameters, its class."""
    try:
        defaults = {name: one.default for name, one in inspect.signature(type(step)).parameters.items()}
        params = step.get_params(deep=False)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return f"{type(step).__name__}(...)"
    told = _TOLD if _home(type(step)) == "gramfold" and params.get("graph") != "classes" else ()
    changed = [
        (name, params[name])
        for name, default in defaults.items()
        if name in params and name not in _OF_A_SESSION and (name in told or not _same(params[name], default))
    ]
    return f"{type(step).__name__}({', '.join(f'{name}={_value(value)}' for name, value in changed)})"


def _same(value: Any, default: Any) -> bool:
    if value is default or type(value) is not type(default):
        return value is default
    try:
        return bool(value == default)
    except (TypeError, ValueError):  # of arrays, or of what holds them
        return False


def _value(value: Any) -> str:
    if isinstance(value, np.ufunc):
        return f"np.{value.__name__}"
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})" if value.size <= _MOST_VALUES else "np.array(...)"
    return repr(value)
