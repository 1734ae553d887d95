"""Bounds from a few columns: never broken, used only where they help; and the tree of near rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.neighbors.leading import Axes, cheapest_plan, equal_parts, halve, plan_without_bounds

U = float(np.finfo(np.float32).eps) / 2


def some_axes(rng, d, m):
    return Axes(np.linalg.qr(rng.standard_normal((d, m)))[0])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(2, 40), st.sampled_from([0.0, 1e-7, 1.0]), st.data())
def test_products_of_leading_columns_are_no_less_than_those_of_all(seed, n, d, off, data):
    """Also for rows that lie in the axes' plane, where nothing or only rounding is left."""
    rng = np.random.default_rng(seed)
    m = data.draw(st.integers(1, d))
    axes = some_axes(rng, d, m)
    rows = rng.standard_normal((n, m)) @ axes.directions.T + off * rng.standard_normal((n, d))
    rows = (rows * 10.0 ** rng.uniform(-6, 0, (n, 1))).astype(np.float32)
    lead = axes.lead(rows, 1).astype(float)
    wide = rows.astype(float)
    lengths = np.linalg.norm(wide, axis=1)
    excess = lead @ lead.T - wide @ wide.T
    assert (excess >= -2.1 * U * np.outer(lengths, lengths)).all()  # entries of the lead are rounded to float32
    lower = np.square(lead[:, None] - lead[None]).sum(axis=2)
    truth = np.square(wide[:, None] - wide[None]).sum(axis=2)
    assert (lower <= truth + 4 * U * (lengths[:, None] + lengths) ** 2).all()


def test_all_axes_bound_exactly():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 8)).astype(np.float32)
    lead = some_axes(rng, 8, 8).lead(rows, 1)
    np.testing.assert_allclose(lead @ lead.T, rows @ rows.T, atol=1e-5)


class TestPlan:
    def test_principal_axes_are_found_where_few_hold_the_rows(self):
        rng = np.random.default_rng(1)
        rows = rng.standard_normal((3_000, 6)) @ rng.standard_normal((6, 200)) * 0.1
        rows = (rows + 1e-3 * rng.standard_normal(rows.shape)).astype(np.float32)
        rows -= rows.mean(axis=0)
        found = cheapest_plan(rows, rows, 10)
        assert found.cost < 0.5 * plan_without_bounds(200).cost
        directions = found.axes.directions
        np.testing.assert_allclose(directions.T @ directions, np.eye(directions.shape[1]), atol=1e-13)
        leading = np.linalg.svd(rows.astype(float), full_matrices=False)[2][:6]
        np.testing.assert_allclose(np.linalg.norm(leading @ directions, axis=1), 1.0, atol=1e-3)

    @pytest.mark.parametrize("d", [20, 50, 200])
    def test_noise_needs_every_column(self, d):
        rows = np.random.default_rng(2).standard_normal((3_000, d)).astype(np.float32)
        assert cheapest_plan(rows, rows, 10) == plan_without_bounds(d)


class TestHalves:
    @pytest.mark.parametrize(("n", "largest"), [(1, 5), (5, 2), (100, 7), (1000, 300), (64, 4)])
    def test_parts_are_a_power_of_two_and_cover_everybody(self, n, largest):
        parts = equal_parts(n, largest)
        assert np.concatenate([np.arange(n)[part] for part in parts]).tolist() == list(range(n))
        sizes = [part.stop - part.start for part in parts]
        assert max(sizes) <= largest
        assert max(sizes) - min(sizes) <= 1
        assert len(parts).bit_count() == 1

    @pytest.mark.parametrize(("n", "largest"), [(1, 5), (5, 2), (300, 7), (1000, 100)])
    def test_each_row_finds_its_leaf(self, n, largest):
        rows = np.random.default_rng(n).standard_normal((n, 5)).astype(np.float32)
        tree = halve(rows, largest)
        assert sorted(tree.order) == list(range(n))
        for number, part in enumerate(tree.leaves):
            assert (tree.leaf(rows[tree.order[part]]) == number).all()

    def test_near_rows_share_a_leaf(self):
        rng = np.random.default_rng(3)
        centers = 100 * rng.standard_normal((8, 6))
        group = np.repeat(np.arange(8), 50)[rng.permutation(400)]
        tree = halve(centers[group] + rng.standard_normal((400, 6)), 50)
        assert all(len(set(group[tree.order[part]])) == 1 for part in tree.leaves)
