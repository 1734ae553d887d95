"""What the page's scripts compute by themselves, beside Python: columns, effects, shapes, files."""

import csv
import io
import math
import re
from base64 import b64encode

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from gramfold.diagnostics import differences
from gramfold.report import page
from gramfold.report.blocks import Blocks
from gramfold.report.columns import columns_of
from gramfold.report.payload import Payload
from tests.report.browser.visit import Visit

SHARED = ("unpack", "differences", "statistics", "grid", "csv", "format", "scales")
RNG = np.random.default_rng(5)
N = 400
TABLE = pd.DataFrame(
    {
        "whole": RNG.integers(-40, 900, N),
        "few": RNG.integers(0, 3, N) * 0.1,
        "real": RNG.normal(size=N) * 1e-7,
        "gaps": np.where(RNG.uniform(size=N) < 0.3, np.nan, RNG.normal(size=N)),
        "infinite": np.where(
            np.arange(N) % 50 == 7, -np.inf, np.where(np.arange(N) % 50 == 8, np.inf, RNG.normal(size=N))
        ),
        "huge": RNG.normal(size=N) * 1e300,
        "constant": 7.25,
        "yes": RNG.uniform(size=N) < 0.4,
        "kind": pd.Categorical(RNG.choice(["α, β", "=1+1", "</script>", "red"], N)),
        "many": [f"level {k}" for k in RNG.integers(0, 70, N)],
        "half": np.where(RNG.uniform(size=N) < 0.5, None, RNG.choice(list("xy"), N)),
        "day": np.datetime64("1999-12-30") + RNG.integers(0, 60, N).astype("timedelta64[D]"),
        "moment": pd.Timestamp("2024-02-28 23:59:58") + pd.to_timedelta(RNG.integers(0, 10**6, N), unit="s"),
        "name": [f"row {i} “{chr(0x4E00 + i)}”" for i in range(N)],
    }
)


@pytest.fixture(scope="module")
def table_page(tmp_path_factory):
    """A page with this table, whose scripts stand in `window.shared`."""
    blocks = Blocks()
    columns = [raw.read().as_classes().written(blocks) for raw in columns_of(TABLE, N)]
    payload = Payload({"title": "Scripts", "columns": columns}, blocks.finished())
    order = {}
    for name in SHARED:
        order = page._in_order(f"shared/{name}.js", order)
    scripts = "\n".join(page._without_imports(page._file(name)) for name in order)
    names = sorted(set(re.findall(r"^(?:async )?(?:function|const) (\w+)", scripts, re.MULTILINE)))
    held = "".join(
        f'<script type="application/octet-stream" id="block-{k}">{b64encode(block).decode()}</script>'
        for k, block in enumerate(payload.blocks)
    )
    path = tmp_path_factory.mktemp("scripts") / "scripts.html"
    path.write_text(
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Scripts</title><body>'
        f'<script type="application/json" id="manifest">{payload.text}</script>{held}'
        f'<script type="module">{scripts}\nwindow.shared = {{ {", ".join(names)} }};\n'
        "const blocks = await unpackBlocks();\n"
        "window.columns = readManifest().columns.map((column) => columnOf(column, blocks));\n"
        'document.body.dataset.ready = "true";</script></body></html>',
        "utf-8",
    )
    return path


def told(seen, column, what):
    """What a column says of every row; JSON has no infinite numbers."""
    script = f"([j, n]) => Array.from({{ length: n }}, (_, i) => String(columns[j].{what}(i)))"
    return seen.value(script, [list(TABLE).index(column), N])


@pytest.fixture(scope="module")
def scripts(browser, table_page):
    """The page, open for all tests of this file: none of them changes it."""
    with Visit(browser, table_page) as seen:
        yield seen
        assert seen.complaints == []


@pytest.mark.parametrize("name", ["whole", "few", "real", "gaps", "infinite", "huge", "constant"])
def test_numbers_come_back_to_the_last_bit(scripts, name):
    found = [float(text.replace("Infinity", "inf")) if text else math.nan for text in told(scripts, name, "exact")]
    np.testing.assert_array_equal(found, TABLE[name].to_numpy(float))


