"""`gramfold judge`: maps as other programs write them, and rows named by a column."""

import gzip

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from gramfold.cli import main
from gramfold.diagnostics import faults

ROWS = 60
SHEET = np.random.default_rng(0).random((ROWS, 2))
ORDER = np.random.default_rng(1).permutation(ROWS)
NAMES = [f"{number:04d}" for number in range(ROWS)]


def run(*arguments):
    return CliRunner().invoke(main, ["judge", *map(str, arguments)])


def judged(*arguments):
    """What is printed of a map that keeps every neighbour."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "kept      100% of the nearest neighbours" in result.output
    return result.output


def refused(*arguments):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.output.count("\n") == 1
    return result.output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to stand in, with a table."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(SHEET, columns=["a", "b"]).to_csv("table.csv", index=False)
    return tmp_path


def a_map(**columns):
    return pd.DataFrame({**columns, "u": SHEET[:, 1], "v": -SHEET[:, 0]})


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("start", [0, 1])
def test_row_numbers_are_no_coordinates(start):
    mapped = a_map()
    mapped.index += start
    mapped.to_csv("index.csv")  # without a name
    assert "map       columns u, v; not x0: row numbers" in judged("table.csv", "index.csv")
    pd.read_csv("index.csv").to_csv("twice.csv")
    assert "map       columns u, v; not x0, Unnamed: 0: row numbers" in judged("table.csv", "twice.csv")
    mapped.to_csv("named.csv", index_label="row")
    assert "map       columns u, v; not row: row numbers" in judged("table.csv", "named.csv")
    assert "map       columns row, u" in run("table.csv", "named.csv", "--map-columns", "row,u").output


@pytest.mark.usefixtures("folder")
def test_an_index_in_another_order_is_noticed():
    a_map().iloc[ORDER].to_csv("index.csv")
    assert "row numbers in another order than 'table.csv' (column 'x0')" in refused("table.csv", "index.csv")


@pytest.mark.usefixtures("folder")
def test_ranks_are_coordinates():
    a_map(rank=ORDER).to_csv("ranks.csv", index=False)
    assert "columns rank, u, v" in run("table.csv", "ranks.csv").output


@pytest.mark.usefixtures("folder")
def test_each_file_has_its_decimal_mark():
    a_map().to_csv("commas.csv", index=False, sep=";", decimal=",")
    told = judged("table.csv", "commas.csv")
    assert "map       columns u, v; their decimal mark is ','" in told
    pd.DataFrame(SHEET, columns=["a", "b"]).to_csv("table_commas.csv", index=False, sep=";", decimal=",")
    assert "decimal mark" not in judged("table_commas.csv", "commas.csv", "--decimal", ",")
    a_map().to_csv("points.csv", index=False)
    assert "their decimal mark is '.'" in judged("table_commas.csv", "points.csv", "--decimal", ",")
    chosen = judged("table.csv", "commas.csv", "--map-columns", "u,v")
    assert chosen == told


def test_a_first_column_without_a_name_that_is_no_index(folder):
    cells = [f"{value:.6f}".replace(".", ",") for value in SHEET[:, 0]]
    (folder / "one.csv").write_text("\n".join(["u", *cells, ""]))
    assert "columns u; their decimal mark is ','" in run("table.csv", "one.csv").output
    assert "if the comma is a decimal mark save it with decimal points" in refused(
        "table.csv", "one.csv", "--decimal", "."
    )


@pytest.mark.usefixtures("folder")
def test_rows_without_coordinates_are_counted():
    mapped = a_map()
    mapped.loc[::6, "u"] = np.nan
    mapped.to_csv("gaps.csv", index=False)
    told = run("table.csv", "gaps.csv").output
    assert "Map of 50 rows in 2 dimensions, judged by 10 neighbours" in told
    assert "left out  10 rows without coordinates on the map" in told


@pytest.mark.usefixtures("folder")
def test_few_rows_with_coordinates_have_fewer_neighbors():
    mapped = a_map()
    mapped.loc[15:, "u"] = np.nan
    mapped.to_csv("gaps.csv", index=False)
    assert "Map of 15 rows in 2 dimensions, judged by 5 neighbours" in run("table.csv", "gaps.csv").output


@pytest.mark.usefixtures("folder")
def test_a_table_and_a_map_the_wrong_way_round():
    pd.DataFrame(np.random.default_rng(2).random((ROWS, 15))).add_prefix("g").to_csv("many.csv", index=False)
    told = run("table.csv", "many.csv").output
    assert "has 15 coordinates, more than the 2 columns of the table 'table.csv'" in told
    assert "g10, g11 and 3 more" in told


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
@pytest.mark.parametrize(
    ("ids", "theirs"),
    [
        (NAMES, NAMES),
        (NAMES, list(range(ROWS))),
        ([f"cell, {name}" for name in NAMES], [f"cell, {name}" for name in NAMES]),
        # as floats these are equal in pairs
        ([2**53 + row for row in range(ROWS)], [2**53 + row for row in range(ROWS)]),
    ],
    ids=["zeros", "zeros and numbers", "text", "many digits"],
)
def test_the_faults_of_each_row_have_its_id(folder, ending, ids, theirs):
    pd.DataFrame({"a": SHEET[:, 0], "cell": ids, "b": SHEET[:, 1]}).to_parquet("named.parquet")
    folded = np.column_stack([np.abs(SHEET[:, 0] - 0.5), SHEET[:, 1]])
    rows = ORDER[:50]
    pd.DataFrame({"u": folded[rows, 0], "v": folded[rows, 1], "cell": [theirs[row] for row in rows]}).to_csv(
        "map.csv", index=False
    )
    out = folder / f"faults.{ending}"
    result = run("named.parquet", "map.csv", "--id", "cell", "--out", out)
    assert result.exit_code == 0, result.output
    assert "decimal mark" not in result.output
    if ending == "npz":
        with np.load(out) as held:
            written = pd.DataFrame(held["X"], columns=held["names"])
            written.insert(0, "cell", held["cell"])
    else:
        written = pd.read_csv(out, dtype={"cell": type(ids[0])}) if ending == "csv" else pd.read_parquet(out)
    assert list(written.columns) == ["cell", "glued", "torn", "strained", "collapsed"]
    assert written["cell"].tolist() == ids
    kept = np.sort(rows)
    expected = faults(SHEET[kept], folded[kept])
    found = written.drop(columns="cell").to_numpy()
    np.testing.assert_allclose(found[kept], np.column_stack([fault.per_point for fault in expected]))
    assert np.isnan(found[np.setdiff1d(np.arange(ROWS), kept)]).all()


@pytest.mark.usefixtures("folder")
def test_ids_that_cannot_be_written_are_refused_first():
    a_map(torn=NAMES).to_csv("map.csv", index=False)
    pd.DataFrame({"torn": NAMES, "a": SHEET[:, 0]}).to_csv("named.csv", index=False)
    for out, words in (("o.npy", "no column 'torn'"), ("o.csv", "another column 'torn'")):
        assert words in refused("named.csv", "map.csv", "--id", "torn", "--out", out)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.csv", None, "There is no file 'none.csv'"),
        ("none.parquet", None, "There is no file 'none.parquet'"),
        ("packed.csv.gz", gzip.compress(b"u,v\n1,2\n", mtime=0)[:-9], "compressed with gzip, but is truncated"),
        ("latin.csv", "u,Größe\n1,2\n".encode("latin1"), "has 60 rows and 'latin.csv' has 1"),
        ("broken.parquet", b"PAR1\x15 and no more", "is not a readable .parquet file"),
        ("empty.csv", b"", "'empty.csv' is empty"),
        ("head.csv", b"u,v\n", "has columns but no rows"),
        ("equal.csv", b"u,u\n1,2\n", "has several columns named 'u'"),
        (
            "words.csv",
            b"id,xy\n0,somewhere\n1,elsewhere\n",
            "has no column of numbers that the table does not have too",
        ),
        ("gaps.csv", b"u,v\nnan,\nnan,\n", "has no column of numbers"),
        ("far.csv", b"u,v\n0.5,2\n0.5,inf\n", "has an infinite value in column 'v', row 1 counted from 0"),
        ("short.csv", b"u,v\n0.5,2\n1.5,3\n", "name a column that both have with --id"),
    ],
)
def test_files_that_are_no_map(folder, name, content, words):
    if content is not None:
        (folder / name).write_bytes(content)
    assert words in refused("table.csv", name)


@pytest.mark.usefixtures("folder")
def test_text_is_no_coordinate_even_if_it_is_named():
    a_map(who=NAMES).assign(who="somebody").to_csv("map.csv", index=False)
    assert "other values than numbers in column 'who'" in refused("table.csv", "map.csv", "--map-columns", "u,who")


@pytest.mark.usefixtures("folder")
def test_no_neighbours_are_not_the_default():
    a_map().to_csv("map.csv", index=False)
    assert "n_neighbors=0 is not a number of neighbours" in refused("table.csv", "map.csv", "-k", 0)
