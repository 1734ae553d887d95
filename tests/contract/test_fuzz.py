"""Trials at random find nothing but right results and clear sentences: 1,200 in `make test`, 20,000 with the slow."""

import warnings

import numpy as np
import pytest

from gramfold import PCA
from tests.contract.fuzz import Trial, draw, failures_of, run

BLOCKS = [
    *[range(first, first + 50) for first in range(0, 1_200, 50)],
    *[pytest.param(range(first, first + 400), marks=pytest.mark.slow) for first in range(1_200, 20_000, 400)],
]


@pytest.mark.parametrize("seeds", BLOCKS, ids=lambda seeds: f"{seeds.start}-{seeds.stop}")
def test_trials_hold(seeds):
    failures = [str(failure) for failure in failures_of(seeds)]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


def test_a_trial_is_its_seed():
    for seed in range(20):
        first, second = draw(seed), draw(seed)
        assert str(first) == str(second)


class Raw(PCA):
    def fit(self, X, y=None):
        raise np.linalg.LinAlgError("Singular matrix")


class Lost(PCA):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.embedding_[0] = np.nan
        return self


class Loud(PCA):
    def fit(self, X, y=None):
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        return super().fit(X, y)


class Greedy(PCA):
    def fit(self, X, y=None):
        super().fit(X, y)
        X[:] = 0
        return self


class Astray(PCA):
    def transform(self, X):
        return super().transform(X) + 1


BAD = {Raw: "LinAlgError", Lost: "not finite", Loud: "RuntimeWarning", Greedy: "changed", Astray: "do not return"}


@pytest.mark.parametrize("cls", BAD, ids=lambda cls: cls.__name__)
def test_what_is_wrong_is_found(cls):
    X = np.random.default_rng(0).standard_normal((14, 3))
    trial = Trial(0, cls, {}, "table", "gaussian", X[:10], X[10:])
    assert not run(Trial(0, PCA, {}, "table", "gaussian", X[:10], X[10:]))
    assert any(BAD[cls] in failure.cause for failure in run(trial))
