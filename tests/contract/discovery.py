"""Every exported estimator, found by itself, and the worked example of CONTRIBUTING.md beside them."""

import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from sklearn.base import BaseEstimator

import gramfold

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


def exported() -> list[type]:
    """Each estimator class in `gramfold.__all__`, aliases once."""
    values = [getattr(gramfold, name) for name in gramfold.__all__]
    classes = [value for value in values if isinstance(value, type) and issubclass(value, BaseEstimator)]
    return list(dict.fromkeys(classes))


@cache
def worked_example() -> type:
    """The class that CONTRIBUTING.md shows, run as it stands there."""
    (code,) = re.findall(r"```python\n(# src/gramfold/methods/.*?)```", CONTRIBUTING.read_text("utf8"), re.DOTALL)
    module = sys.modules["gramfold_worked_example"] = ModuleType("gramfold_worked_example")  # so that it pickles
    exec(compile(code, "CONTRIBUTING.md", "exec"), vars(module))
    (made,) = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    return made


def by_name(cls: type) -> str:
    return cls.__name__
