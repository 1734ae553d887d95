"""`gramfold compare`: a table, methods by name, and finished maps in files."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner

from gramfold import compare
from gramfold.cli import main
from gramfold.datasets import make_s_curve

CURVE = make_s_curve(150, random_state=0)
KINDS = np.where(CURVE.truth[:, 0] > np.median(CURVE.truth[:, 0]), "left", "right")
NAMES = [f"p{i}" for i in range(150)]


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def refused(*arguments):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    return result.output


def written(path, columns):
    """A csv with these columns, of numbers or text."""
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


def read(path):
    with path.open(encoding="utf8", newline="") as file:
        return {row["map"]: row for row in csv.DictReader(file)}


@pytest.fixture
def table(tmp_path):
    x, y, z = CURVE.points.T
    return written(tmp_path / "table.csv", {"name": NAMES, "x": x, "y": y, "z": z, "kind": KINDS})


@pytest.fixture
def sheet(tmp_path):
    order = np.random.default_rng(0).permutation(150)[:140]
    u, v = CURVE.truth[order].T
    return written(tmp_path / "sheet.csv", {"name": [NAMES[i] for i in order], "u": u, "v": v})


def test_methods_and_a_map_in_another_order(table, sheet, tmp_path):
    out, picture = tmp_path / "out.csv", tmp_path / "maps.png"
    told = run(
        *(table, "--methods", "pca,isomap", "--map", f"the sheet={sheet}", "--id", "name", "--labels", "kind"),
        *("--out", out, "--picture", picture),
    )
    assert told.exit_code == 0, told.output
    assert "3 maps of 150 rows, judged on the 140 that all of them have, by 10 neighbours" in told.output
    assert "global:   " in told.output
    rows = read(out)
    assert list(rows) == ["pca", "isomap", "the sheet"]
    places = np.full((150, 2), np.nan)
    for line in sheet.read_text().splitlines()[1:]:
        name, *place = line.split(",")
        places[NAMES.index(name)] = [float(value) for value in place]
    found = compare(CURVE.points, {"pca": "pca", "isomap": "isomap", "the sheet": places}, labels=KINDS)
    for name, row in rows.items():
        for measure, value in found[name].measures.items():
            assert float(row[measure]) == pytest.approx(value.value, abs=1e-9), (name, measure)
    assert picture.stat().st_size > 10_000


def test_usual_methods(table):
    told = run(table, "--skip", "name,kind", "-k", 8, "--judged-neighbors", 6, "-d", 1)
    assert told.exit_code == 0, told.output
    assert "5 maps of 150 rows, by 6 neighbours" in told.output
    assert "modified_lle" in told.output


def test_finished_maps_alone(table, tmp_path):
    path = tmp_path / "map.npy"
    np.save(path, CURVE.truth)
    told = run(table, "--skip", "name,kind", "--map", f"mine={path}")
    assert told.exit_code == 0, told.output
    assert "1 map of 150 rows" in told.output


def test_a_column_that_hides_the_others_is_named(tmp_path):
    x, y, z = CURVE.points.T
    loud = written(tmp_path / "loud.csv", {"x": x, "salary": 1e4 * y, "z": z})
    assert "scaling   standardise: column 'salary'" in run(loud, "--methods", "pca").output
    told = run(loud, "--methods", "pca", "--scale", "none").output
    assert "scales    column 'salary' has 100.0% of the variance" in told


def test_rows_without_a_place_are_left_out_of_finished_maps_too(tmp_path):
    x, y, z = CURVE.points.T
    gaps = written(tmp_path / "gaps.csv", {"x": ["", *x[1:]], "y": y, "z": z})
    np.save(tmp_path / "map.npy", CURVE.truth)
    told = run(gaps, "--missing", "drop", "--map", f"mine={tmp_path / 'map.npy'}")
    assert told.exit_code == 0, told.output
    assert "1 map of 149 rows" in told.output
    assert "gaps      1 row with missing values gets no place" in told.output


def test_a_method_that_fails_is_told(table):
    told = run(table, "--skip", "name,kind", "--methods", "pca,isomap", "-k", 400)
    assert told.exit_code == 0, told.output
    assert "isomap failed: InputError: n_neighbors=400" in told.output


def test_refits(table):
    told = run(table, "--skip", "name,kind", "--methods", "pca", "--stability", 2)
    assert "moved" in told.output


def test_what_cannot_be_done_is_one_sentence(table, tmp_path):
    rest = ("--skip", "name,kind")
    assert "There is no method 'isomop'" in refused(table, *rest, "--methods", "isomop")
    assert "--map sheet.csv has no name or no file" in refused(table, *rest, "--map", "sheet.csv")
    assert "gives the name 'a' twice" in refused(table, *rest, "--map", "a=b.csv", "--map", "a=c.csv")
    assert "neither .csv nor .tsv" in refused(table, *rest, "--out", tmp_path / "out.parquet")
    assert "is an input file" in refused(table, *rest, "--out", table)
    (tmp_path / "maps.png").write_text("")
    assert "already exists" in refused(table, *rest, "--picture", tmp_path / "maps.png", "--no-overwrite")
    np.save(tmp_path / "isomap.npy", CURVE.truth)
    given = ("--methods", "isomap", "--map", f"isomap={tmp_path / 'isomap.npy'}")
    assert "which is that of a method" in refused(table, *rest, *given)
