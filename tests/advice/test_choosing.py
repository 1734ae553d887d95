"""The method that is chosen for rows in partitions, where a graph costs much."""

from dataclasses import replace

import pytest

from gramfold.advice.choosing import choose
from gramfold.advice.trial import Shape
from gramfold.datasets import make_swiss_roll


def chosen(shape, **how):
    return choose(shape, 3_000_000, 3, "euclidean", **how).method


@pytest.fixture(scope="module")
def curved():
    """A roll, which every graph is far ahead of PCA on."""
    return Shape.of(make_swiss_roll(600, random_state=0).points, 3)


def test_a_clear_lead_over_the_linear_map_counts(curved):
    assert chosen(curved, in_partitions=True).value == chosen(curved).value == "Isomap"


@pytest.mark.parametrize(("lead", "method"), [(0.5, "PCA"), (1.5, "Isomap")])
def test_a_lead_that_is_noise_does_not(curved, lead, method):
    best, linear = curved.best, curved.linear
    noise = best.kept.noise(linear.kept)
    assert 0.005 < noise < 0.1
    level = replace(linear, score=best.score - lead * noise)
    shape = replace(curved, tried=(best, level))
    found = chosen(shape, in_partitions=True)
    assert found.value == method
    assert ("ahead by no more than noise" in found.reason) == (method == "PCA")
    # the choice in memory does not depend on it
    assert chosen(shape).value == chosen(replace(curved, tried=(best, replace(level, kept=best.kept)))).value
