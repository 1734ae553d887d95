"""`gramfold judge`: a map in one file, its table in another."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from gramfold import PCA
from gramfold.cli import main
from gramfold.datasets import make_swiss_roll
from gramfold.errors import ScaleWarning
from gramfold.io import read_table, write_table

ROWS = 200


def run(*arguments):
    return CliRunner().invoke(main, ["judge", *map(str, arguments)])


def refused(*arguments):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    return result.output


def written(path, columns):
    """A csv with these columns, of numbers or text."""
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


@pytest.fixture
def sheet():
    return np.random.default_rng(0).random((ROWS, 2))


@pytest.fixture
def table(tmp_path, sheet):
    return written(tmp_path / "table.csv", {"a": sheet[:, 0], "b": sheet[:, 1]})


@pytest.fixture
def folded(tmp_path, sheet):
    path = tmp_path / "folded.csv"
    write_table(path, np.column_stack([np.abs(sheet[:, 0] - 0.5), sheet[:, 1]]), ["u", "v"])
    return path


def test_a_good_map(table, tmp_path, sheet):
    good = tmp_path / "good.npy"
    np.save(good, sheet @ [[0.0, 1.0], [1.0, 0.0]])
    told = run(table, good)
    assert told.exit_code == 0, told.output
    assert "Map of 200 rows in 2 dimensions, judged by 10 neighbours" in told.output
    assert "kept      100% of the nearest neighbours" in told.output
    assert "faults    none is above its limit: glued 0% (limit 6.7%), torn 0% (" in told.output


def test_a_fault_is_named_in_words(table, folded):
    told = run(table, folded)
    assert "glued     " in told.output
    assert "of the 10 nearest rows on the map are strangers" in told.output
    assert "faults    none" not in told.output
    assert "others    below their limits: torn " in told.output


def test_a_fault_that_a_sample_does_not_decide(tmp_path):
    from gramfold.cli.trust import summary
    from gramfold.diagnostics import faults, verdict

    rng = np.random.default_rng(0)
    sheet = rng.random((2000, 2))
    moved = np.arange(2000) < 2000 * 0.07  # so many rows lie anywhere: about as much as the limit
    places = np.where(moved[:, None], rng.random((2000, 2)), sheet)
    found = faults(sheet, places, sample=100)
    low, high = found.glued.interval
    assert low < found.glued.threshold < high
    told = "\n".join(summary(found, 2000))
    assert "from the rows drawn it cannot be decided whether that is above the limit of 6.7%" in told
    assert f"{100 * high:.0f}%" in told
    assert "faults    none" not in told
    said = str(verdict(sheet, places, sample=100))
    assert "cannot be decided from the rows drawn" in said or "which is not certain" in said
    assert "from the rows drawn" not in "\n".join(summary(faults(sheet, places, sample=2000), 2000))


def test_the_faults_of_each_row_are_written(table, folded, tmp_path):
    out = tmp_path / "rows.csv"
    assert run(table, folded, "--out", out).exit_code == 0
    found = read_table(out)
    assert found.names == ["glued", "torn", "strained", "collapsed"]
    assert len(found.values) == ROWS
    assert found.values[:, 0].mean() > 0.2
    assert "already exists" in refused(table, folded, "--out", out, "--no-overwrite")


def test_columns_of_both_are_no_coordinates(table, tmp_path, sheet):
    mapped = written(
        tmp_path / "map.csv", {"a": sheet[:, 0], "name": ["n"] * ROWS, "u": -sheet[:, 0], "v": sheet[:, 1]}
    )
    told = run(table, mapped)
    assert "map       columns u, v" in told.output
    assert "kept      100%" in told.output


def test_coordinates_can_be_named(table, tmp_path, sheet):
    mapped = written(tmp_path / "map.csv", {"cluster": np.arange(ROWS) % 3, "u": sheet[:, 1], "v": sheet[:, 0]})
    assert "columns cluster, u, v" in run(table, mapped).output
    assert "columns u, v" in run(table, mapped, "--map-columns", "u,v").output


def test_rows_are_matched_by_id(tmp_path, sheet):
    names = [f"cell {i}" for i in range(ROWS)]
    table = written(tmp_path / "t.csv", {"id": names, "a": sheet[:, 0], "b": sheet[:, 1]})
    order = np.random.default_rng(1).permutation(ROWS)[:150]
    mapped = written(tmp_path / "m.csv", {"u": sheet[order, 0], "v": sheet[order, 1], "id": [names[i] for i in order]})
    out = tmp_path / "rows.csv"
    told = run(table, mapped, "--id", "id", "--out", out)
    assert told.exit_code == 0, told.output
    assert "left out  50 rows of the table that the map does not have" in told.output
    assert "kept      100%" in told.output
    found = read_table(out, labels="id", missing=True)
    assert found.labels.tolist() == names
    absent = np.isnan(found.values).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(~absent), np.sort(order))


@pytest.mark.parametrize("names", [("umap_1", "umap_2"), ("x", "Y"), ("tSNE-1", "tSNE-2"), ("x_map", "y_map")])
def test_a_column_whose_name_is_no_coordinates(table, tmp_path, sheet, names):
    places = dict(zip(names, sheet.T, strict=True))
    size = np.random.default_rng(1).integers(500, 4000, ROWS)
    told = run(table, written(tmp_path / "m.csv", {**places, "n_genes": size}))
    assert told.exit_code == 0, told.output
    first, second = names
    assert (
        f"column 'n_genes' counts as a coordinate beside columns '{first}' and '{second}', but the names do not look "
        f"alike: name the coordinates with --map-columns {first},{second}."
    ) in told.output
    assert "look alike" not in run(table, tmp_path / "m.csv", "--map-columns", ",".join(names)).output
    long = written(tmp_path / "long.csv", {first: 100 * sheet[:, 0], second: sheet[:, 1]})
    assert "Warning" not in run(table, long).output


def test_maps_of_two_methods_in_one_file(table, tmp_path, sheet):
    both = {"pca1": sheet[:, 0], "pca2": sheet[:, 1], "umap1": sheet[:, 1], "umap2": sheet[:, 0]}
    told = run(table, written(tmp_path / "m.csv", both)).output
    assert "columns 'umap1' and 'umap2' count as coordinates beside columns 'pca1' and 'pca2'" in told


def test_a_column_that_hides_the_other_coordinates(table, tmp_path, sheet):
    size = np.random.default_rng(1).integers(500, 4000, ROWS)
    told = run(table, written(tmp_path / "m.csv", {"left": sheet[:, 0], "total": size})).output
    assert "column 'total' has 100.0% of the variance of the map" in told
    assert "--map-columns" in told
    alike = run(table, written(tmp_path / "s.csv", {"left": sheet[:, 0], "up": sheet[:, 1]})).output
    assert "Warning" not in alike


def in_two_files(tmp_path, sheet, mine, theirs):
    """A table and a map of the same rows, under these ids."""
    table = written(tmp_path / "t.csv", {"id": mine, "a": sheet[: len(mine), 0], "b": sheet[: len(mine), 1]})
    mapped = written(tmp_path / "m.csv", {"id": theirs, "u": sheet[: len(mine), 0], "v": sheet[: len(mine), 1]})
    return run(table, mapped, "--id", "id").output


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ([str(i) for i in range(150)], [f"{i:03d}" for i in range(150)]),  # of which 50 are written alike
        ([f"{i:03d}" for i in range(150)], [f"{i}.0" for i in range(150)]),
        (["control", *map(str, range(1, 150))], ["control", *(f"{i:03d}" for i in range(1, 150))]),
    ],
)
def test_ids_that_are_written_in_two_ways(tmp_path, sheet, mine, theirs):
    told = in_two_files(tmp_path, sheet, mine, theirs)
    assert "Map of 150 rows" in told
    assert "kept      100%" in told
    assert "left out" not in told


def test_ids_are_compared_as_written_where_numbers_are_not_unique(tmp_path, sheet):
    ids = ["7", "007", *map(str, range(10, 158))]
    told = in_two_files(tmp_path, sheet, ids, ["7.0", *ids[1:]])
    assert "left out  1 row of the table that the map does not have (ids were compared as they are written)" in told
    told = in_two_files(tmp_path, sheet, ids[1:], ["1", *ids[2:]])
    assert "left out  1 row of the table that the map does not have (ids were compared as numbers)" in told


def test_long_ids_that_are_one_float(tmp_path, sheet):
    ids = [str(2**53 + i) for i in range(0, 300, 2)]
    others = [str(int(word) + 1) for word in ids[:50]] + ids[50:]
    assert "left out  50 rows" in in_two_files(tmp_path, sheet, ids, others)


def test_labels_are_judged_too(tmp_path, sheet, folded):
    table = written(
        tmp_path / "t.csv", {"a": sheet[:, 0], "b": sheet[:, 1], "kind": np.where(sheet[:, 0] < 0.5, "left", "right")}
    )
    told = run(table, folded, "--labels", "kind")
    assert told.exit_code == 0, told.output
    assert "neighborhood purity" in told.output
    assert "silhouette" in told.output


def test_distances_are_judged(tmp_path, sheet, folded):
    from scipy.spatial.distance import cdist

    np.save(tmp_path / "d.npy", cdist(sheet, sheet))
    assert "glued" in run(tmp_path / "d.npy", folded, "--metric", "precomputed").output


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        (ROWS - 1, [], "name a column that both have with --id"),
        (ROWS, ["--id", "who"], "who"),
        (ROWS, ["-k", "200"], "n_neighbors=200, but there are only 200 rows"),
        (ROWS, ["--map-columns", "w"], "w"),
    ],
)
def test_what_cannot_be_judged(table, tmp_path, sheet, rows, options, words):
    mapped = written(tmp_path / "m.csv", {"u": sheet[:rows, 0], "v": sheet[:rows, 1]})
    assert words in refused(table, mapped, *options)


def test_no_column_is_left(table, tmp_path, sheet):
    mapped = written(tmp_path / "m.csv", {"a": sheet[:, 0], "b": sheet[:, 1]})
    assert "name them with --map-columns" in refused(table, mapped)


def test_an_id_must_be_unique(tmp_path, sheet):
    table = written(tmp_path / "t.csv", {"id": ["x"] * ROWS, "a": sheet[:, 0]})
    mapped = written(tmp_path / "m.csv", {"id": range(ROWS), "u": sheet[:, 0]})
    assert "has the value 'x' of 'id' more than once" in refused(table, mapped, "--id", "id")


def test_names_of_rows_in_another_order_are_noticed(tmp_path, sheet):
    table = written(tmp_path / "t.csv", {"id": range(ROWS), "a": sheet[:, 0], "b": sheet[:, 1]})
    order = np.random.default_rng(1).permutation(ROWS)
    mapped = written(tmp_path / "m.csv", {"id": order, "u": sheet[order, 0], "v": sheet[order, 1]})
    assert "in another order" in refused(table, mapped)
    assert "match them with --id id" in refused(table, mapped, "--skip", "id")
    assert "kept      100%" in run(table, mapped, "--id", "id").output
    same = written(tmp_path / "s.csv", {"id": range(ROWS), "u": sheet[:, 0], "v": sheet[:, 1]})
    assert "Column 'id': it counts the rows from 0 to 199" in run(table, same).output
    told = run(table, same, "--columns", "id,a,b")
    assert "column 'id' has another whole number in each row of both files and counts as data" in told.output
    assert "not id, which the table has too" in told.output


def test_maps_of_float32(table, tmp_path, sheet):
    np.save(tmp_path / "m.npy", sheet.astype(np.float32))
    assert "kept      100%" in run(table, tmp_path / "m.npy").output


def test_precomputed_distances_are_square(table, folded):
    assert "are a square matrix" in refused(table, folded, "--metric", "precomputed")


def told_of_few(tmp_path, sheet, rows, *options):
    """What judge and embed say of so many rows."""
    table = written(tmp_path / "t.csv", {"a": sheet[:rows, 0], "b": sheet[:rows, 1], "c": sheet[:rows].prod(axis=1)})
    np.save(tmp_path / "m.npy", sheet[:rows])
    embedded = CliRunner().invoke(main, ["embed", str(table), "-m", "pca", "-o", str(tmp_path / "o.csv")])
    assert embedded.exit_code == 0, embedded.output
    return run(table, tmp_path / "m.npy", *options).output, embedded.output


@pytest.mark.parametrize(("rows", "neighbors"), [(4, "1 neighbour\n"), (12, "4 neighbours\n"), (19, "6 neighbours\n")])
def test_faults_of_very_few_rows_are_not_judged(tmp_path, sheet, rows, neighbors):
    judged, embedded = told_of_few(tmp_path, sheet, rows)
    assert f"judged by {neighbors}" in judged
    for told in (judged, embedded):
        assert "faults    not judged: fewer than 20 rows" in told
        assert "limit" not in told
        assert "kept  " not in told
    assert "leave out --out" in refused(tmp_path / "t.csv", tmp_path / "m.npy", "--out", tmp_path / "rows.csv")


def test_faults_of_few_rows_are_judged_with_a_caution(tmp_path, sheet):
    for rows, cautious in ((20, True), (49, True), (50, False)):
        for told in told_of_few(tmp_path, sheet, rows):
            assert "kept      " in told
            assert "(limit" in told
            assert (f"caution   {rows} rows are few" in told) is cautious


def test_a_column_that_hides_the_others_is_named(tmp_path, sheet):
    table = written(tmp_path / "t.csv", {"a": sheet[:, 0], "b": sheet[:, 1], "salary": 1e4 * sheet[:, 0]})
    np.save(tmp_path / "m.npy", sheet)
    told = run(table, tmp_path / "m.npy", "--scale", "none").output
    assert "scales    column 'salary' has 100.0% of the variance" in told
    words = ["embed", str(table), "-m", "pca", "--scale", "none", "-o", str(tmp_path / "o.csv")]
    told = CliRunner().invoke(main, words)
    assert "scales    column 'salary'" in told.output
    assert "shape     rank correlation" in told.output


def test_the_next_step_names_columns(tmp_path):
    roll = make_swiss_roll(400, random_state=0)
    x, y, z = roll.points.T
    table = written(tmp_path / "t.csv", {"x": x, "salary": 1e4 * y, "z": z})
    np.save(tmp_path / "m.npy", roll.truth)
    told = run(table, tmp_path / "m.npy", "--scale", "none").output
    assert "Next: column 'salary' has 100.0% of the variance" in told
    named = pd.DataFrame({"x": x, "salary": 1e4 * y, "z": z})
    with pytest.warns(ScaleWarning):
        model = PCA(2).fit(named)
    assert "Next: column 'salary' has 100.0%" in str(model.verdict())


@pytest.fixture
def gappy(tmp_path):
    """Rows with ids, in columns of very different units, some values missing."""
    values = np.random.default_rng(0).normal(size=(ROWS, 4)) * [200, 0.01, 1e5, 1e-3]
    values[::20, 0] = np.nan
    frame = pd.DataFrame(values, columns=["height", "weight", "press", "vib"])
    frame.insert(0, "name", [f"row {i}" for i in range(ROWS)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def kept_in(told):
    assert told.exit_code == 0, told.output
    return next(line.split()[1] for line in told.output.splitlines() if line.startswith("  kept "))


def decisions(told):
    words = ("left out  column", "gaps ", "scaling ")
    return [line for line in told.output.splitlines() if line.strip().startswith(words)]


@pytest.mark.parametrize("options", [(), ("--scale", "robust"), ("--missing", "drop")])
def test_rows_are_prepared_as_by_embed(gappy, tmp_path, options):
    out = tmp_path / "m.csv"
    words = ["embed", str(gappy), "-m", "pca", "--id", "name", "-o", str(out), *options]
    embedded = CliRunner().invoke(main, words)
    judged = run(gappy, out, "--id", "name", *options)
    assert kept_in(judged) == kept_in(embedded)
    assert decisions(judged) == decisions(embedded)
    assert "scaling   " in judged.output


def test_rows_are_prepared_as_by_a_model_file(gappy, tmp_path):
    out, model = tmp_path / "m.csv", tmp_path / "m.gramfold"
    words = ["embed", str(gappy), "-m", "pca", "--scale", "robust", "--missing", "mean", "--model", str(model)]
    embedded = CliRunner().invoke(main, [*words, "--id", "name", "-o", str(out)])
    judged = run(gappy, out, "--id", "name", "--model", model)
    assert kept_in(judged) == kept_in(embedded)
    assert f"prepared  by the steps of '{model}'" in judged.output
    assert "leave out --scale" in refused(gappy, out, "--id", "name", "--model", model, "--scale", "none")


def test_the_summary_for_programs(table, folded):
    import json

    facts = json.loads(run(table, folded, "--json").stdout)
    assert facts["coordinates"] == ["u", "v"]
    assert facts["faults"]["glued"]["above"]
    assert 0 < facts["measures"]["trustworthiness"]["value"] < 1


def test_codes_of_missing_values_are_gaps(tmp_path, gappy):
    codes = tmp_path / "codes.csv"
    frame = pd.read_csv(gappy)
    frame.fillna(-9999).to_csv(codes, index=False)
    out = tmp_path / "m.csv"
    embed = lambda path, *more: CliRunner().invoke(  # noqa: E731
        main, ["embed", str(path), "-m", "pca", "--id", "name", "-o", str(out), *more]
    )
    assert "(`--na -9999`, or NaN in Python)" in embed(codes, "--missing", "error").output
    expected = decisions(embed(gappy))
    assert decisions(embed(codes, "--na", "-9999")) == expected
    assert decisions(run(codes, out, "--id", "name", "--na", "-9999")) == expected
