"""`gramfold embed --align-to`: the map that Python's align gives, and what is said of it."""

import numpy as np
import pytest
from click.testing import CliRunner

from gramfold import Isomap, align
from gramfold.cli import main
from gramfold.datasets import make_swiss_roll
from gramfold.io import read_table, write_table

ROLL = make_swiss_roll(n_samples=300, length=40, random_state=0).points
ORDER = np.random.default_rng(0).permutation(300)[:270]


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def months(tmp_path, monkeypatch):
    """A folder with the tables of two months, whose columns are in another order, and the mirrored map of the first."""
    monkeypatch.chdir(tmp_path)
    write_table("march.csv", ROLL, ["x", "y", "z"])
    write_table("april.csv", ROLL[ORDER][:, ::-1], ["z", "y", "x"])
    write_table("march_map.csv", Isomap().fit(ROLL).embedding_ * [-1.0, 1.0], ["isomap0", "isomap1"])
    return tmp_path


def expected():
    new = Isomap(random_state=0).fit(ROLL[ORDER][:, ::-1].copy())
    return align(new, read_table("march_map.csv").values, rows=(np.arange(270), ORDER))


@pytest.mark.parametrize("ending", [".csv", ".npy", ".parquet"])
def test_the_map_is_the_one_that_python_gives(ending, months):
    write_table(f"old{ending}", read_table("march_map.csv").values, ["isomap0", "isomap1"])
    write_table(f"rows{'.csv' if ending == '.npy' else ending}", ROLL, ["x", "y", "z"])
    rows = f"rows{'.csv' if ending == '.npy' else ending}"
    result = run(
        "embed", "april.csv", "-m", "isomap", "--align-to", f"old{ending}", "--align-rows", rows, "--out", "map.csv"
    )
    assert result.exit_code == 0, result.output
    model = expected()
    np.testing.assert_array_equal(read_table("map.csv").values, model.embedding_)
    found = model.alignment_
    turned = ", mirrored" if found.mirrored else ""
    line = f"  aligned   with 'old{ending}' by 270 rows in common, misfit {found.misfit:.2g}{turned}\n"
    assert line in result.output


def test_without_a_table_row_i_is_row_i(months):
    result = run("embed", "march.csv", "-m", "isomap", "--align-to", "march_map.csv", "--out", "map.csv")
    assert result.exit_code == 0, result.output
    np.testing.assert_allclose(read_table("map.csv").values, read_table("march_map.csv").values, atol=1e-9)
    assert "by 300 rows in common, misfit " in result.output
    assert ", mirrored\n" in result.output


def test_rows_without_a_place_may_be_on_the_old_map(months):
    places = read_table("march_map.csv").values.copy()
    places[:40] = np.nan
    write_table("march_map.csv", places, ["isomap0", "isomap1"])
    result = run("embed", "march.csv", "-m", "isomap", "--align-to", "march_map.csv", "--out", "map.csv")
    assert result.exit_code == 0, result.output
    assert "by 260 rows in common" in result.output


def test_text_is_read_as_the_options_say(months):
    for name in ("march", "april"):
        table = read_table(f"{name}.csv")
        lines = [";".join(f"{value!r}".replace(".", ",") for value in row.tolist()) for row in table.values]
        (months / f"{name}_comma.csv").write_text("\n".join([";".join(table.names), *lines]))
    words = ["--align-to", "march_map.csv", "--align-rows", "march_comma.csv", "--decimal", ","]
    result = run("embed", "april_comma.csv", "-m", "isomap", *words, "--out", "map.csv")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(read_table("map.csv").values, expected().embedding_)


def test_the_account_is_of_the_map_before_alignment(months):
    flat = np.column_stack([ROLL[:, 0], 2.0 * ROLL[:, 0], 0.0 * ROLL[:, 0]])
    write_table("line.csv", flat, ["x", "y", "z"])
    result = run("embed", "line.csv", "-m", "pca", "--align-to", "march_map.csv", "--out", "map.csv")
    assert result.exit_code == 0, result.output
    assert "rank      1, less than the 2 columns of the map; the other columns are zero" in result.output
    assert "Warning: the 300 rows in common span 1 of 2 dimensions" in result.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--align-rows", "march.csv"], "--align-rows was given without --align-to: name the earlier map"),
        (["--align-to", "none.csv"], "There is no file 'none.csv'"),
        (["--align-to", "march_map.csv"], "'march_map.csv' has 300 rows, but 'april.csv' has 270"),
        (
            ["--align-to", "march_map.csv", "--align-rows", "april.csv"],
            "'april.csv' has 270 rows, but 'march_map.csv' has 300",
        ),
        (["--align-to", "march_map.csv", "--align-rows", "other.csv"], "and 'other.csv' have no equal rows"),
        (["--align-to", "march_map.csv", "--align-rows", "march_map.csv"], "'march_map.csv' has no column 'z'"),
        (["-d", 3, "--align-to", "march_map.csv", "--align-rows", "march.csv"], "new map has 3 dimensions"),
        (["--align-to", "march_map.csv", "--out", "march_map.csv"], "is an input file and would be overwritten"),
    ],
)
def test_what_cannot_be_aligned_gets_a_sentence(words, sentence, months):
    write_table("other.csv", ROLL + 1.0, ["x", "y", "z"])
    result = run("embed", "april.csv", "--out", "map.csv", *words)
    assert result.exit_code == 2
    assert sentence in result.output
    assert result.output.startswith("Error: ")
    assert not (months / "map.csv").exists()


def test_ids_and_kept_columns_of_the_old_map_are_no_coordinates(months):
    import pandas as pd

    names = np.array([f"cell {i}" for i in range(300)])
    old = pd.DataFrame(Isomap().fit(ROLL).embedding_, columns=["isomap0", "isomap1"])
    old.insert(0, "name", names)
    old.assign(height=ROLL[:, 1]).to_csv("old.csv", index=False)
    new = pd.DataFrame(ROLL[ORDER], columns=["x", "y", "z"])
    new.loc[3, "x"] = np.nan
    new.assign(name=names[ORDER]).to_csv("new.csv", index=False)
    words = ("new.csv", "-m", "isomap", "--missing", "drop", "--align-to", "old.csv", "--out", "m.csv")
    result = run("embed", *words, "--id", "name")
    assert result.exit_code == 0, result.output
    assert "by 269 rows in common, matched by 'name', misfit 0.0" in result.output
    found = pd.read_csv("m.csv").set_index("name").dropna()
    places = old.set_index("name").loc[found.index]
    np.testing.assert_allclose(found, places, atol=0.1 * np.ptp(places))
    assert "name a column that both have with --id" in run("embed", *words).output
