"""Tables in partitions are judged by the rows that are drawn from them."""

import re

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import gramfold
from gramfold import PCA, Isomap
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import (
    Judged,
    differences,
    dimension,
    faults,
    loadings,
    measures,
    neighborhood_purity,
    stability,
    verdict,
)
from gramfold.errors import InputError

MANY = 24_000


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(MANY, random_state=0)


def in_parts(table, rows=5000):
    return da.from_array(table, chunks=(rows, table.shape[1]))


def test_measures_are_those_of_the_drawn_rows(roll):
    """The rows that were drawn, taken from the tables by hand, give the same numbers."""
    judged = Judged(in_parts(roll.points), in_parts(roll.truth, 7000))
    assert (len(judged.drawn), judged.n_all, judged.exact) == (10_000, MANY, False)
    by_hand = Judged(roll.points[judged.drawn], roll.truth[judged.drawn])
    assert {name: (one.value, one.interval) for name, one in measures(judged).items()} == {
        name: (one.value, one.interval) for name, one in measures(by_hand).items()
    }


def test_few_rows_are_all_looked_at(roll):
    X, Y = roll.points[:1000], roll.truth[:1000]
    judged = Judged(in_parts(X, 300), Y)  # a map in memory
    assert judged.exact
    np.testing.assert_array_equal(judged.drawn, np.arange(1000))
    assert faults(judged).strained.total == faults(X, Y).strained.total


def test_a_squashed_map_is_called_glued_and_rows_are_numbered_through_all_partitions(roll):
    squashed = roll.points[:, :2]
    found = verdict(in_parts(roll.points), in_parts(squashed))
    assert found.faults == ("glued",)
    assert "among 10,000 of 24,000 rows" in str(found)
    named = [int(word) for word in re.search(r"such as rows ([\d, ]+)", str(found))[1].split(",")]
    judged = Judged(in_parts(roll.points), in_parts(squashed))
    assert np.isin(named, judged.drawn).all()
    assert max(named) >= 10_000  # of the sample there are no such numbers


def test_labels_of_all_rows_or_of_those_drawn(roll):
    judged = Judged(in_parts(roll.points), in_parts(roll.truth))
    labels = np.where(roll.truth[:, 0] > np.median(roll.truth[:, 0]), "far", "near")
    assert neighborhood_purity(judged, labels=labels).value > 0.95
    assert (
        neighborhood_purity(judged, labels=labels).value
        == neighborhood_purity(judged, labels=labels[judged.drawn]).value
    )


def test_dimension_and_loadings_of_a_dataframe(roll):
    frame = dd.from_pandas(pd.DataFrame(roll.points, columns=["x", "height", "z"]), npartitions=5)
    assert round(dimension(frame).value) == 2
    found = loadings(frame, in_parts(roll.truth))
    assert found.names == ("x", "height", "z")
    assert "height" in str(found).splitlines()[-1]


def test_a_model_of_partitions_is_judged_by_the_rows_that_it_holds(roll, tmp_path):
    model = PCA().fit(in_parts(roll.points))
    judged = Judged(model)
    np.testing.assert_array_equal(judged.drawn, model.sample_)
    assert judged.n_all == MANY
    assert "among 10,000 of 24,000 rows" in str(model.verdict())
    assert "24,000 rows of 3 columns in partitions, 10,000 of them held" in str(model.summary())
    page = model.report(tmp_path / "map.html", dimension=False).read_text("utf8")
    assert "fitted to 24,000 rows in partitions" in page


def test_a_map_of_other_rows_is_refused(roll):
    with pytest.raises(InputError, match=r"X has 24,000 rows and Y has 23,999"):
        Judged(in_parts(roll.points), roll.truth[1:])
    with pytest.raises(InputError, match="holds the rows it was fitted on"):
        verdict(PCA().fit(roll.points[:100]), in_parts(roll.truth))


@pytest.mark.parametrize(
    "call",
    [
        lambda X: gramfold.compare(X, ["pca", "isomap"]),
        gramfold.advise,
        gramfold.embed,
        lambda X: differences(X, np.arange(5)),
        lambda X: stability(Isomap(), X),
        lambda X: PCA().fit(np.eye(3)).sensitivity(X),
    ],
)
def test_what_reads_tables_in_memory_gathers_nothing_unasked(roll, call):
    def untouchable(block):
        raise AssertionError("a partition was computed")

    rows = in_parts(roll.points).map_blocks(untouchable, meta=np.empty((0, 3)))
    with pytest.raises(InputError, match=r"is a Dask collection.*compute\(\)"):
        call(rows)


def test_rows_drawn_together_belong_together(roll):
    """The map is a rotation of the rows, so that the drawn pairs can be compared."""
    turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))
    judged = Judged(in_parts(roll.points), in_parts(roll.points @ turn, 900))
    some = judged.rows[:50]
    np.testing.assert_allclose(judged.map.distances(some), judged.data.distances(some), atol=1e-9)
