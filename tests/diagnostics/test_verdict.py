"""The verdict in words: what it says of maps whose faults are known, and on tables of every kind."""

import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

import gramfold
from gramfold import PCA, Isomap
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import Judged, faults, verdict
from gramfold.diagnostics.next_step import next_step
from gramfold.diagnostics.plain_words import undecided, verdict_of
from gramfold.diagnostics.shapes.shape import Shape
from gramfold.errors import InputError, PrecomputedInputError

ROLL = make_swiss_roll(700, random_state=0)


def random(seed=0):
    return np.random.default_rng(seed)


def said_about(found, word):
    return next(one for one in found.sentences if word in one.text)


def test_a_fault_that_the_rows_drawn_do_not_decide_is_named_as_not_certain():
    judged = Judged(ROLL.points, ROLL.points[:, [0, 2]])
    found = faults(judged)
    name = found.named[0]
    fault = getattr(found, name)
    between = replace(fault, interval=(np.float64(fault.threshold), np.float64(fault.total)))
    assert ", which is not certain)" in str(verdict_of(judged, None, replace(found, **{name: between}), None))


def test_a_good_map():
    found = verdict(ROLL.points, ROLL.truth)
    assert (found.kind, found.faults) == ("sheet", ())
    assert found.sentences[0].test == "gaps around rows"
    assert said_about(found, "keeps").number == pytest.approx(faults(ROLL.points, ROLL.truth).kept.value)
    assert "sweep" in found.sentences[-1].text
    assert repr(found) == "Verdict(sheet, clear; faults: none)"


def test_faults_are_those_of_faults():
    places = ROLL.truth - ROLL.truth.mean(axis=0)
    torn = np.where(places[:, :1] < 0, places + [-300.0, 0.0], places)
    found = verdict(ROLL.points, torn)
    assert found.faults == tuple(faults(ROLL.points, torn).named) == ("torn",)
    assert "neighbours in the data were put far apart" in str(found)
    assert said_about(found, "torn").test == "torn"
    assert "neither cuts nor folds a sheet" in found.sentences[-1].text


@pytest.mark.parametrize(("side", "name"), [((-1, -1), "lower left"), ((1, 1), "upper right"), ((1, 0), "right")])
def test_the_region_is_named(side, name):
    places = ROLL.truth.copy()
    low, high = np.quantile(places, [1 / 3, 2 / 3], axis=0)
    there = np.ones(len(places), dtype=bool)
    for axis, sign in enumerate(side):
        there &= (places[:, axis] < low[axis]) if sign < 0 else (places[:, axis] > high[axis]) if sign else True
    rows = np.flatnonzero(there)
    places[rows] = places[random(1).permutation(rows)]
    said = said_about(verdict(ROLL.points, places), "Do not trust")
    assert f"mostly in its {name} part" in said.text
    assert said.number == pytest.approx(len(rows) / len(places), abs=0.05)


def test_at_most_five_sentences_each_with_its_test():
    for Y in (ROLL.truth, random().random((700, 2)), ROLL.points[:, :1]):
        found = verdict(ROLL.points, Y)
        assert 3 <= len(found.sentences) <= 5
        assert str(found) == " ".join(one.text for one in found.sentences)
        assert all(one.text.endswith(".") and one.test for one in found.sentences)
        assert found.kind == "sheet"  # whatever the map is
        for one in found.sentences:
            assert one.text.split()[0] in found._repr_html_()


