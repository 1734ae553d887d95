"""The map by mouse: where rows stand, moving and zooming, hover, colours, groups, names, arrows, axes, theme."""

import itertools

import numpy as np
import pandas as pd
import pytest

from gramfold.diagnostics import faults, loadings
from gramfold.report import write_report
from tests.report.browser.visit import PHONE, PHONE_LATER, WIDTHS, numbers_in

LATER = [pytest.param(name, marks=pytest.mark.slow) for name in ("solid", "faces", "thinned")]


def alone(places, at_least):
    """Rows that no other row is near to on the page, of (n, 2) places."""
    away = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(away, np.inf)
    return np.flatnonzero(away.min(axis=1) > at_least)


def rgb(color):
    return np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)])


def color_at(pixels, corner, place):
    x, y = (round(value) for value in np.subtract(place, corner))
    return pixels[y, x]


@WIDTHS
def test_rows_stand_where_the_coordinates_say_in_the_colors_of_the_legend(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.to_map()
    places = seen.places(range(len(roll.Y)))
    # one scale for both directions, the second coordinate upwards
    scale = np.ptp(places[:, 0]) / np.ptp(roll.Y[:, 0])
    wanted = roll.Y * [scale, -scale]
    np.testing.assert_allclose(places - places.mean(axis=0), wanted - wanted.mean(axis=0), atol=0.05)
    left, top, right, bottom = seen.box()
    assert ((places > [left, top]) & (places < [right, bottom])).all()
    seen.page.locator("#names").uncheck()
    pixels, colors = seen.pixels(), seen.value("() => window.gramfold.colors()")
    some = alone(places, 7)
    assert len(some) >= 5
    for i in some:
        assert np.abs(color_at(pixels, (left, top), places[i]) - rgb(colors[i])).max() < 60, i
    assert len({colors[i] for i in range(len(colors))}) == 6  # five kinds, and the rows without one


@WIDTHS
def test_a_drag_moves_the_map_and_a_button_brings_it_back(visit, report, size):
    seen = visit(report("roll").path, size=size)
    seen.to_map()
    before = seen.places(range(20))
    left, top, right, bottom = seen.box()
    middle = np.array([left + right, top + bottom]) / 2
    seen.drag(tuple(middle), tuple(middle + [55, -32]))
    np.testing.assert_allclose(seen.places(range(20)), before + [55, -32], atol=0.6)
    assert seen.chosen() == []
    seen.page.locator("#reset").click()
    seen.to_map()
    np.testing.assert_allclose(seen.places(range(20)), before, atol=0.6)


@WIDTHS
def test_the_wheel_zooms_about_the_pointer_and_buttons_about_the_middle(visit, report, size):
    seen = visit(report("roll").path, size=size)
    seen.to_map()
    left, top, right, bottom = seen.box()
    middle = np.array([left + right, top + bottom]) / 2
    before = seen.places(range(20))
    x, y = seen.place(7)
    seen.page.mouse.move(x, y)
    seen.page.keyboard.down("Control")
    seen.page.mouse.wheel(0, -300)
    seen.page.keyboard.up("Control")
    seen.until("() => window.gramfold.scale() > 1.3")
    after = seen.places(range(20))
    factor = seen.value("() => window.gramfold.scale()")
    np.testing.assert_allclose(after[7], (x, y), atol=0.6)
    np.testing.assert_allclose(after - after[7], factor * (before - before[7]), atol=1.0)
    seen.page.locator("#reset").click()
    for button, wanted in (("#zoom-in", 1.5), ("#zoom-out", 1.0), ("#zoom-out", 1 / 1.5)):
        seen.page.locator(button).click()
        assert seen.value("() => window.gramfold.scale()") == pytest.approx(wanted, rel=1e-6)
    seen.to_map()
    np.testing.assert_allclose(seen.places(range(20)) - middle, (before - middle) / 1.5, atol=1.0)


def test_the_wheel_scrolls_the_page_until_the_map_is_clicked(visit, report):
    seen = visit(report("roll").path, size=(1000, 600))
    seen.to_map()
    left, top, right, _ = seen.box()
    seen.page.mouse.move((left + right) / 2, top + 40)
    before = seen.value("() => scrollY")
    seen.page.mouse.wheel(0, 60)
    seen.until("before => scrollY > before", before)
    assert seen.value("() => window.gramfold.scale()") == pytest.approx(1.0)
    assert "wheel zooms" in seen.text(".wheel-hint.seen")
    seen.page.wait_for_selector(".wheel-hint.seen", state="detached")
    seen.page.locator("#canvas").focus()
    seen.page.wait_for_timeout(250)  # a wheel goes on to scroll the page for a moment
    seen.page.mouse.wheel(0, -300)
    seen.until("() => window.gramfold.scale() > 1.3")


@WIDTHS
def test_the_pointer_on_a_row_shows_its_name_and_values(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.to_map()
    assert not seen.shown("#hover")
    for row in alone(seen.places(range(len(roll.table))), 6)[:2].tolist():
        seen.hover(row)
        assert seen.shown("#hover")
        words = seen.text("#hover")
        assert roll.table["name"][row] in words
        assert f"row {row}" in words
        terms = dict(zip(seen.texts("#hover dt"), seen.texts("#hover dd"), strict=True))
        assert terms["kind"] == (roll.table["kind"][row] or "missing")
        assert list(terms) == ["kind", "along", "gaps", "many", "day", "remark"]  # before what was mapped
        assert numbers_in(terms["along"]) == pytest.approx([roll.table["along"][row]], rel=1e-4)
        box = seen.box("#hover")
        assert box[0] >= 0
        assert box[2] <= size[0]
    seen.page.mouse.move(2, 2)
    assert not seen.shown("#hover")


@PHONE_LATER
def test_the_pointer_on_a_picture_shows_it(visit, report, size):
    faces = report("faces")
    seen = visit(faces.path, size=size)
    seen.to_map()
    seen.hover(8)
    drawn = seen.value(
        """() => { const canvas = document.querySelector("#hover canvas"), small = new OffscreenCanvas(8, 8);
          small.getContext("2d").drawImage(canvas, 0, 0, 8, 8);
          return Array.from(small.getContext("2d").getImageData(0, 0, 8, 8).data).filter((_, k) => k % 4 === 0); }"""
    )
    wanted = faces.X[8]
    assert np.corrcoef(drawn, wanted)[0, 1] > 0.99


@PHONE_LATER
def test_any_column_colors_the_map(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    measured = faults(roll.model)
    options = dict(
        zip(
            seen.value("() => [...document.querySelectorAll('#color option')].map((option) => option.textContent)"),
            itertools.count(),
        )
    )
    assert not {"remark", "name"} & options.keys()  # names are no colours
    for name in ("kind", "many"):
        seen.page.locator("#color").select_option(label=name)
        colors = np.array(seen.value("() => window.gramfold.colors()"))
        counts = roll.table[name].value_counts()
        told = dict(
            zip(
                seen.texts("#legend .group .name"),
                (numbers_in(text)[0] for text in seen.texts("#legend .group .count")),
                strict=True,
            )
        )
        missing = int(roll.table[name].isna().sum())
        assert told == {**counts.to_dict(), **({"missing": missing} if missing else {})}
        for level in counts.index:
            assert len(set(colors[(roll.table[name] == level).to_numpy()])) == 1
    known = {"along": roll.table["along"], "gaps": roll.table["gaps"], "day": roll.table["day"].astype("int64")}
    known |= {fault: getattr(measured, fault).per_point for fault in ("torn", "glued", "strained")}
    grey = None
    for name, values in known.items():
        seen.page.locator("#color").select_option(label=name)
        colors = np.array(seen.value("() => window.gramfold.colors()"))
        values = np.asarray(values, dtype=float)
        order = np.argsort(values)[: int(np.isfinite(values).sum())]
        runs = [color for color, _ in itertools.groupby(colors[order])]
        assert len(runs) == len(set(runs)), name  # a larger value never has the colour of a smaller one again
        different = len(set(values[order]))
        assert len(runs) >= (40 if different > 100 else 2), name  # a few values far out have the colour of the end
        absent = set(colors[~np.isfinite(values)])
        assert not absent & set(runs)
        assert len(absent) == (1 if np.isnan(values).any() else 0)
        bar = seen.value(
            "() => [...document.querySelectorAll('#legend svg.ramp rect')].map((r) => r.getAttribute('fill'))"
        )
        for row, end in ((order[0], bar[-64]), (order[-1], bar[-1])):  # 64 steps below the counts, from low to high
            assert np.abs(rgb(colors[row]) - rgb(end)).max() < 25, name
        grey = next(iter(absent), grey)
        if grey:
            assert np.abs(rgb(grey) - rgb(bar[-64])).max() > 40, name
        if name == "along":
            share = (values - values.min()) / np.ptp(values)
            for row in order[::17]:
                step = rgb(bar[-64 + min(int(64 * share[row]), 63)])
                assert np.abs(rgb(colors[row]) - step).max() < 25, row
        range_told = seen.page.locator("#legend svg.ramp").get_attribute("aria-label")
        assert name in range_told
    for name in ("density", "extrapolation", "moved"):
        assert name in options


@WIDTHS
def test_groups_are_switched_off_and_on_in_the_legend(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.page.locator("#names").uncheck()
    kinds = roll.table["kind"]
    seen.to_map()
    places = seen.places(range(len(kinds)))
    amber = np.flatnonzero(kinds == "amber")
    some = [i for i in alone(places, 5) if i in set(amber)]
    corner = seen.box()[:2]
    shown = seen.pixels()
    seen.page.locator("#legend .group", has_text="amber").click()
    assert seen.value("() => window.gramfold.hidden()") == amber.tolist()
    seen.page.mouse.move(2, 2)
    hidden = seen.pixels()
    changed = [
        np.abs(color_at(shown, corner, places[i]) - color_at(hidden, corner, places[i])).max() > 40 for i in some
    ]
    assert len(some) >= 2
    assert all(changed)
    # rows that are not seen are neither pointed at nor chosen
    seen.page.mouse.move(*places[some[0]])
    assert seen.value("() => window.gramfold.pointed()") != some[0]
    seen.page.locator("#choose-view").click()
    assert seen.chosen() == np.flatnonzero(kinds != "amber").tolist()
    seen.page.locator("#clear").click()
    seen.page.locator("#tool-rectangle").click()
    seen.to_map()
    left, top, right, bottom = seen.box()
    seen.drag((left + 1, top + 1), (right - 1, bottom - 1))
    assert seen.chosen() == np.flatnonzero(kinds != "amber").tolist()
    seen.page.locator("#legend").get_by_role("button", name="Show all").click()
    assert seen.value("() => window.gramfold.hidden()") == []
    seen.page.locator("#legend .group", has_text="cedar").hover()  # two more buttons appear under the pointer
    seen.page.get_by_role("button", name="Show only cedar").click()
    assert seen.value("() => window.gramfold.hidden()") == np.flatnonzero(kinds != "cedar").tolist()
    seen.page.get_by_role("button", name="Choose the rows of cedar").click()
    assert seen.chosen() == np.flatnonzero(kinds == "cedar").tolist()


@PHONE_LATER
def test_names_of_groups_stand_among_their_rows(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.to_map()
    names = seen.value(
        """() => [...document.querySelectorAll("#stage .names > *:not([hidden])")].map((label) => {
          const box = label.getBoundingClientRect();
          return [label.textContent, box.x + box.width / 2, box.y + box.height / 2]; })"""
    )
    places = seen.places(range(len(roll.table)))
    assert {name for name, *_ in names} <= set(roll.table["kind"].dropna())
    assert len(names) >= 3
    for name, *place in names:
        nearest = np.argsort(np.linalg.norm(places - place, axis=1))[:5]
        assert (roll.table["kind"].iloc[nearest] == name).sum() >= 3, name
    seen.page.locator("#names").uncheck()
    assert seen.page.locator("#stage .names > *:not([hidden])").count() == 0


@WIDTHS
def test_arrows_point_where_columns_grow(visit, report, size):
    solid = report("solid")
    seen = visit(solid.path, size=size)
    assert seen.page.locator("#stage .arrows line").count() == 0
    seen.page.locator("#arrows").check()
    drawn = seen.value(
        """() => [...document.querySelectorAll("#stage .arrows line")].map((line, k) => [
          document.querySelectorAll("#stage .arrows text")[k]?.textContent ?? "",
          ...["x1", "y1", "x2", "y2"].map((name) => Number(line.getAttribute(name)))])"""
    )
    slopes = np.linalg.lstsq(solid.Y[:, :2], solid.X - solid.X.mean(), rcond=None)[0].T  # how columns grow along both
    # of the variance of the map, what each column makes up
    means = loadings(solid.model)
    variance = solid.Y.var(axis=0) * means.explained
    shares = variance @ means.shares / variance.sum()
    assert shares.sum() == pytest.approx(1.0)
    assert len(drawn) >= 3
    for words, x1, y1, x2, y2 in drawn:
        name = next(name for name in solid.X if words.startswith(name))
        j = list(solid.X).index(name)
        direction = np.array([x2 - x1, y1 - y2])
        slope = slopes[j]
        # turned as the column grows, or as its arrow says what the axes are made of
        assert direction @ slope > 0.9 * np.linalg.norm(direction) * np.linalg.norm(slope), name
        assert numbers_in(words)[0] == pytest.approx(100 * shares[j], abs=1.0), name
    seen.page.locator("#arrows").uncheck()
    assert seen.page.locator("#stage .arrows line").count() == 0


LABELS = """selector => [...document.querySelectorAll(selector)].map((label) => {
  const box = label.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; })"""


def covered(boxes):
    """Whether one of the boxes of words covers another by more than a rim."""
    return any(
        min(a[2], b[2]) - max(a[0], b[0]) > 8 and min(a[3], b[3]) - max(a[1], b[1]) > 8
        for a, b in itertools.combinations(boxes, 2)
    )


@PHONE_LATER
def test_arrows_and_their_names_stay_on_the_stage(visit, report, size):
    seen = visit(report("solid").path, size=size)
    seen.page.locator("#arrows").check()
    seen.to_map()
    left, top, right, bottom = seen.box("#stage")
    for zooms in range(3):
        for _ in range(3 * (zooms > 0)):
            seen.page.locator("#zoom-in").click()
        seen.page.wait_for_timeout(300)  # names are placed when the camera rests
        seen.to_map()
        left, top, right, bottom = seen.box("#stage")
        names = seen.value(LABELS, "#stage .arrows text:not([hidden])")
        heads = seen.value(LABELS, "#stage .arrows path")
        assert len(names) == len(heads) == 5
        for box in names + heads:
            assert min(box[0] - left, box[1] - top, right - box[2], bottom - box[3]) >= -3


@PHONE_LATER
def test_names_of_rows_are_shown_where_there_is_room(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    assert not seen.page.locator("#row-names").is_checked()  # of 300 rows
    seen.page.locator("#row-names").check()
    seen.to_map()
    words = "() => [...document.querySelectorAll('#stage .row-names text')].map((one) => one.textContent)"
    names = seen.value(words)
    assert 5 < len(names) < 300
    assert set(names) <= set(roll.table["name"])
    assert not covered(seen.value(LABELS, "#stage .row-names text, #stage .names text:not([hidden])"))
    seen.page.locator("#zoom-in").click()
    seen.page.wait_for_timeout(300)
    assert set(seen.value(words)) - set(names)
    assert visit(report("hostile").path).page.locator("#row-names").is_checked()  # of 120 rows


def test_many_groups_are_named_only_when_asked(visit, report):
    seen = visit(report("roll").path, size=PHONE)
    seen.page.locator("#color").select_option(label="many")
    assert not seen.page.locator("#names").is_checked()
    assert seen.page.locator("#stage .names > *:not([hidden])").count() == 0
    seen.page.locator("#names").check()
    assert 3 < seen.page.locator("#stage .names > *:not([hidden])").count() < 20


def test_a_skewed_column_is_colored_by_rank_until_the_reader_says_otherwise(visit, tmp_path):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 3))
    wealth = np.exp(3 * rng.normal(size=200))
    path = write_report(tmp_path / "skewed.html", X, X[:, :2], table={"wealth": wealth, "x": X[:, 0]}, color="wealth")
    seen = visit(path)
    number = "() => new Set(window.gramfold.colors()).size"
    assert seen.page.locator("#ramp-by").input_value() == "rank"
    assert "By rank" in seen.text("#legend")
    by_rank = seen.value(number)
    assert by_rank > 120
    seen.page.locator("#ramp-by").select_option("value")
    assert seen.value(number) < by_rank / 2
    seen.page.locator("#color").select_option(label="x")
    assert seen.page.locator("#ramp-by").input_value() == "value"
    # columns of the table come before what was mapped, which has no names here; x is not listed twice
    options = seen.texts("#color option")
    assert options[:3] == ["one colour", "wealth", "x"]
    assert not any(name.startswith("column") for name in options)


@WIDTHS
def test_other_axes_are_picked(visit, report, size):
    solid = report("solid")
    seen = visit(solid.path, size=size)
    seen.page.locator("#axis-x").select_option(index=2)
    seen.until("() => document.getElementById('axis-y').value === '1'")
    seen.to_map()
    places = seen.places(range(100))
    scale = np.ptp(places[:, 0]) / np.ptp(solid.Y[:100, 2])
    wanted = solid.Y[:100, [2, 1]] * [scale, -scale]
    np.testing.assert_allclose(places - places.mean(axis=0), wanted - wanted.mean(axis=0), atol=0.1)


@WIDTHS
def test_three_axes_are_turned_by_a_drag(visit, report, size):
    solid = report("solid")
    seen = visit(solid.path, size=size)
    seen.page.locator("#rotate").click()
    seen.to_map()
    left, top, right, bottom = seen.box()
    middle = ((left + right) / 2, (top + bottom) / 2)

    def drawn():
        places = seen.places(range(100))
        return places - places.mean(axis=0)

    def left_over(places):
        """What no turn of the three coordinates explains, seen from far away: a plane of two orthogonal directions."""
        Y = solid.Y[:100] - solid.Y[:100].mean(axis=0)
        directions = np.linalg.lstsq(Y, places, rcond=None)[0]
        lengths = np.linalg.norm(directions, axis=0)
        assert lengths[0] == pytest.approx(lengths[1], rel=1e-3)
        assert abs(directions[:, 0] @ directions[:, 1]) < 1e-3 * lengths[0] ** 2
        return np.abs(places - Y @ directions).max()

    before = drawn()
    assert left_over(before) < 0.1
    seen.drag(middle, (middle[0] + 60, middle[1] + 20))
    after = drawn()
    assert left_over(after) < 0.1
    assert np.abs(after - before).max() > 10
    assert seen.chosen() == []
    row = int(alone(seen.places(range(len(solid.Y))), 6)[0])
    x, y = seen.place(row)
    seen.page.wait_for_timeout(300)  # what is found by place is made anew when the turning has ended
    seen.page.mouse.move(x + 2, y)
    seen.page.mouse.move(x, y)
    assert seen.value("() => window.gramfold.pointed()") == row
    seen.page.locator("#rotate").click()
    np.testing.assert_allclose(drawn()[:, 0] / drawn()[:, 0].std(), _scaled(solid.Y[:100, 0]), atol=0.01)


def _scaled(values):
    return (values - values.mean()) / values.std()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_is_that_of_the_system_until_the_button_is_pressed(visit, report, scheme):
    seen = visit(report("roll").path, color_scheme=scheme)

    def brightness():
        color = seen.value("() => getComputedStyle(document.body).backgroundColor")
        return np.mean(numbers_in(color)[:3])

    seen.page.locator("#color").select_option(label="along")
    first = brightness()
    assert (first > 200) == (scheme == "light")
    colors = set(seen.value("() => window.gramfold.colors()"))
    seen.page.locator("#theme").click()
    assert (brightness() > 200) == (scheme == "dark")
    assert set(seen.value("() => window.gramfold.colors()")) != colors  # ramps are cut where they would not be seen
    pixels = seen.pixels()
    assert (np.median(pixels) > 200) == (scheme == "dark")
    seen.page.locator("#theme").click()
    assert brightness() == first
    assert set(seen.value("() => window.gramfold.colors()")) == colors


@pytest.mark.parametrize("name", ["roll", "hostile", *LATER])
def test_no_page_scrolls_sideways(visit, report, name):
    seen = visit(report(name).path, size=(2560, 900))
    for width in (2560, 1440, 1000, 720, 390) if name in ("roll", "hostile") else (1440, 390):
        seen.page.set_viewport_size({"width": width, "height": 900})
        assert seen.value("() => document.documentElement.scrollWidth") <= width


def test_a_thinned_page_says_so_and_keeps_the_numbers_of_its_rows(visit, report):
    thinned = report("thinned")
    seen = visit(thinned.path)
    assert {500, 2000} <= set(numbers_in(seen.text("#map")))
    seen.page.locator("#choose-view").click()
    rows = seen.chosen()
    assert len(rows) == 500
    assert max(rows) > 1500
    saved = pd.DataFrame(seen.saved_rows()[1:], columns=seen.saved_rows()[0])
    assert saved["row"].astype(int).tolist() == rows
    assert saved["number"].astype(int).tolist() == rows  # a column that holds the numbers of rows


def test_columns_of_the_largest_numbers_are_drawn(visit, tmp_path):
    """Their differences are no numbers, but their places on a ramp are; half of the rows are above the hint."""
    far = 1.7e308 * np.linspace(-1, 1, 101)
    places = np.stack([np.arange(101.0), np.arange(101.0) % 7], axis=1)
    path = write_report(tmp_path / "far.html", places, places, table={"far": far}, color="far", dimension=False)
    seen = visit(path)
    drawing = seen.page.locator("#legend svg.ramp").evaluate("svg => svg.outerHTML")
    assert "NaN" not in drawing
    colors = seen.value("() => window.gramfold.colors()")
    assert len(set(colors)) > 50
    assert seen.text("#search-help").endswith("far > 0")
