"""An estimator as the Python code that makes it."""

import inspect
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

_TOLD = ("n_components", "n_neighbors")  # of a method, also where they are the defaults
_OF_A_SESSION = ("verbose", "progress")  # they change nothing of a model


def written(estimator: Any, *, supervised: bool = False) -> str:
    """Imports, the estimator, and its fit to a table X (and classes y)."""
    steps = [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
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


def _home(kind: type) -> str:
    """The module that users import a class from."""
    if kind.__module__.startswith("gramfold.methods."):
        return "gramfold"
    if kind.__module__.startswith("gramfold."):
        return ".".join(kind.__module__.split(".")[:2])
    return kind.__module__.split("._")[0]


def _of_pandas(step: Any) -> set[str]:
    """Types of pandas, such as Timestamp, that name columns among the parameters of a step."""
    columns = getattr(step, "columns", ())
    names = [part for one in columns for part in (one if isinstance(one, tuple) else (one,))]
    return {type(name).__name__ for name in names if type(name).__module__.split(".")[0] == "pandas"}


def call_of(step: Any) -> str:
    """The call that makes one estimator."""
    defaults = {name: one.default for name, one in inspect.signature(type(step)).parameters.items()}
    params = step.get_params(deep=False)
    told = _TOLD if _home(type(step)) == "gramfold" and params.get("graph") != "classes" else ()
    changed = [
        (name, params[name])
        for name, default in defaults.items()
        if name in params and name not in _OF_A_SESSION and (name in told or not _same(params[name], default))
    ]
    return f"{type(step).__name__}({', '.join(f'{name}={_value(value)}' for name, value in changed)})"


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _value(value: Any) -> str:
    return f"np.{value.__name__}" if isinstance(value, np.ufunc) else repr(value)
