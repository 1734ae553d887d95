"""Maps for five numbers of neighbours from one neighbour search, beside five fits: `python -m benchmarks sweep`.

Both make the same maps. What is saved is the search, which is most of a fit where rows have many columns and the kernel
is sparse; where shortest paths take the time, little is.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.data import digits, usps
from benchmarks.timing import Race, race
from gramfold import LLE, LTSA, Isomap, LaplacianEigenmaps
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import sweep

_NUMBERS = (5, 8, 12, 20, 30)


def races() -> Iterator[Race]:
    """Real rows of many columns, and a roll of three."""
    tables: list[tuple[str, np.ndarray | None]] = [
        ("digits", digits(1797)),
        ("usps", usps(5000)),
        ("roll", make_swiss_roll(5000, random_state=0).points),
    ]
    for name, X in tables:
        if X is None:
            continue
        slow = LaplacianEigenmaps(metric="cityblock")
        for model in (LaplacianEigenmaps(), slow, LTSA(), LLE(), Isomap(landmarks=300)):
            yield _race(name, X, model)


def _race(name: str, X: np.ndarray, model: Any) -> Race:
    def one_by_one() -> list[np.ndarray]:
        return [clone(model).set_params(n_neighbors=k).fit(X).embedding_ for k in _NUMBERS]

    def together() -> list[np.ndarray | None]:
        return [step.fitted for step in sweep(model, X, _NUMBERS)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for own, shared in zip(one_by_one(), together(), strict=True):
            assert shared is not None
            assert np.nanmax(np.abs(own - shared)) <= 1e-10 * np.nanmax(np.abs(own))
        job = f"{name} {X.shape[0]:,} x {X.shape[1]}, {type(model).__name__} {model.metric}, k of 5 to 30"
        return race(job, together, one_by_one, target="the same maps")
