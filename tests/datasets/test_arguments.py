"""Refusals name the argument, what was found, and what to give instead."""

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
SIZED = [*NOISY, datasets.make_gaussian_clusters, datasets.make_teapots]


@pytest.mark.parametrize("make", SIZED)
@pytest.mark.parametrize("bad", [0, -3, 2.5, "ten"])
def test_number_of_samples(make: Callable[..., Any], bad: object) -> None:
    with pytest.raises(ValueError, match=r"n_samples=.* give an integer of at least 1\.$"):
        make(bad)


@pytest.mark.parametrize("make", NOISY)
@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf, "loud"])
def test_noise(make: Callable[..., Any], bad: object) -> None:
    with pytest.raises(ValueError, match=r"noise=.*; give .*\.$"):
        make(10, noise=bad)


@pytest.mark.parametrize("make", [*NOISY, datasets.make_gaussian_clusters, datasets.make_random_graph])
@pytest.mark.parametrize("bad", [-1, 0.5, "seed"])
def test_random_state(make: Callable[..., Any], bad: object) -> None:
    with pytest.raises(ValueError, match=r"random_state=.* a RandomState or a Generator\.$"):
        make(10, random_state=bad)


@pytest.mark.parametrize(
    ("make", "arguments", "sentence"),
    [
        (datasets.make_swiss_roll, {"length": 0.0}, "length=0.0 is not positive; give a number above 0"),
        (datasets.make_swiss_roll, {"height": -1.0}, "height=-1.0 is not positive"),
        (datasets.make_swiss_roll, {"extra_dimensions": -1}, "extra_dimensions=-1 is too small"),
        (datasets.make_swiss_roll, {"extra_noise": -1.0}, "extra_noise=-1.0 is negative"),
        (datasets.make_s_curve, {"height": 0.0}, "height=0.0 is not positive"),
        (datasets.make_twin_peaks, {"peak": -1.0}, "peak=-1.0 is negative"),
        (datasets.make_severed_sphere, {"polar_gap": 2.0}, r"polar_gap=2.0 is outside \[0, 1.5708\)"),
        (datasets.make_severed_sphere, {"slice_gap": 7.0}, r"slice_gap=7.0 is outside \[0, 6.28319\)"),
        (datasets.make_punctured_sphere, {"cap": 0.0}, r"cap=0.0 is outside \(0, 3.14159\)"),
        (datasets.make_punctured_sphere, {"sampling": "even"}, 'choose "area" or "plane"'),
        (datasets.make_helix, {"turns": 0}, "turns=0 is too small"),
        (datasets.make_torus, {"minor_radius": 3.0}, "minor_radius=3 exceeds major_radius=2"),
        (datasets.make_gaussian_clusters, {"n_clusters": 20}, "n_samples=10 is less than n_clusters=20"),
        (datasets.make_gaussian_clusters, {"spread": [1.0, 2.0]}, "spread has 2 entries but there are 3"),
        (datasets.make_gaussian_clusters, {"separation": 0.0}, "separation=0.0 is not positive"),
        (datasets.make_random_graph, {"kind": "ring"}, "kind='ring' is not a known kind of graph"),
        (datasets.make_random_graph, {"mean_degree": 10.0}, "needs 10 edges at a vertex that has only 9 possible ones"),
        (datasets.make_random_graph, {"kind": "planted", "mixing": 1.5}, r"mixing=1.5 is outside \[0, 1\]"),
        (datasets.make_random_graph, {"kind": "planted", "n_communities": 11}, "some communities would be empty"),
        (datasets.make_random_graph, {"kind": "erdos_renyi", "lengths": (2.0, 1.0)}, "is in descending order"),
        (datasets.make_random_graph, {"kind": "erdos_renyi", "lengths": (0.0, 1.0)}, "number above 0"),
        (datasets.make_random_graph, {"kind": "erdos_renyi", "lengths": 1.0}, "is not a pair"),
        (datasets.make_teapots, {"degrees": 0.0}, r"degrees=0.0 is outside \(0, 360\]"),
        (datasets.make_teapots, {"degrees": 361.0}, r"degrees=361.0 is outside \(0, 360\]"),
        (datasets.make_teapots, {"image_shape": (0, 10)}, "image_shape=0 is too small"),
        (datasets.make_teapots, {"image_shape": (76, 101, 3)}, "is not a pair"),
    ],
)
def test_one_sentence(make: Callable[..., Any], arguments: dict[str, Any], sentence: str) -> None:
    if make is datasets.make_random_graph:
        arguments = {"mean_degree": 2.0} | arguments
    with pytest.raises(ValueError, match=sentence) as refusal:
        make(10, **arguments)
    assert str(refusal.value).endswith(".")
