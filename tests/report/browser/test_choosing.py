"""Choosing rows by mouse: search, lasso, rectangle, groups; their table, how they differ, and the file of them."""

import numpy as np
import pandas as pd
import pytest

from gramfold.diagnostics import differences
from tests.report.browser.visit import PHONE, PHONE_LATER, WIDTHS, Visit, numbers_in

COMPARED = ["breadth", "height", "depth", "along", "gaps", "kind", "many", "day"]  # not texts, not the label


def enclosed(places, corners):
    """Rows within an outline (even-odd rule), and those with the others so near to it that a pixel decides."""
    starts, ends = np.array(corners), np.roll(corners, -1, axis=0)
    x, y = places[:, None, 0], places[:, None, 1]
    (ax, ay), (bx, by) = starts.T, ends.T
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = ((ay > y) != (by > y)) & (x < ax + (y - ay) * (bx - ax) / (by - ay))
    within = crossed.sum(axis=1) % 2 == 1
    along = ends - starts
    share = np.clip(((places[:, None] - starts) * along).sum(axis=2) / np.maximum((along**2).sum(axis=1), 1e-9), 0, 1)
    near = np.linalg.norm(starts + share[..., None] * along - places[:, None], axis=2).min(axis=1) < 1.5
    return set(np.flatnonzero(within & ~near).tolist()), set(np.flatnonzero(within | near).tolist())


def around(seen: Visit, share=0.33):
    """A shape with a dent in the middle of the map."""
    left, top, right, bottom = seen.box()
    middle, half = np.array([left + right, top + bottom]) / 2, np.array([right - left, bottom - top]) / 2
    spokes = [(0, -1), (0.9, -0.8), (1, 0.1), (0.2, 0.2), (0.7, 0.9), (-0.9, 1), (-1, -0.5)]
    return [tuple(middle + 2 * share * half * spoke) for spoke in np.array(spokes)]


@WIDTHS
@pytest.mark.parametrize("zoomed", [False, True], ids=["whole", "zoomed"])
def test_a_lasso_chooses_the_rows_within_it(visit, report, size, zoomed):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    if zoomed:
        seen.page.locator("#zoom-in").click()
    seen.page.locator("#tool-lasso").click()
    seen.to_map()
    corners = around(seen)
    places = seen.places(range(len(roll.Y)))
    seen.drag(*corners, corners[0], steps=4)
    sure, possible = enclosed(places, corners)
    found = set(seen.chosen())
    assert sure <= found <= possible
    assert 8 < len(found) < 270
    np.testing.assert_allclose(seen.places(range(20)), places[:20], atol=0.01)  # the map itself did not move
    count, of_all, *_ = numbers_in(seen.text("#chosen-count"))[0], numbers_in(seen.text("#chosen-count"))[-1]
    assert (count, of_all) == (len(found), len(roll.Y))


