"""The report in a browser, beside a bare page that only draws the same points with the same library.

Chromium draws by software (no graphics card): what is compared is what the page does, not what the card does. Times
are the page's own: until the first frame in which everything is drawn, counted from the start of navigation; script
time per frame is from the browser's trace, on the page's main thread, all scripts and collections of garbage together.

`python -m benchmarks report` takes 100,000 rows × 10 columns, `report:million` a million. CHROMIUM names the browser.
"""

import json
import os
import shutil
import statistics
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.timing import Race

_ROWS, _MILLION = 100_000, 1_000_000
_RUNS = 5
_STEPS = 100  # of a drag
_WINDOW = {"width": 1440, "height": 900}
_FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
_MOST_MEGABYTES, _MOST_TIMES, _FRAME, _ANSWER = 8.0, 3.0, 0.008, 1.0

_WATCH = """
new MutationObserver(() => {
  if (document.body?.dataset.ready === "true" && window.readyAt === undefined) {
    window.readyAt = NaN;
    requestAnimationFrame(() => setTimeout(() => { window.readyAt = performance.now(); }));
  }
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-ready"] });
"""
#: From letting go of the mouse to the first frame that shows the count, the table and the differences.
_WATCH_ANSWER = """count => {
  window.addEventListener("pointerup", (event) => {
    const started = event.timeStamp;
    const shown = (id) => document.getElementById(id)?.innerText ?? "";
    const look = () => {
      const digits = shown("chosen-count").replace(/\\D/g, "");
      if (digits.startsWith(String(count)) && shown("chosen-table").length > 100 && shown("differences").length > 100) {
        requestAnimationFrame(() => setTimeout(() => { window.answeredAfter = performance.now() - started; }));
      } else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, { capture: true, once: true });
}"""
_BARE = """
const bytes = Uint8Array.from(atob(document.getElementById("points").textContent), (letter) => letter.charCodeAt(0));
const numbers = new Float32Array(bytes.buffer);
const canvas = document.getElementById("canvas");
const { width, height } = canvas.getBoundingClientRect();
const plot = ReglScatterplot.createScatterplot({ canvas, width, height, pointSize: 2 });
const n = numbers.length / 2;
await plot.draw({ x: numbers.subarray(0, n), y: numbers.subarray(n) });
document.body.dataset.ready = "true";
"""


def races() -> Iterator[Race]:
    """100,000 rows: size and time until ready, frames while panning, a lasso of half of the rows."""
    yield from _measured(_ROWS, _RUNS, lasso=True)


def million() -> Iterator[Race]:
    """A million rows, of which a part is drawn, and the page says so."""
    yield from _measured(_MILLION, 2, lasso=False)


def _measured(n: int, runs: int, *, lasso: bool) -> Iterator[Race]:
    from gramfold.report import write_report

    rows, places, table = _made(n)
    with tempfile.TemporaryDirectory() as folder, _browser() as browser:
        report, bare = Path(folder) / "report.html", Path(folder) / "bare.html"
        write_report(report, rows, places, table=table, color="kind", label="name")
        bare.write_text(_bare_page(places), "utf-8")
        megabytes = report.stat().st_size / 1e6

        ours, peer, frames, bare_frames, answers, notes = [], [], [], [], [], set()
        for _ in range(runs):
            for path, kept, kept_frames in ((report, ours, frames), (bare, peer, bare_frames)):
                with _opened(browser, path) as page:
                    kept.append(_ready(page))
                    kept_frames.extend(_panned(page))
                    if path == report:
                        notes.add(
                            page.evaluate("JSON.parse(document.getElementById('manifest').textContent).rows.note")
                        )
                        if lasso:
                            answers.append(_answered(page, places))
        size = f"{n:,} × {table.shape[1]}, {megabytes:.2f} MB"
        found = Race(f"report of {size}: until ready; peer: bare page", ours, peer, "")
        met = found.ratio >= 1 / _MOST_TIMES and (megabytes < _MOST_MEGABYTES or n > _ROWS)
        target = f"< {_MOST_TIMES:g}x the bare page" + (f", < {_MOST_MEGABYTES:g} MB" if n <= _ROWS else "")
        yield found.judged(target, met)
        job = f"script per frame while panning {n:,} points, software drawing, {len(frames)} frames; peer: bare page"
        found = Race(job, frames, bare_frames, "")
        yield found.judged(f"median ≤ {_FRAME * 1000:g} ms", statistics.median(frames) <= _FRAME)
        if lasso:
            found = Race(f"lasso of {n // 2:,} points: count, table, differences", answers, [], "")
            yield found.judged(f"≤ {_ANSWER:g} s", max(answers) <= _ANSWER)
        for note in notes - {""}:
            yield Race(f"the page says: {note}", [], [], "says what was thinned")


