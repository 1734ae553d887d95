"""Every exported estimator, found by itself, and the worked example of CONTRIBUTING.md beside them."""

import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

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


def unfit_for_weights(estimator: BaseEstimator) -> dict[str, str]:
    """Checks of scikit-learn on sample_weight that this class fails, and why; test_sample_weight.py mends them."""
    if not has_fit_parameter(estimator, "sample_weight"):
        return {}
    zero, few = "weights of 0 are refused: a row without weight has no place", "four distinct rows have no 8 neighbours"
    found = {f"check_sample_weight_equivalence_on_{rows}_data": zero for rows in ("dense", "sparse")}
    if isinstance(getattr(estimator, "n_neighbors", None), int):  # not one that is chosen
        found |= {f"check_sample_weights_{what}": few for what in ("shape", "not_overwritten")}
    return found
