"""The page by keys alone, by touch, and as a screen reader is told of it."""

import numpy as np
import pytest

from tests.report.browser.audits import CONTRAST, RING, TOLD
from tests.report.browser.visit import PHONE, WIDTHS, numbers_in

FOCUSED = """() => { const one = document.activeElement; return [one.tagName, one.id, one.className,
  one.getAttribute("aria-label") ?? one.labels?.[0]?.innerText ?? one.innerText ?? ""]; }"""


def to(seen, wanted, most=150):
    """Press Tab until the element with this id has the focus; what was passed on the way."""
    passed = []
    for _ in range(most):
        seen.page.keyboard.press("Tab")
        passed.append(seen.value(FOCUSED))
        if passed[-1][1] == wanted:
            return passed
    raise AssertionError(f"{wanted} was not reached, but {passed}")


@WIDTHS
def test_everything_is_reached_and_done_with_keys(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    press = seen.page.keyboard.press
    press("Tab")
    assert "Skip" in seen.value(FOCUSED)[3]  # past the map, for those who only read
    to(seen, "tool-lasso")
    press("Space")
    assert seen.page.locator("#tool-lasso").get_attribute("aria-pressed") == "true"
    to(seen, "zoom-in")
    press("Enter")
    assert seen.value("() => window.gramfold.scale()") == pytest.approx(1.5)
    to(seen, "reset")
    press("Enter")
    assert seen.value("() => window.gramfold.scale()") == pytest.approx(1.0)

    to(seen, "canvas")
    before = seen.places(range(30))
    press("ArrowRight")
    moved = seen.places(range(30)) - before
    assert moved[0, 0] < -20
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=0.01)
    press("ArrowDown")
    assert (seen.places(range(30)) - before)[0, 1] < -20
    press("+")
    assert seen.value("() => window.gramfold.scale()") > 1.1
    press("-")
    press("0")
    np.testing.assert_allclose(seen.places(range(30)), before, atol=0.6)

    to(seen, "search")
    seen.page.keyboard.type("kind = birch")
    press("Enter")
    birch = np.flatnonzero(roll.table["kind"] == "birch").tolist()
    assert seen.chosen() == birch
    press("Escape")  # of the search alone
    assert seen.chosen() == birch
    to(seen, "color")
    first = seen.page.locator("#color").input_value()
    press("ArrowDown")
    assert seen.page.locator("#color").input_value() != first
    press("ArrowUp")
    assert seen.page.locator("#color").input_value() == first
    # a group of the legend: hidden by its button
    for _ in range(40):
        press("Tab")
        if "group" in seen.value(FOCUSED)[2].split():
            break
    press("Space")
    hidden = seen.value("() => window.gramfold.hidden()")
    kind = roll.table["kind"].value_counts().index[0]
    assert hidden == np.flatnonzero(roll.table["kind"] == kind).tolist()
    press("Space")
    assert seen.value("() => window.gramfold.hidden()") == []
    to(seen, "names")
    press("Space")
    assert not seen.page.locator("#names").is_checked()
    to(seen, "choose-view")
    press("Enter")
    assert seen.chosen() == list(range(len(roll.Y)))
    to(seen, "choose-group")
    seen.page.keyboard.type("dune")
    press("Enter")
    dune = np.flatnonzero(roll.table["kind"] == "dune").tolist()
    seen.until("count => window.gramfold.chosen().length === count", len(dune))
    assert seen.chosen() == dune
    to(seen, "save-csv")
    with seen.page.expect_download() as caught:
        press("Enter")
    assert caught.value.suggested_filename.endswith(".csv")
    to(seen, "clear")
    press("Enter")
    assert seen.chosen() == []


def test_escape_on_the_map_clears_what_is_chosen(visit, report):
    seen = visit(report("roll").path)
    seen.page.locator("#choose-view").click()
    seen.page.locator("#canvas").focus()
    seen.page.keyboard.press("Escape")
    assert seen.chosen() == []