def test_a_sphere_is_told_to_need_three_dimensions():
    points = random(1).standard_normal((600, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    found = verdict(PCA(2).fit(points))
    assert found.kind == "sphere"
    assert "n_components=3" in found.sentences[-1].text
    assert "It is the map of PCA, against which faults are measured" in str(found)
    assert "17% of the neighbours on it are strangers (glued)" in str(found)
    near = PCA(2).fit_transform(points) + 0.003 * random(2).standard_normal((600, 2))  # another, and as glued
    assert "no fault beyond those of PCA" in str(verdict(points, near))


def test_the_map_of_pca_gets_no_clean_bill():
    lost = PCA(2).fit(ROLL.points).verdict().sentences[2].text
    assert lost.startswith(
        "It is the map of PCA, against which faults are measured, so that only chance can name one: "
    )
    assert "beyond what chance and PCA explain" in str(verdict(ROLL.points, ROLL.truth))
    flat = random().random((300, 2)) @ random(1).standard_normal((2, 5))
    assert "beyond what chance and PCA explain" in str(PCA(2).fit(flat).verdict())  # which lost nothing


def test_a_model_is_told_a_smaller_number_of_neighbours():
    with pytest.warns(UserWarning, match="worse than PCA"):
        model = Isomap(n_neighbors=30).fit(make_swiss_roll(1000, random_state=0).points)
    found = model.verdict()
    assert "glued" in found.faults
    assert "n_neighbors=15" in found.sentences[-1].text
    assert "short_circuits" in found.sentences[-1].text
    assert str(verdict(model)) == str(found)


def test_noise_is_not_to_be_read():
    X = random(2).standard_normal((400, 8))
    found = verdict(X, X[:, :2])
    assert found.kind == "noise"
    assert "read no groups" in found.sentences[-1].text


def test_one_column_of_another_unit():
    X = random(3).standard_normal((300, 4)) @ random(4).standard_normal((4, 4)) * [1e4, 1, 1, 1]
    found = verdict(X, X[:, :2])
    assert (found.kind, found.sure) == ("line", "likely")
    assert "but one column has 100% of the variance" in found.sentences[0].text
    assert "standardise" in found.sentences[-1].text


def test_groups_are_counted():
    X = 9.0 * np.eye(6)[np.arange(600) % 4] + random(5).standard_normal((600, 6))
    found = verdict(X, X[:, :2])
    assert found.kind == "groups"
    assert "4 or more groups (25%, 25%, 25%, 25% of the rows)" in found.sentences[0].text


def test_few_rows_are_not_judged():
    for n in (3, 5, 19):
        found = verdict(random().random((n, 4)), random(1).random((n, 2)))
        assert (found.kind, found.faults) == ("unclear", ())
        assert "more rows" in str(found)
    assert verdict(random().random((20, 4)), random(1).random((20, 2))).kind == "unclear"
    with pytest.raises(InputError, match="a comparison needs 3"):
        verdict(random().random((2, 4)), random(1).random((2, 2)))


@pytest.mark.slow
def test_many_rows_are_drawn_from():
    X = random(6).standard_normal((60_000, 3))
    found = verdict(X, X[:, :2])
    assert found.kind == "noise"
    assert "among 50,000 of 60,000 rows" in str(found)


def test_fewer_rows_are_compared_among_themselves():
    judged = Judged(ROLL.points, ROLL.truth)
    fewer = judged.fewer(300)
    assert judged.fewer(700) is judged
    assert fewer.n == 300
    assert fewer.n_given == 700
    alone = Judged(ROLL.points[fewer.kept], ROLL.truth[fewer.kept])
    assert faults(fewer).strained.total == pytest.approx(faults(alone).strained.total)
    np.testing.assert_array_equal(fewer.in_data.indices, alone.in_data.indices)
    precomputed = Judged(squareform(pdist(ROLL.points)), ROLL.truth, metric="precomputed").fewer(300)
    np.testing.assert_array_equal(precomputed.in_data.indices, alone.in_data.indices)


def test_a_map_without_width():
    found = verdict(ROLL.points, np.ones((700, 2)))
    assert (found.kind, found.faults) == ("sheet", ("collapsed",))
    with pytest.raises(InputError, match="all rows of X are at one place"):
        verdict(np.ones((50, 2)), random().random((50, 2)))


def test_rows_without_a_place_and_rows_far_away():
    places = ROLL.truth.copy()
    places[:100] = np.nan
    assert "among 600 of 700 rows" in str(verdict(ROLL.points, places))
    X = ROLL.points.copy()
    X[:2] *= 1e5
    assert verdict(X, ROLL.truth).kind == "sheet"


def test_tables_of_every_kind():
    D = squareform(pdist(ROLL.points))
    assert verdict(D, ROLL.truth, metric="precomputed").kind == "sheet"
    assert verdict(pd.DataFrame(ROLL.points), pd.DataFrame(ROLL.truth)).kind == "sheet"
    words = csr_array(random(7).poisson(0.1, (200, 100)).astype(float))
    assert verdict(words, random(8).random((200, 2))).kind in {"unclear", "groups"}
    mixed = pd.DataFrame({"a": random(1).random(200), "b": random(2).choice(["x", "y"], 200)})
    found = verdict(mixed, random(3).random((200, 2)), metric="gower")
    assert found.kind == "groups"
    assert "2 or more groups" in str(found)
    assert "they are the values of column 1" in str(found)
    assert "without column 1" in found.sentences[-1].text
    found = gramfold.ClassicalMDS(metric="gower").fit(mixed).verdict()
    assert "they are the values of column 'b'" in str(found)


def test_groups_that_are_values_of_columns_are_said_to_be():
    numbers = random(1).standard_normal((600, 3))
    one, other = random(2).choice(["a", "b", "c"], 600), random(3).choice(["x", "y"], 600)
    frame = pd.DataFrame({"p": numbers[:, 0], "one": one, "q": numbers[:, 1], "other": other})
    found = verdict(frame, numbers[:, :2], metric="gower")
    assert found.kind == "groups"
    assert "6 or more groups" in str(found)
    assert "they are the values of columns 1, 3" in str(found)
    coded = np.column_stack([numbers, 20.0 * (np.arange(600) % 3)])
    assert "they are the values of column 3" in str(verdict(coded, coded[:, :2]))
    apart = 9.0 * np.eye(6)[np.arange(600) % 4] + random(5).standard_normal((600, 6))
    assert "they are the values" not in str(verdict(apart, apart[:, :2]))


def test_a_method_is_not_told_to_be_tried_again():
    roll = make_swiss_roll(1000, noise=0.6, random_state=0).points
    for options in ({"n_neighbors": 8}, {"n_neighbors": 6}, {"n_neighbors": 8, "drop_edges": "short_circuits"}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some of these maps are bad ones
            model = Isomap(**options).fit(roll)
        said = model.verdict().sentences[-1].text
        assert "Isomap(n_components=2)" not in said
        assert "drop_edges" not in options or "short_circuits" not in said


def test_no_advice_names_the_method_of_the_map():
    """Of any shape and fault."""
    judged = Judged(ROLL.points, random(1).random((700, 3)))
    known = faults(judged)
    for name, kind, fault in product(
        ["Isomap", "SDE", "PCA", "DiffusionMap"],
        ["line", "ring", "sheet", "sphere", "branches", "unclear"],
        ["glued", "strained", "collapsed", None],
    ):
        flags = {one.name: replace(one, total=9.0 if one.name == fault else 0.0, threshold=1.0) for one in known}
        found = replace(known, **flags, kept=replace(known.kept, value=0.6))
        said = next_step(judged, Shape(kind, "clear", "", 0.0, "", 2.0), found, getattr(gramfold, name)(n_components=3))
        assert f"{name}(n_components=3)" not in said
        assert f"{name}()" not in said


def test_faults_that_are_known_are_not_computed_again():
    judged = Judged(ROLL.points, ROLL.truth)
    assert str(verdict_of(judged, found=faults(judged))) == str(verdict(judged))


def test_bad_input_gets_the_sentences_of_all_measures():
    with pytest.raises(InputError, match="Y is missing"):
        verdict(ROLL.points)
    with pytest.raises(InputError, match="not a number of neighbours"):
        verdict(ROLL.points, ROLL.truth, n_neighbors="many")
    with pytest.raises(InputError, match="pass n_neighbors to Judged"):
        verdict(Judged(ROLL.points, ROLL.truth), n_neighbors=5)
    with pytest.raises(PrecomputedInputError, match="does not keep"):
        Isomap(metric="precomputed").fit(squareform(pdist(ROLL.points))).verdict()


def test_the_command_line_prints_it(tmp_path: Path):
    from click.testing import CliRunner

    from gramfold.cli.commands import main

    table, places = tmp_path / "roll.csv", tmp_path / "map.csv"
    np.savetxt(table, ROLL.points, delimiter=",", header="a,b,c", comments="")
    made = CliRunner().invoke(main, ["embed", str(table), "--neighbors", "8", "--out", str(places)])
    assert made.exit_code == 0, made.output
    assert "  verdict   The data lie on a sheet" in made.output
    judged = CliRunner().invoke(main, ["judge", str(table), str(places)])
    assert judged.exit_code == 0, judged.output
    assert judged.output.splitlines()[1].startswith("  verdict   The data lie on a sheet")


@pytest.mark.parametrize("sample", [None, 300])
def test_a_map_of_pca_whose_rows_lie_in_a_crowd_says_so_and_is_not_undecided(sample):
    rows = np.random.default_rng(0).normal(size=(1500, 3)) * 1e-5
    rows[:2] += np.eye(3)[:2]
    places = PCA(2).fit_transform(rows)
    found = faults(rows, places, sample=sample).collapsed
    assert not found.named
    assert not undecided(found)
    assert "of the rows share a place, or lie in a crowd, as on the map of PCA" in found.words
    said = str(verdict(rows, places, sample=sample))
    assert f"Most rows lie on top of others: {found.words}." in said
    assert "cannot be decided" not in said
    if sample is None:
        assert found.words.startswith("99.7% of the rows")
