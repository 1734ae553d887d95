"""A real Chromium, and pages in it that may neither complain nor ask the network for anything."""

import itertools
import os
import shutil
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.report.browser.reports import ALL, Report
from tests.report.browser.visit import DESKTOP, SOFTWARE_WEBGL, Visit

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def why_not():
    """Why pages cannot be opened here; empty where they can."""
    if not browser_path():
        return "Chromium is not installed: `make browser` installs it and runs the tests of the report's pages"
    if find_spec("playwright") is None:
        return "playwright is not installed: pip install playwright"
    return ""


def browser_path():
    """Of the one that CHROMIUM names, or of the one that is installed."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def pytest_collection_modifyitems(config, items):
    """Where there is no browser, one test stands for all that need it, and says so."""
    ours = [item for item in items if "chromium" in getattr(item, "fixturenames", ())]
    if ours and why_not():
        others = set(ours[1:])
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=list(others))


@pytest.fixture(scope="session")
def chromium():
    """Path of the browser; without it the test is skipped, or fails where GRAMFOLD_BROWSER says that it is required."""
    if reason := why_not():
        absent = pytest.fail if os.environ.get("GRAMFOLD_BROWSER") == "required" else pytest.skip
        absent(reason)
    return browser_path()


@pytest.fixture(scope="module")
def playwright(chromium):
    """Not of the whole session: while it runs, no other test of the process could use asyncio."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="module")
def browser(playwright, chromium):
    """Software draws, so that pages look and work alike everywhere."""
    browser = playwright.chromium.launch(executable_path=chromium, args=list(SOFTWARE_WEBGL))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def idle_pages():
    """Pages of earlier visits, by what they were opened with."""
    pages = defaultdict(list)
    yield pages
    for page in itertools.chain.from_iterable(pages.values()):
        page.context.close()


@pytest.fixture
def visit(browser, idle_pages):
    """Open a report as somebody would who was sent the file; at the end nothing may have gone wrong on any page."""
    visits = []

    def visited(path: Path, *, size=DESKTOP, ready=True, browser=browser, **context) -> Visit:
        kind = (browser, size, ready, *sorted(context.items()))
        page = idle_pages[kind].pop() if idle_pages[kind] else None
        one = Visit(browser, path, size=size, ready=ready, page=page, **context)
        visits.append((kind, one))
        return one.__enter__()

    yield visited
    for kind, one in visits:
        page = one.let_go()
        if one.complaints or page.evaluate("matchMedia('print').matches"):
            page.context.close()
        else:
            idle_pages[kind].append(page)
    for _, one in visits:
        assert one.complaints == []


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """One of the reports of tests/report/browser/reports.py by its name, written when it is first asked for."""
    folder = tmp_path_factory.mktemp("reports")
    written: dict[str, Report] = {}

    def named(name: str) -> Report:
        if name not in written:
            written[name] = ALL[name](folder)
        return written[name]

    return named
