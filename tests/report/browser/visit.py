"""A report in a browser: what a reader does with mouse and keyboard, and what they see."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pytest

#: Chromium draws WebGL without a graphics card; the rest of a page without WebGL, which takes half of the time.
SOFTWARE_WEBGL = (
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-gpu-compositing",
)
#: The same browser with no WebGL at all.
NO_WEBGL = ("--disable-gpu", "--disable-3d-apis", "--disable-software-rasterizer")

DESKTOP, PHONE = (1440, 900), (390, 844)
WIDTHS = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
#: The same, the phone only in `make browser` and `make test-all`.
PHONE_LATER = pytest.mark.parametrize(
    "size", [DESKTOP, pytest.param(PHONE, marks=pytest.mark.slow)], ids=["desktop", "phone"]
)
_PATIENCE = 10_000  # milliseconds
#: How drawing by software says that it is slow, where a picture of the page is taken.
_DRIVER = "GL Driver Message (OpenGL, Performance"


class Visit:
    """One page of one file, and all that it did which a report may not do.

    A `page` of an earlier visit of the same kind is used again: that is twice as fast as a new one.
    """

    def __init__(
        self,
        browser: Any,
        path: Path,
        *,
        size: tuple[int, int] = DESKTOP,
        ready: bool = True,
        page: Any = None,
        **context: Any,
    ) -> None:
        self.complaints: list[str] = []
        self.address = path.resolve().as_uri()
        width, height = size
        window = {"width": width, "height": height}
        if page is None:
            page = browser.new_context(viewport=window, **context).new_page()
            page.set_default_timeout(_PATIENCE)
        else:
            page.evaluate("localStorage.clear()")
            page.goto("about:blank")
            page.set_viewport_size(window)
        self.page = page
        self._ready = ready
        self._context = page.context
        self._listeners = (
            (page, "console", self._heard),
            (page, "pageerror", lambda error: self.complaints.append(f"error: {error}")),
            (page, "crash", lambda _: self.complaints.append("the page crashed")),
            (page, "websocket", lambda socket: self.complaints.append(f"socket: {socket.url}")),
            (page, "popup", lambda other: self.complaints.append(f"window: {other.url}")),
            (page, "dialog", self._refuse),
            (page.context, "request", self._asked),
        )
        for source, event, listener in self._listeners:
            source.on(event, listener)

    def __enter__(self) -> Self:
        self.page.goto(self.address)
        if self._ready:
            try:
                self.page.wait_for_selector("body[data-ready='true']", state="attached")
            except Exception as error:
                error.add_note(f"the page said: {self.complaints}")
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.close()

    def let_go(self) -> Any:
        """The page, as it is; nothing of what it does from now on is noted."""
        for source, event, listener in self._listeners:
            source.remove_listener(event, listener)
        return self.page

    def _heard(self, message: Any) -> None:
        if _DRIVER not in message.text:
            self.complaints.append(f"console, {message.type}: {message.text}")

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Any) -> None:
        address = request.url.partition("#")[0]
        if address != self.address and not address.startswith(("data:", "blob:")):
            self.complaints.append(f"request: {address[:200]}")

    # ------------------------------------------------------------------------------------------------ what is seen

    def text(self, selector: str) -> str:
        """Visible words of one element, white space made plain."""
        return " ".join(self.page.locator(selector).inner_text().split())

    def texts(self, selector: str) -> list[str]:
        """The same of all elements that there are."""
        return [" ".join(text.split()) for text in self.page.locator(selector).all_inner_texts()]

    def shown(self, selector: str) -> bool:
        """Whether one element can be seen."""
        return self.page.locator(selector).first.is_visible()

    def value(self, script: str, argument: Any = None) -> Any:
        """What a script of the test returns."""
        return self.page.evaluate(script, argument)

    def place(self, row: int) -> tuple[float, float]:
        """Where a row is drawn, in pixels of the window."""
        x, y = self.value("row => window.gramfold.place(row)", row)
        return x, y

    def places(self, rows: Sequence[int]) -> np.ndarray:
        """The same of many, (n, 2)."""
        return np.array(self.value("rows => rows.map(row => Array.from(window.gramfold.place(row)))", list(rows)))

    def chosen(self) -> list[int]:
        """Row numbers that are chosen, in order."""
        return sorted(self.value("() => Array.from(window.gramfold.chosen())"))

    def until(self, script: str, argument: Any = None) -> None:
        """Wait until a script returns something true."""
        self.page.wait_for_function(script, arg=argument)

    def pixels(self, selector: str = "#canvas") -> np.ndarray:
        """Colours of an element as the reader sees it, (height, width, 3)."""
        from PIL import Image

        picture = Image.open(io.BytesIO(self.page.locator(selector).first.screenshot()))
        return np.asarray(picture.convert("RGB"), dtype=int)

    # ------------------------------------------------------------------------------------------------ what is done

    def to_map(self) -> None:
        """Scroll so that the whole map stands in the window."""
        self.page.locator("#canvas").scroll_into_view_if_needed()

    def drag(self, *corners: tuple[float, float], steps: int = 6) -> None:
        """Press at the first corner, go along all others, let go."""
        mouse = self.page.mouse
        mouse.move(*corners[0])
        mouse.down()
        for corner in corners[1:]:
            mouse.move(*corner, steps=steps)
        mouse.up()

    def hover(self, row: int) -> None:
        """Put the mouse on a row."""
        x, y = self.place(row)
        self.page.mouse.move(x + 25, y + 25)
        self.page.mouse.move(x, y, steps=3)

    def click_row(self, row: int) -> None:
        """Click on a row of the map."""
        self.hover(row)
        self.page.mouse.down()
        self.page.mouse.up()

    def box(self, selector: str = "#canvas") -> tuple[float, float, float, float]:
        """Left, top, right and bottom of an element."""
        box = self.page.locator(selector).first.bounding_box()
        return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]

    def download(self, selector: str) -> tuple[str, bytes]:
        """Click, and read back what the browser saved: its name and bytes."""
        with self.page.expect_download() as caught:
            self.page.locator(selector).click()
        return caught.value.suggested_filename, Path(caught.value.path()).read_bytes()

    def saved_rows(self) -> list[list[str]]:
        """Cells of the CSV file of the chosen rows."""
        _, content = self.download("#save-csv")
        return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def numbers_in(text: str) -> list[float]:
    """All numbers that stand in words, `0.93`, `1,797` and `−3` alike."""
    found = re.findall(r"[−-]?\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?", text)
    return [float(number.replace(",", "").replace("−", "-")) for number in found]
