"""Cells of a map: where they lie, in words that a reader can check."""

import numpy as np
import pytest

from gramfold.diagnostics.map_regions import Cells

WORDS = {
    (-1, -1): "lower left",
    (0, -1): "bottom",
    (1, -1): "lower right",
    (-1, 0): "left",
    (0, 0): "centre",
    (1, 0): "right",
    (-1, 1): "upper left",
    (0, 1): "top",
    (1, 1): "upper right",
}


def islands(places, rows=100):
    rng = np.random.default_rng(0)
    centers = np.repeat(np.array(places, dtype=float), rows, axis=0)
    return centers + 0.05 * rng.normal(size=centers.shape)


def test_nine_islands_have_nine_words():
    places = islands(list(WORDS))
    cells = Cells.of(places, 3, 0)
    said = [cells.words[cell] for cell in cells.cell]
    truth = np.repeat(list(WORDS.values()), 100)
    assert np.mean(np.array(said) == truth) > 0.99


def test_one_axis_has_left_and_right():
    cells = Cells.of(islands([[-1], [0], [1]]), 3, 0)
    assert set(cells.words) == {"left", "centre", "right"}


@pytest.mark.parametrize(
    ("rows", "columns", "cells"), [(59, 3, 1), (100, 3, 1), (600, 3, 10), (600, 100, 3), (9000, 3, 12)]
)
def test_cells_have_rows_enough(rows, columns, cells):
    found = Cells.of(np.random.default_rng(0).random((rows, 2)), columns, 0)
    sizes = np.bincount(found.cell)
    assert len(found.words) == len(sizes) <= cells
    assert sizes.min() >= min(rows, 20)
    if cells == 1:
        assert found.words == ("everywhere",)


def test_a_few_outliers_are_no_cell_and_move_no_words():
    places = np.vstack([islands(list(WORDS)), [[1e3, 1e3], [-1e3, 0.0]]])
    cells = Cells.of(places, 3, 0)
    assert np.bincount(cells.cell).min() >= 20
    assert len(set(cells.words)) >= 3


def test_all_rows_at_one_place():
    cells = Cells.of(np.zeros((300, 2)), 3, 0)
    assert cells.words == ("everywhere",)
