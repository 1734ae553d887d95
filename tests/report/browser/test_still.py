"""Without WebGL, without scripts and on paper a still picture stands for the map, and all words are there."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.report.browser.visit import NO_WEBGL, WIDTHS

SECTIONS = ["verdict", "map", "quality", "distances", "spectrum", "dimension", "stability", "warnings", "made"]


@pytest.fixture(scope="module")
def plain_browser(playwright, chromium):
    browser = playwright.chromium.launch(executable_path=chromium, args=list(NO_WEBGL))
    yield browser
    browser.close()


def picture_is_drawn(seen):
    """The picture has the colours of several groups, and stands where it can be seen."""
    pixels = seen.pixels("#still")
    far = np.abs(pixels - np.median(pixels.reshape(-1, 3), axis=0)).max(axis=2) > 60
    assert far.mean() > 0.003
    colors = {tuple(color) for color in (pixels[far] // 64)}
    return len(colors) >= 4


@WIDTHS
def test_without_webgl_the_picture_stands_and_everything_else_works(visit, report, plain_browser, size):
    roll = report("roll")
    seen = visit(roll.path, size=size, browser=plain_browser)
    assert not seen.value("() => Boolean(document.createElement('canvas').getContext('webgl'))")
    assert seen.value("() => document.body.dataset.drawn") == "still"
    assert seen.shown("#still")
    assert not seen.shown("#canvas")
    assert picture_is_drawn(seen)
    assert "WebGL" in seen.text("#map")
    assert seen.page.locator("#tool-lasso").is_disabled()
    seen.page.locator("#search").fill("kind = dune")
    seen.page.keyboard.press("Enter")
    wanted = np.flatnonzero(roll.table["kind"] == "dune").tolist()
    assert seen.chosen() == wanted
    assert len(seen.saved_rows()) == 1 + len(wanted)
    assert seen.page.locator("#differences li[data-name]").count() > 5


def test_a_drawing_that_the_browser_takes_away_leaves_the_picture(visit, report):
    seen = visit(report("roll").path)
    assert not seen.shown("#still")
    seen.value("() => canvas.getContext('webgl').getExtension('WEBGL_lose_context').loseContext()")
    seen.page.wait_for_selector("#still", state="visible")
    assert seen.value("() => document.body.dataset.drawn") == "still"
    assert not seen.shown("#canvas")
    assert "load the page again" in seen.text("#message")
    seen.page.locator("#search").fill("kind = dune")
    seen.page.keyboard.press("Enter")
    assert seen.chosen()


@WIDTHS
def test_without_scripts_the_page_is_whole(visit, report, size):
    seen = visit(report("roll").path, size=size, java_script_enabled=False, ready=False)
    assert seen.shown("#still")
    assert picture_is_drawn(seen)
    for section in SECTIONS:
        assert seen.page.locator(f"#{section}").is_visible()
        assert len(seen.page.locator(f"#{section}").inner_text()) > 20
    assert seen.page.locator("button:visible").count() == 0  # none that would do nothing


@pytest.mark.parametrize(
    ("name", "scheme"),
    [("roll", "light"), ("roll", "dark"), pytest.param("solid", "light", marks=pytest.mark.slow), ("hostile", "light")],
)
def test_paper_has_the_picture_and_none_of_the_controls(visit, report, name, scheme):
    seen = visit(report(name).path, color_scheme=scheme)
    assert not seen.shown("#still")
    seen.page.emulate_media(media="print")
    assert seen.shown("#still")
    assert not seen.shown("#canvas")
    assert seen.page.locator("button:visible, input:visible, select:visible").count() == 0
    if name == "roll":
        assert picture_is_drawn(seen)
    assert np.median(np.asarray(Image.open(io.BytesIO(seen.page.screenshot())).convert("L"))) > 240  # no dark paper
    pages = seen.page.pdf(format="A4")
    assert pages.startswith(b"%PDF")
    assert 3 <= pages.count(b"/Type /Page\n") + pages.count(b"/Type /Page/") + pages.count(b"/Type /Page ") <= 15
