"""Every exported estimator, with rows that suit it."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import gramfold
from gramfold.datasets import make_swiss_roll


def names() -> list[str]:
    """Each estimator of `gramfold.__all__`, aliases once."""
    classes = [getattr(gramfold, name) for name in gramfold.__all__]
    estimators = [cls for cls in classes if isinstance(cls, type) and issubclass(cls, BaseEstimator)]
    return sorted({cls.__name__ for cls in estimators})


def prepared(name: str, n: int) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """The estimator, n rows and the keywords of its `fit`: a swiss roll, or what its page shows."""
    make = getattr(gramfold, name)
    if name not in ("OrientedPCA", "DistortionDiscriminantAnalysis"):
        return make(), make_swiss_roll(n, random_state=0).points, {}
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 40)) @ rng.standard_normal((40, 40))
    options = {"layers": [(4, 4, 2)]} if name == "DistortionDiscriminantAnalysis" else {}
    return make(**options), X, {"X_distorted": X + rng.standard_normal((3, n, 40))}