@WIDTHS
def test_a_rectangle_chooses_adds_and_takes_away(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.page.locator("#tool-rectangle").click()
    seen.to_map()
    places = seen.places(range(len(roll.Y)))
    left, top, right, bottom = seen.box()

    def dragged(x0, y0, x1, y1):
        x0, x1 = (left + share * (right - left) for share in (x0, x1))
        y0, y1 = (top + share * (bottom - top) for share in (y0, y1))
        seen.drag((x0, y0), (x1, y1))
        return enclosed(places, [(x0, y0), (x1, y0), (x1, y1), (x0, y1)])

    sure, possible = dragged(0.1, 0.1, 0.55, 0.9)
    first = set(seen.chosen())
    assert sure <= first <= possible
    assert len(first) > 30
    seen.page.keyboard.down("Control")
    sure, possible = dragged(0.8, 0.95, 0.5, 0.05)  # from the lower right corner to the upper left one
    seen.page.keyboard.up("Control")
    both = set(seen.chosen())
    assert first | sure <= both <= first | possible
    assert len(both) > len(first)
    seen.page.keyboard.down("Alt")
    sure, possible = dragged(0.3, 0.2, 0.7, 0.8)
    seen.page.keyboard.up("Alt")
    assert both - possible <= set(seen.chosen()) <= both - sure
    seen.page.locator("#invert").click()
    assert len(set(seen.chosen()) & (both - possible)) == 0
    seen.page.locator("#clear").click()
    assert seen.chosen() == []
    assert not seen.shown("#chosen")


@WIDTHS
def test_chosen_rows_stand_out_and_others_fade(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.page.locator("#names").uncheck()
    seen.to_map()
    before = seen.pixels()
    corner = seen.box()[:2]
    places = seen.places(range(len(roll.Y)))
    group = next(option for option in seen.texts("#choose-group option") if option.startswith("dune"))
    seen.page.locator("#choose-group").select_option(label=group)
    seen.to_map()
    after = seen.pixels()
    assert tuple(seen.box()[:2]) == pytest.approx(corner, abs=400)
    away = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(away, np.inf)
    alone = np.flatnonzero(away.min(axis=1) > 6)
    assert len(alone) > 8
    background = np.median(before.reshape(-1, 3), axis=0)
    chosen = set(np.flatnonzero(roll.table["kind"] == "dune"))
    for i in alone:
        x, y = (round(value) for value in places[i] - corner)
        contrast = [np.abs(pixels[y, x] - background).max() for pixels in (before, after)]
        assert (contrast[1] > 0.6 * contrast[0]) == (i in chosen), i


QUESTIONS = {
    "row “142” ü": lambda table: table.index == 142,
    "142": lambda table: table["name"].str.contains("142") | table["remark"].str.contains("142") | (table.index == 142),
    "cedar": lambda table: table["kind"] == "cedar",
    "kind: cedar": lambda table: table["kind"] == "cedar",
    "gate 16": lambda table: table["remark"].str.contains("gate 16"),
    "height > 10.5": lambda table: table["height"] > 10.5,
    "along 20..40": lambda table: table["along"].between(20, 40),
    "day >= 2024-11-01": lambda table: table["day"] >= "2024-11-01",
    "gaps <= 0": lambda table: table["gaps"] <= 0,
    "no such row": lambda table: table.index < 0,
}


@WIDTHS
def test_the_search_finds_names_numbers_and_values(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    field = seen.page.locator("#search")
    for asked, wanted in QUESTIONS.items():
        rows = np.flatnonzero(wanted(roll.table)).tolist()
        field.fill("")
        field.press_sequentially(asked)
        seen.until("() => !document.getElementById('search-results').hidden")
        seen.until("count => window.gramfold.marked().length === count", len(rows))
        assert sorted(seen.value("() => window.gramfold.marked()")) == rows
        before = seen.chosen()
        if not rows:
            assert "No row" in seen.text("#search-results")
        seen.page.keyboard.press("Enter")
        assert seen.chosen() == (rows or before)
    seen.page.keyboard.press("Escape")
    assert field.input_value() == ""
    assert seen.value("() => window.gramfold.marked()") == []


@PHONE_LATER
def test_one_of_the_rows_found_is_picked_by_keys_or_by_mouse(visit, report, size):
    seen = visit(report("roll").path, size=size)
    seen.page.locator("#search").press_sequentially("“00")
    entries = seen.page.locator("#search-results [role=option]")
    seen.until("() => document.querySelectorAll('#search-results [role=option]').length === 11")  # all ten, and each
    seen.page.keyboard.press("ArrowDown")
    seen.page.keyboard.press("ArrowDown")
    seen.page.keyboard.press("ArrowDown")
    assert seen.page.locator("#search-results [aria-selected=true]").count() == 1
    assert "“001”" in seen.text("#search-results [aria-selected=true]")
    seen.page.keyboard.press("Enter")
    assert seen.chosen() == [1]
    seen.page.keyboard.press("ArrowDown")
    assert seen.shown("#search-results")
    entries.nth(5).click()
    assert seen.chosen() == [4]


@WIDTHS
def test_a_click_chooses_a_row(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.to_map()
    places = seen.places(range(len(roll.Y)))
    away = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(away, np.inf)
    first, second = (int(i) for i in np.flatnonzero(away.min(axis=1) > 8)[:2])
    seen.click_row(first)
    assert seen.chosen() == [first]
    seen.to_map()
    seen.page.keyboard.down("Control")
    seen.click_row(second)
    seen.page.keyboard.up("Control")
    assert seen.chosen() == [first, second]


@PHONE_LATER
def test_the_table_holds_the_values_of_the_chosen_rows(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.page.locator("#search").fill("kind = birch")
    seen.page.keyboard.press("Enter")
    chosen = roll.table[roll.table["kind"] == "birch"]
    head = seen.texts("#chosen-table thead th")
    assert head[:2] == ["row", "name"]
    assert set(head[1:]) == set(roll.table)
    lines = seen.value(
        """() => [...document.querySelectorAll("#chosen-table tbody tr")].map(
          (line) => [...line.cells].map((cell) => cell.textContent))"""
    )
    assert [int(line[0]) for line in lines] == chosen.index.tolist()[:100]
    for line in lines:
        row = chosen.loc[int(line[0])]
        cells = dict(zip(head, line, strict=True))
        assert cells["name"] == row["name"]
        assert cells["remark"] == row["remark"]
        assert cells["day"] == f"{row['day']:%Y-%m-%d}"
        assert numbers_in(cells["along"]) == pytest.approx([row["along"]], rel=1e-5)
        assert numbers_in(cells["gaps"]) == pytest.approx([] if np.isnan(row["gaps"]) else [row["gaps"]], rel=1e-5)


def test_a_row_of_the_table_is_shown_on_the_map(visit, report):
    seen = visit(report("roll").path)
    seen.page.locator("#search").fill("kind = birch")
    seen.page.keyboard.press("Enter")
    line = seen.page.locator("#chosen-table tbody tr").nth(3)
    line.hover()
    assert seen.value("() => window.gramfold.pointed()") == int(line.locator("td").first.inner_text())


@PHONE_LATER
def test_how_they_differ_is_what_python_says_of_the_same_rows(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    for asked in ("along 20..40", "kind = ember", "height > 15"):
        _check_differences(seen, roll, asked)


def _check_differences(seen, roll, asked):
    seen.page.locator("#search").fill(asked)
    seen.page.keyboard.press("Enter")
    seen.until("() => document.getElementById('chosen').dataset.answered === 'true'")
    seen.page.locator("#differences").get_by_role("button", name="Show all").click()
    table = roll.table[COMPARED].assign(day=roll.table["day"].astype("datetime64[ms]").astype("int64").astype(float))
    wanted = differences(table, np.array(seen.chosen()))
    order = {name: j for j, name in enumerate(wanted.names)}
    found = seen.value(
        """() => [...document.querySelectorAll("#differences li[data-name]")].map((entry) => [entry.dataset.name,
          ...["effect", "lower", "upper"].map((name) => Number(entry.dataset[name])), entry.innerText])"""
    )
    assert sorted(entry[0] for entry in found) == sorted(order)
    which = [order[entry[0]] for entry in found]
    for k, values in enumerate((wanted.effects, wanted.lower, wanted.upper), start=1):
        np.testing.assert_allclose([entry[k] for entry in found], values[which], rtol=1e-6, atol=1e-9)
    told = numbers_in(seen.text("#differences"))
    assert told[:2] == [int(wanted.clear.sum()), len(wanted)]
    name, effect, *_, words = found[0]
    numbers = numbers_in(words.removeprefix(name))
    assert round(effect, 2) in numbers  # what is read is what was computed
    if name != "day" and not wanted.categories[order[name]]:
        for median in (wanted.chosen[order[name]], wanted.rest[order[name]]):
            assert any(number == pytest.approx(median, rel=1e-3) for number in numbers)


@WIDTHS
def test_the_file_of_chosen_rows_holds_the_values_of_the_table(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.page.locator("#search").fill("height > 12")
    seen.page.keyboard.press("Enter")
    head, *lines = seen.saved_rows()
    chosen = roll.table[roll.table["height"] > 12]
    saved = pd.DataFrame(lines, columns=head)
    assert saved["row"].astype(int).tolist() == chosen.index.tolist()
    for name in ("breadth", "height", "depth", "along", "gaps"):
        np.testing.assert_array_equal(pd.to_numeric(saved[name]), chosen[name])  # to the last bit
    for name in ("kind", "many", "remark", "name"):
        assert saved[name].tolist() == chosen[name].fillna("").tolist()
    assert pd.to_datetime(saved["day"]).tolist() == chosen["day"].tolist()
    for axis in range(2):
        place = saved[head[-2 + axis]].astype(float)
        np.testing.assert_allclose(place, roll.Y[chosen.index, axis], rtol=1e-6, atol=1e-6)
    names, _ = seen.download("#save-csv")
    assert names.endswith(".csv")


def test_more_rows_than_a_page_of_the_table_are_turned_over(visit, report):
    roll = report("roll")
    seen = visit(roll.path)
    seen.page.locator("#choose-view").click()
    assert seen.page.locator("#chosen-table tbody tr").count() == 100
    assert {1, 100, len(roll.Y)} <= set(numbers_in(seen.text("#chosen .pager")))
    seen.page.get_by_role("button", name="Next").click()
    first = seen.page.locator("#chosen-table tbody tr").first.locator("td").first.inner_text()
    assert first == "100"
    assert "A comparison needs" in seen.text("#differences")  # there is nobody else to compare with


def test_a_question_that_cannot_be_answered_is_not_understood(visit, report):
    roll = report("roll")
    seen = visit(roll.path)
    search = seen.page.locator("#search")
    for question in ("along > 5 and height < 3", "along between 3 and 4", "kind = birch and along < 3"):
        search.fill(question)
        seen.until("() => document.querySelector('#search-results').textContent.startsWith('Not understood')")
        assert "one column and one comparison, as in" in seen.text("#search-results")
        search.fill("")
        seen.until("() => document.querySelector('#search-results').hidden")
    search.fill("along > 1000000")
    seen.until("() => document.querySelector('#search-results').textContent === 'No row is like that'")
    search.fill("row 5")
    seen.page.keyboard.press("Enter")
    assert seen.chosen() == [5]


def test_buttons_say_whether_rows_are_added_or_taken_away(visit, report):
    seen = visit(report("roll").path, size=PHONE, has_touch=True, is_mobile=True)
    assert not seen.shown("#map-keys")
    assert not seen.shown("#how-add")
    seen.page.locator("#tool-rectangle").click()
    sizes = {}
    for how, low, high in (("replace", 0, 0.5), ("add", 0.5, 1), ("remove", 0, 0.5)):
        seen.page.locator(f"#how-{how}").click()
        seen.to_map()
        left, top, right, bottom = seen.box()
        across = right - left
        seen.drag((left + low * across + 1, top + 1), (left + high * across - 1, bottom - 1))
        sizes[how] = set(seen.chosen())
    assert sizes["replace"] < sizes["add"]
    assert sizes["remove"] == sizes["add"] - sizes["replace"]
    heights = "() => [...document.querySelectorAll('.check, summary')].map((one) => one.offsetHeight).filter(Boolean)"
    assert min(seen.value(heights)) >= 32
    assert all(seen.texts("#map .tools .tool-name"))