def _made(n: int) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Rows of seven numbers, a flat map of them, and a table of ten columns of every kind: those and three more."""
    rng = np.random.default_rng(0)
    places = rng.uniform(-1, 1, (n, 2))
    numbers = np.column_stack([places, np.sin(3 * places), places**2, rng.normal(0, 0.1, n)])
    rows = pd.DataFrame(numbers.round(4), columns=[f"measured {j}" for j in range(7)])
    table = rows.assign(
        kind=np.char.add("kind ", rng.integers(0, 12, n).astype(str)),
        day=np.datetime64("2024-01-01") + rng.integers(0, 700, n).astype("timedelta64[D]"),
        name=[f"row {i}" for i in range(n)],
    )
    return rows, places, table


def _bare_page(places: np.ndarray) -> str:
    library = (files("gramfold") / "report" / "page" / "vendor" / "regl-scatterplot.js").read_text("ascii")
    points = b64encode((places / np.abs(places).max()).T.astype("<f4").tobytes()).decode("ascii")
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Points</title>'
        '<body><canvas id="canvas" style="width: 1000px; height: 700px"></canvas>'
        f'<script type="application/octet-stream" id="points">{points}</script>'
        f'<script>{library}</script><script type="module">{_BARE}</script></body></html>'
    )


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@contextmanager
def _opened(browser: Any, path: Path) -> Iterator[Any]:
    """The page of a file, in a window of its own."""
    context = browser.new_context(viewport=_WINDOW)
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(_WATCH)
    page.goto(path.as_uri())
    yield page
    context.close()


def _ready(page: Any) -> float:
    page.wait_for_function("() => window.readyAt > 0")
    return float(page.evaluate("window.readyAt")) / 1000


def _panned(page: Any) -> list[float]:
    """Seconds of script in each frame while the mouse drags the map to and fro."""
    canvas = page.locator("#canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.wait_for_timeout(300)
    with _traced(page) as events:
        page.mouse.down()
        for step in range(_STEPS):
            page.mouse.move(x + 150 * np.sin(step / 15), y + 80 * np.sin(step / 10))
        page.mouse.up()
    return script_per_frame(events)


@contextmanager
def _traced(page: Any) -> Iterator[list[dict[str, Any]]]:
    """Events of the browser's trace, complete after the block."""
    session = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    complete: list[Any] = []
    session.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
    session.on("Tracing.tracingComplete", lambda said: complete.extend([said]))
    categories = ["devtools.timeline", "disabled-by-default-devtools.timeline", "v8.execute", "v8"]
    config = {"includedCategories": categories}
    session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})
    yield events
    session.send("Tracing.end")
    while not complete:
        page.wait_for_timeout(20)
    session.detach()


_SCRIPT = {"FunctionCall", "EvaluateScript", "FireAnimationFrame", "EventDispatch", "TimerFire", "RunMicrotasks"}
_SCRIPT |= {"MinorGC", "MajorGC", "V8.GCScavenger", "V8.GCFinalizeMC", "v8.run"}


def script_per_frame(events: list[dict[str, Any]]) -> list[float]:
    """Seconds of script on the main thread in each frame: what ran between one frame's commit and the next one's."""
    threads = [(event["pid"], event["tid"]) for event in events if event["name"] == "FireAnimationFrame"]
    main = statistics.mode(threads)
    own = [event for event in events if (event["pid"], event["tid"]) == main and event.get("ph") == "X"]
    scripts = _union([(event["ts"], event["ts"] + event["dur"]) for event in own if event["name"] in _SCRIPT])
    commits = sorted(event["ts"] for event in own if event["name"] == "Commit")
    found = []
    for before, after in pairwise(commits):
        busy = sum(max(0, min(end, after) - max(start, before)) for start, end in scripts)
        if busy:
            found.append(busy / 1e6)
    return found


def _union(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Spans that do not overlap and cover the same: calls within calls count once."""
    joined: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _answered(page: Any, places: np.ndarray) -> float:
    """Seconds from letting go of a lasso around the left half of the rows to their table."""
    page.locator("#reset").click()
    page.wait_for_timeout(300)
    page.locator("#tool-lasso").click()
    page.locator("#canvas").scroll_into_view_if_needed()
    order = np.argsort(places[:, 0])
    half = len(places) // 2
    outer = [int(places[:, j].argmin()) for j in (0, 1)] + [int(places[:, j].argmax()) for j in (0, 1)]
    spots = page.evaluate(
        "rows => rows.map(i => Array.from(gramfold.place(i)))", [*outer, *order[half - 1 : half + 1].tolist()]
    )
    left, top, bottom = spots[0][0] - 4, min(s[1] for s in spots) - 4, max(s[1] for s in spots) + 4
    middle = (spots[4][0] + spots[5][0]) / 2
    inside = page.evaluate(
        "([n, x]) => { let k = 0; for (let i = 0; i < n; i++) k += gramfold.place(i)[0] < x; return k; }",
        [len(places), middle],
    )
    page.evaluate(_WATCH_ANSWER, str(inside)[:2])
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((middle, top), (middle, bottom), (left, bottom), (left, top + 2)):
        page.mouse.move(x, y, steps=15)
    page.mouse.up()
    page.wait_for_function("() => window.answeredAfter > 0")
    return float(page.evaluate("window.answeredAfter")) / 1000


if __name__ == "__main__":
    print(json.dumps([race.row() for race in races()], ensure_ascii=False, indent=1))