def test_the_focus_is_seen_wherever_it_is(visit, report):
    seen = visit(report("roll").path)
    seen.page.locator("#search").fill("kind = birch")
    seen.page.keyboard.press("Enter")
    seen.until("() => document.getElementById('chosen').dataset.answered === 'true'")
    seen.page.locator("h1").click()
    unseen = []
    for _ in range(60):
        seen.page.keyboard.press("Tab")
        ring = seen.value(RING)
        if ring is not True:
            unseen.append(ring)
    assert unseen == []


@pytest.mark.parametrize("name", ["roll", *(pytest.param(name, marks=pytest.mark.slow) for name in ("solid", "faces"))])
def test_a_screen_reader_is_told_what_everything_is(visit, report, name):
    seen = visit(report(name).path)
    seen.page.locator("#choose-view").click()
    found = seen.value(TOLD)
    assert found["seen"] > 40
    assert found["wrong"] == []
    assert found["twice"] == []
    assert found["headings"].count(1) == 1
    assert found["headings"][0] == 1
    assert max(np.diff(found["headings"])) <= 1  # no level is left out on the way down
    assert (found["language"], found["heads"], found["main"]) == ("en", 0, 1)


def test_what_happened_is_said_aloud(visit, report):
    roll = report("roll")
    seen = visit(roll.path)
    message = seen.page.locator("#message")
    assert message.get_attribute("role") == "status"
    seen.page.locator("#search").fill("kind = birch")
    seen.page.keyboard.press("Enter")
    assert numbers_in(message.inner_text()) == [(roll.table["kind"] == "birch").sum()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_background(visit, report, scheme):
    seen = visit(report("roll").path, color_scheme=scheme)
    seen.page.locator("#search").fill("kind = birch")
    seen.page.keyboard.press("Enter")
    seen.until("() => document.getElementById('chosen').dataset.answered === 'true'")
    found = seen.value(CONTRAST)
    assert found["seen"] > 300
    assert found["wrong"] == []


def test_fingers_move_zoom_and_choose(visit, report):
    roll = report("roll")
    seen = visit(roll.path, size=PHONE, has_touch=True, is_mobile=True, device_scale_factor=2)
    seen.to_map()
    left, top, right, bottom = seen.box()
    x, y = (left + right) / 2, (top + bottom) / 2
    touch = seen.page.context.new_cdp_session(seen.page)

    def fingers(kind, *places):
        points = [{"x": px, "y": py, "id": k} for k, (px, py) in enumerate(places)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    before = seen.places(range(20))
    fingers("touchStart", (x, y))
    for step in range(1, 6):
        fingers("touchMove", (x + 8 * step, y + 4 * step))
    fingers("touchEnd")
    moved = seen.places(range(20)) - before
    np.testing.assert_allclose(moved, np.broadcast_to([40, 20], moved.shape), atol=1.5)
    fingers("touchStart", (x - 20, y), (x + 20, y))
    for step in range(1, 6):
        fingers("touchMove", (x - 20 - 6 * step, y), (x + 20 + 6 * step, y))
    fingers("touchEnd")
    seen.until("() => window.gramfold.scale() > 1.8")
    assert seen.value("() => window.gramfold.scale()") == pytest.approx(100 / 40, rel=0.1)
    seen.page.locator("#tool-lasso").tap()
    seen.to_map()
    left, top, right, bottom = seen.box()
    corners = [(left + 20, top + 20), (right - 20, top + 20), (right - 20, bottom - 20), (left + 20, bottom - 20)]
    fingers("touchStart", corners[0])
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        for step in range(1, 6):
            fingers("touchMove", (ax + (bx - ax) * step / 5, ay + (by - ay) * step / 5))
    fingers("touchEnd")
    places = seen.places(range(len(roll.Y)))
    inside = ((places > [left + 20, top + 20]) & (places < [right - 20, bottom - 20])).all(axis=1)
    seen.until("() => window.gramfold.chosen().length > 0")
    assert len(set(seen.chosen()) ^ set(np.flatnonzero(inside).tolist())) <= 3