@pytest.mark.parametrize("name", ["kind", "many", "half", "name", "yes"])
def test_texts_and_categories_come_back(scripts, name):
    wanted = ["" if pd.isna(value) else str(value) for value in TABLE[name]]
    assert told(scripts, name, "at") == wanted
    assert told(scripts, name, "missing") == [str(pd.isna(value)).lower() for value in TABLE[name]]


def test_days_and_moments_are_told_as_they_are(scripts):
    assert told(scripts, "day", "text") == TABLE["day"].dt.strftime("%Y-%m-%d").tolist()
    assert told(scripts, "moment", "exact") == TABLE["moment"].dt.strftime("%Y-%m-%d %H:%M:%S").tolist()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.995])
def test_differences_are_those_of_python(scripts, share):
    rng = np.random.default_rng(int(1000 * share))
    chosen = np.where(TABLE["gaps"].fillna(0) > 0, rng.uniform(size=N) < share, rng.uniform(size=N) < share / 3)
    chosen[:2] = True
    names = ["whole", "few", "real", "gaps", "huge", "constant", "kind", "many", "half"]
    found = scripts.value(
        """async ([wanted, mask]) => (await shared.differencesOf(wanted.map((j) => columns[j]), Uint8Array.from(mask)))
          .map((entry) => [entry.name, String(entry.effect), String(entry.lower), String(entry.upper),
            String(entry.chosen), String(entry.rest), entry.known, entry.clear, Boolean(entry.spread)])""",
        [[list(TABLE).index(name) for name in names], chosen.astype(int).tolist()],
    )
    wanted = differences(TABLE[names], chosen)
    order = {name: j for j, name in enumerate(wanted.names)}
    assert sorted(entry[0] for entry in found) == sorted(order)
    which = [order[entry[0]] for entry in found]
    for k, values in enumerate((wanted.effects, wanted.lower, wanted.upper, wanted.chosen, wanted.rest), start=1):
        np.testing.assert_allclose([float(entry[k]) for entry in found], values[which], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal([entry[6] for entry in found], wanted.known[which])
    np.testing.assert_array_equal([entry[7] for entry in found], wanted.clear[which])
    sizes = np.abs(np.nan_to_num(wanted.effects[which], nan=-1))
    clear, spread = wanted.clear[which], np.array([entry[8] for entry in found])
    assert not (clear & spread).any()
    ranks = np.where(clear, 0, np.where(spread, 1, 2))
    assert (np.diff(ranks) >= 0).all()
    for rank in range(3):
        assert (np.diff(np.round(sizes[ranks == rank], 12)) <= 0).all()


def test_another_spread_of_the_same_level_is_found(scripts):
    values = TABLE["whole"].to_numpy(float)
    middle = np.abs(values - np.median(values)) < 0.25 * np.subtract(*np.quantile(values, [0.75, 0.25]))
    found = scripts.value(
        "async ([j, mask]) => (await shared.differencesOf([columns[j]], Uint8Array.from(mask)))[0].spread",
        [list(TABLE).index("whole"), middle.astype(int).tolist()],
    )
    assert found["ratio"] < 0.5
    assert found["chosen"] == pytest.approx(np.quantile(values[middle], [0.25, 0.75]), rel=0.2)


def test_quantiles_of_the_scripts_are_those_of_scipy(scripts):
    tails = [1e-12, 1e-6, 0.0003, 0.025, 0.3, 0.5, 0.8]
    found = scripts.value("tails => tails.map((tail) => shared.normalDeviate(tail))", tails)
    np.testing.assert_allclose(found, stats.norm.isf(tails), rtol=1e-12, atol=1e-14)
    asked = [
        (a, b, share) for a in (1, 7, 400, 50_000) for b in (1, 30, 90_000) for share in (1e-5, 0.025, 0.5, 0.9995)
    ]
    found = scripts.value("asked => asked.map(([a, b, share]) => shared.betaQuantile(a, b, share))", asked)
    np.testing.assert_allclose(found, [special.betaincinv(*one) for one in asked], rtol=1e-8)


def test_rows_within_a_lasso_are_those_of_the_even_odd_rule(scripts):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(500, 2)).round(3)
    polygon = np.column_stack([np.cos(np.arange(9) * 2.8), np.sin(np.arange(9) * 2.8)]) * rng.uniform(0.5, 2, (9, 1))
    found = scripts.value(
        """([x, y, polygon]) => { const rows = x.map((_, i) => i);
          return Array.from(shared.rowsInPolygon(shared.createGrid(Float32Array.from(x), Float32Array.from(y), rows),
            polygon)); }""",
        [points[:, 0].tolist(), points[:, 1].tolist(), polygon.ravel().tolist()],
    )
    assert found == [i for i, point in enumerate(points.astype(np.float32)) if _crossings(point, polygon) % 2]
    assert 20 < len(found) < 400


