"""`gramfold embed --color`: the picture has the colours of a column, which is not among the data."""

import numpy as np
import pytest
from click.testing import CliRunner

from gramfold import PCA
from gramfold.cli import main
from gramfold.notebook.palette import OKABE_ITO


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    lines = [",".join([*map(repr, row.tolist()), ["early", "late"][i % 2], str(i % 3)]) for i, row in enumerate(rows)]
    path = tmp_path / "cells.csv"
    path.write_text("a,b,c,stage,batch\n" + "\n".join(lines) + "\n")
    return path, rows


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_the_column_colours_the_dots_and_is_no_data(table, tmp_path, monkeypatch):
    path, rows = table
    drawn = []
    monkeypatch.setattr("gramfold.plotting.save_picture", lambda figure, _: drawn.append(figure))
    command = ["embed", path, "-m", "pca", "-o", tmp_path / "map.csv", "--picture", tmp_path / "map.png"]
    result = run(*command, "--color", "stage", "--skip", "batch")
    assert result.exit_code == 0, result.output
    ax = drawn[0].axes[0]
    np.testing.assert_allclose(ax.collections[0].get_offsets(), PCA().fit_transform(rows), atol=1e-8)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["early", "late"]
    assert ax.get_legend().get_title().get_text() == "stage"
    from matplotlib.colors import to_hex

    shades = [to_hex(color).upper() for color in ax.collections[0].get_facecolors()]
    assert shades == [OKABE_ITO[i % 2] for i in range(40)]
    assert run(*command, "--color", "batch", "--skip", "stage").exit_code == 0
    assert [text.get_text() for text in drawn[1].axes[0].get_legend().get_texts()] == ["0", "1", "2"]


def test_an_array_beside_the_table_of_an_npz_file(table, tmp_path):
    _, rows = table
    np.savez(tmp_path / "cells.npz", X=rows, stage=np.array(["early", "late"] * 20))
    command = ["embed", tmp_path / "cells.npz", "-m", "pca", "-o", tmp_path / "map.npy"]
    result = run(*command, "--picture", tmp_path / "map.png", "--color", "stage")
    assert result.exit_code == 0, result.output
    np.testing.assert_allclose(np.load(tmp_path / "map.npy"), PCA().fit_transform(rows), atol=1e-8)


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_dates_colour_as_those_of_a_text_file_do(table, ending, tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("pyarrow.feather")
    _, rows = table
    when = [None, *np.array(["2020-01-01", "2020-01-02", "2020-01-03"] * 13, dtype="datetime64[D]").tolist()]
    columns = {**dict(zip("abc", rows.T, strict=True)), "when": pa.array(when, pa.date32())}
    path = tmp_path / f"cells{ending}"
    write = pa.parquet.write_table if ending == ".parquet" else pa.feather.write_feather
    write(pa.table(columns), path)
    lines = [",".join([*map(repr, row.tolist()), str(day or "")]) for row, day in zip(rows, when, strict=True)]
    (tmp_path / "cells.csv").write_text("\n".join(["a,b,c,when", *lines]) + "\n")
    drawn = []
    monkeypatch.setattr("gramfold.plotting.save_picture", lambda figure, _: drawn.append(figure))
    for source in (path, tmp_path / "cells.csv"):
        words = ["embed", source, "-m", "pca", "-o", tmp_path / "map.csv", "--picture", tmp_path / "map.png"]
        for more in ([], ["--columns", "a,b,c"]):
            result = run(*words, "--color", "when", *more)
            assert result.exit_code == 0, result.output
    told = [[text.get_text() for text in figure.axes[0].get_legend().get_texts()] for figure in drawn]
    assert told[0][:3] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    assert told == [told[0]] * 4


def test_a_colour_that_cannot_be_drawn(table, tmp_path):
    path, _ = table
    result = run("embed", path, "-m", "pca", "-o", tmp_path / "map.csv", "--color", "stage")
    assert result.exit_code != 0
    assert "none is drawn: add --picture FILE" in result.output
    result = run("embed", path, "-o", tmp_path / "map.csv", "--picture", tmp_path / "map.png", "--color", "kind")
    assert result.exit_code != 0
    assert "kind" in result.output
