"""The drawing library of the package alone: it works from a file, and a page that misbehaves is noticed."""

import re
from importlib.resources import files

import numpy as np
import pytest

from tests.report.browser.visit import Visit

VENDOR = files("gramfold") / "report" / "page" / "vendor"
POLICY = (
    "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:"
)
DRAW = """
const canvas = document.getElementById("canvas");
const plot = ReglScatterplot.createScatterplot({
  canvas, width: 400, height: 300, pointSize: 20, backgroundColor: "#ffffff", pointColor: ["#ff0000", "#0000ff"],
  colorBy: "valueA",
});
await plot.draw({ x: new Float32Array([-0.5, 0.5]), y: new Float32Array([0, 0]), z: new Float32Array([0, 1]) });
window.plot = plot;
document.body.dataset.ready = "true";
"""


@pytest.fixture
def bare(tmp_path):
    """A page that draws two points, or runs another script."""

    def page(script: str = DRAW) -> Visit:
        library = (VENDOR / "regl-scatterplot.js").read_text("ascii")
        path = tmp_path / "bare page.html"
        path.write_text(
            f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Two points</title>'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            f'<body><canvas id="canvas" style="width: 400px; height: 300px"></canvas>'
            f'<script>{library}</script><script type="module">{script}</script></body></html>',
            "utf-8",
        )
        return path

    return page


def test_two_points_stand_where_they_should_in_their_colors(visit, bare):
    pixels = visit(bare()).pixels()
    red, blue = (np.argwhere((pixels == color).all(axis=2)).mean(axis=0) for color in ((255, 0, 0), (0, 0, 255)))
    # half of the way from the middle to the edge of the square that is drawn, 300 pixels high
    assert red == pytest.approx((150, 125), abs=2)
    assert blue == pytest.approx((150, 275), abs=2)


def test_the_search_tree_is_made_in_a_worker_too(visit, bare):
    page = visit(bare())
    alike = page.value(
        """async () => {
          const x = Float32Array.from({ length: 1000 }, (_, i) => Math.sin(i)), y = x.map((v) => v * v);
          const [here, there] = await Promise.all([false, true].map(
            (worker) => ReglScatterplot.createSpatialIndex({ x, y }, worker)));
          const [a, b] = [new Uint8Array(here), new Uint8Array(there)];
          return a.length > 8000 && a.length === b.length && a.every((byte, i) => byte === b[i]);
        }"""
    )
    assert alike


@pytest.mark.parametrize(
    ("misdeed", "complaint"),
    [
        ("console.log('hello')", "console, log: hello"),
        ("null.x", "error: .*null"),
        ("alert('hello')", "dialog: hello"),
        ("fetch('https://example.invalid/x').catch(() => {})", "Content Security Policy"),
        ("new Image().src = 'file:///tmp/x.png'", "Content Security Policy"),
        ("window.open('about:blank#x')", "window:|request:"),
    ],
)
def test_a_page_that_misbehaves_is_noticed(browser, bare, misdeed, complaint):
    path = bare(f"document.body.dataset.ready = 'true'; setTimeout(() => {{ {misdeed} }}, 0)")
    with Visit(browser, path) as seen:
        seen.page.wait_for_timeout(200)
        assert any(re.search(complaint, said) for said in seen.complaints), seen.complaints


def test_requests_are_noticed_where_no_policy_forbids_them(browser, bare):
    path = bare("document.body.dataset.ready = 'true'; new Image().src = 'https://example.invalid/x.png'")
    path.write_text(path.read_text("utf-8").replace(POLICY, "default-src * 'unsafe-inline'"), "utf-8")
    with Visit(browser, path) as seen:
        seen.page.wait_for_timeout(200)
        assert "request: https://example.invalid/x.png" in seen.complaints


def test_the_package_holds_the_licences_of_the_library():
    licenses, script = ((VENDOR / name).read_text("utf-8") for name in ("LICENSES.txt", "regl-scatterplot.js"))
    assert script.startswith(f"/*\n{licenses}*/\n")  # every page carries them
    for owner in ("Fritz Lekschas", "Mikola Lysenko", "Mapbox", "Brandon Jones", "Vladimir Agafonkin"):
        assert owner in licenses
    for unwanted in ("http://", "https://", "sourceMappingURL", "</script", "<!--"):
        assert unwanted not in script