def _crossings(point, polygon):
    """Edges that a ray to the right meets."""
    count = 0
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        if (ay > point[1]) != (by > point[1]):
            count += point[0] < ax + (point[1] - ay) * (bx - ax) / (by - ay)
    return count


def test_the_nearest_row_is_the_nearest(scripts):
    points, asked = np.random.default_rng(3).normal(size=(300, 2)), np.random.default_rng(4).normal(size=(60, 2))
    found = scripts.value(
        """([x, y, asked]) => { const grid = shared.createGrid(x, y, x.map((_, i) => i));
          return asked.map(([a, b]) => shared.nearestRow(grid, a, b, 0.3)); }""",
        [points[:, 0].tolist(), points[:, 1].tolist(), asked.tolist()],
    )
    away = np.linalg.norm(points[None] - asked[:, None], axis=2)
    assert found == np.where(away.min(axis=1) <= 0.3, away.argmin(axis=1), -1).tolist()
    assert -1 in found


def test_files_of_rows_are_read_as_they_were_and_run_nothing(scripts):
    cells = [
        "plain",
        'say "hi", please',
        "two\r\nlines",
        " spaced ",
        "",
        "−3",
        "-3.5",
        "+7e-3",
        "=1+1",
        "@x",
        "-x",
        "+x",
        "\tx",
        'a;"=1"',
        "a\t@x;\n+1",
    ]
    text = scripts.value(
        """async (cells) => (await shared.csvParts([{ name: "=name", cell: (i) => cells[i] }, { name: "b, c",
          cell: (i) => String(i) }], cells.map((_, i) => i))).join("")""",
        cells,
    )
    assert text.startswith("\ufeff")
    found = list(csv.reader(io.StringIO(text[1:], newline="")))
    harmless = [*cells[:8], *(f"'{cell}" for cell in cells[8:13]), 'a;\'"=1"', "a\t'@x;\n'+1"]
    assert all(line.startswith('"') for line in text.split("\r\n") if ";" in line or line.startswith("'\t"))
    assert found == [["'=name", "b, c"], *([cell, str(i)] for i, cell in enumerate(harmless))]


def test_places_among_the_largest_numbers_are_numbers(scripts):
    found = scripts.value(
        """() => { const far = 1.7e308; return [shared.shareBetween(far / 2, -far, far), shared.shareBetween(3, 3, 3),
          shared.quantileOf([-far, far], 0.75) / far, shared.roundTicks(-far, far, 4).length]; }"""
    )
    assert found[:3] == pytest.approx([0.75, 0, 0.5])
    assert 3 <= found[3] <= 6


@pytest.mark.parametrize(
    ("value", "digits", "wanted"),
    [
        (0.1 + 0.2, 4, "0.3"),
        (-1234.5678, 6, "−1234.57"),
        (1e-9, 3, "1e−9"),
        (12345678, 4, "12345678"),
        (0, 4, "0"),
        (1.5e12, 3, "1.5e12"),
    ],
)
def test_numbers_are_told_shortly(scripts, value, digits, wanted):
    assert scripts.value("([value, digits]) => shared.tellNumber(value, digits)", [value, digits]) == wanted
