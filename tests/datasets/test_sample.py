"""The pair that every data set returns."""

import dataclasses

import numpy as np
import pytest

from gramfold.datasets import Sample


def test_unpacks_as_points_and_truth() -> None:
    points, truth = np.eye(3), np.arange(3.0)[:, None]
    first, second = Sample(points, truth)
    assert first is points
    assert second is truth


def test_cannot_be_changed() -> None:
    sample = Sample(np.eye(3), np.arange(3.0)[:, None])
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample.points = np.zeros((3, 3))  # type: ignore[misc]
