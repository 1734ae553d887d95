"""A real Chromium, and pages in it that may neither complain nor ask the network for anything."""

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.report.browser.reports import ALL, Report
from tests.report.browser.visit import SOFTWARE_WEBGL, Visit

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def chromium():
    """Path of the browser; without it the test is skipped, or fails where GRAMFOLD_BROWSER says that it is required."""
    absent = pytest.fail if os.environ.get("GRAMFOLD_BROWSER") == "required" else pytest.skip
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        absent("Chromium is not installed: `make browser` installs it and runs the tests of the report's pages")
    try:
        import playwright  # noqa: F401
    except ModuleNotFoundError:
        absent("playwright is not installed: pip install playwright")
    return path


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


@pytest.fixture
def visit(browser):
    """Open a report as somebody would who was sent the file; at the end nothing may have gone wrong on any page."""
    with ExitStack() as opened:
        visits = []

        def visited(path: Path, **how) -> Visit:
            visits.append(opened.enter_context(Visit(how.pop("browser", browser), path, **how)))
            return visits[-1]

        yield visited
        for one in visits:
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
