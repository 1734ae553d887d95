"""A seed decides everything; noise is added to the truth and does not change it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gramfold import datasets

NOISY = [
    datasets.make_swiss_roll,
    datasets.make_s_curve,
    datasets.make_twin_peaks,
    datasets.make_severed_sphere,
    datasets.make_punctured_sphere,
    datasets.make_helix,
    datasets.make_torus,
]


@pytest.mark.parametrize("make", [*NOISY, datasets.make_gaussian_clusters])
@pytest.mark.parametrize("source", [int, np.random.RandomState, np.random.default_rng])
def test_a_seed_repeats(make: Callable[..., Any], source: Callable[[int], Any]) -> None:
    first, again, other = (make(30, random_state=source(seed)) for seed in (5, 5, 6))
    assert np.array_equal(first.points, again.points)
    assert np.array_equal(first.truth, again.truth)
    assert not np.any(np.all(first.points == other.points, axis=1))


@pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
def test_an_object_moves_on(source: Callable[[int], Any]) -> None:
    shared = source(0)
    first, second = (datasets.make_torus(30, random_state=shared).points for _ in range(2))
    assert not np.any(first == second)


def test_the_global_state_is_left_alone() -> None:
    before = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    key, position = before["key"].copy(), before["pos"]
    datasets.make_torus(30)
    after = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    assert np.array_equal(key, after["key"])
    assert position == after["pos"]


@pytest.mark.parametrize("make", NOISY)
def test_noise_has_its_level_and_spares_the_truth(make: Callable[..., Any]) -> None:
    clean, noisy = (make(4000, noise=noise, random_state=1) for noise in (0.0, 0.3))
    assert np.array_equal(clean.truth, noisy.truth)
    error = noisy.points - clean.points
    # the standard deviation of 12000 normal numbers is known to 0.65%, the mean to 0.003: four of each
    assert error.std() == pytest.approx(0.3, rel=0.026)
    assert abs(error.mean()) < 0.011
    assert np.abs(np.corrcoef(error.T) - np.eye(3)).max() < 0.065
