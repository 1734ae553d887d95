"""A seed decides everything; noise is added to the truth and does not change it."""

from collections.abc import Callable
from inspect import signature
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
UNSEEDED = {"random_state": None}


def values(made: Any) -> np.ndarray:
    if isinstance(made, datasets.RandomGraph):
        return made.graph.toarray()
    return made.points if isinstance(made, datasets.Sample) else made


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
    datasets.make_torus(30, random_state=None)
    after = np.random.get_state(legacy=False)["state"]  # noqa: NPY002
    assert np.array_equal(key, after["key"])
    assert position == after["pos"]


@pytest.mark.parametrize("name", [name for name in datasets.__all__ if name.startswith("make_")])
def test_the_same_call_gives_the_same_data(name: str) -> None:
    make = getattr(datasets, name)
    if "random_state" not in signature(make).parameters:
        assert make is datasets.make_teapots  # nothing is random
        return
    assert signature(make).parameters["random_state"].default == 0
    first, again, seeded, other = (values(make(30, **given)) for given in ({}, {}, {"random_state": 0}, UNSEEDED))
    assert np.array_equal(first, again)
    assert np.array_equal(first, seeded)
    assert not np.array_equal(first, other)


def test_the_same_distortion_gives_the_same_noise() -> None:
    clips = datasets.make_audio_clips(2, seconds=0.1)
    first, again, seeded, other = (
        datasets.distort_audio(clips, noise=0.1, **given) for given in ({}, {}, {"random_state": 0}, UNSEEDED)
    )
    assert np.array_equal(first, again)
    assert np.array_equal(first, seeded)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("make", NOISY)
def test_noise_has_its_level_and_spares_the_truth(make: Callable[..., Any]) -> None:
    clean, noisy = (make(4000, noise=noise, random_state=1) for noise in (0.0, 0.3))
    assert np.array_equal(clean.truth, noisy.truth)
    error = noisy.points - clean.points
    # the standard deviation of 12000 normal numbers is known to 0.65%, the mean to 0.003: four of each
    assert error.std() == pytest.approx(0.3, rel=0.026)
    assert abs(error.mean()) < 0.011
    assert np.abs(np.corrcoef(error.T) - np.eye(3)).max() < 0.065
