"""Names, labels, titles and values that try to be more than text: nothing of them runs, all of them are read."""

import numpy as np
import pytest

from tests.report.browser.reports import HOSTILE
from tests.report.browser.visit import DESKTOP, PHONE

#: What would have happened, had any of them run.
UNHARMED = """() => window.hacked === undefined
  && !document.querySelector("[onerror], [onload], [onmouseover], img[src=x], #map bdi *, #chosen bdi *, header b")
  && document.querySelectorAll("script").length === window.scripts"""


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_of_what_a_table_says_runs(visit, report, size):
    hostile = report("hostile")
    seen = visit(hostile.path, size=size)
    kinds = seen.value(
        "() => { const all = [...document.querySelectorAll('script')]; window.scripts = all.length; "
        "return all.map((script) => script.type); }"
    )
    assert sorted(set(kinds)) == ["", "application/json", "application/octet-stream", "module"]
    assert kinds.count("module") == kinds.count("") == kinds.count("application/json") == 1
    assert seen.page.title() == HOSTILE[0] + HOSTILE[1]
    assert HOSTILE[0] in seen.page.locator("h1").inner_text()
    options = seen.value("() => [...document.querySelectorAll('#color option')].map((option) => option.textContent)")
    for name in (*HOSTILE[:3], HOSTILE[4], "__proto__"):
        assert name in options
    seen.to_map()
    for column in range(1, len(options)):  # every colour
        seen.page.locator("#color").select_option(index=column)
    for row in range(len(HOSTILE)):  # every name, under the pointer
        seen.hover(row)
        assert seen.shown("#hover")
    seen.page.locator("#color").select_option(label=HOSTILE[4])
    levels = {
        name.strip()
        for name in seen.value(
            "() => [...document.querySelectorAll('#legend .group .name')].map((name) => name.textContent)"
        )
    }
    assert len(levels) == len(HOSTILE)
    assert HOSTILE[1] in levels
    assert "__proto__" in levels
    for text in HOSTILE[:5]:
        seen.page.locator("#search").fill(text)
        seen.until("() => window.gramfold.marked().length >= 10")
        seen.page.keyboard.press("Enter")
        assert len(seen.chosen()) >= 10
        seen.until("() => document.getElementById('chosen').dataset.answered === 'true'")
    assert seen.value(UNHARMED)
    seen.page.locator("#tool-path").click()
    for row in (0, 60):
        seen.to_map()
        seen.click_row(row)
    if seen.page.locator("#arrows").count():
        seen.page.locator("#arrows").check()
    seen.page.wait_for_timeout(100)
    assert seen.value(UNHARMED)


def test_a_file_of_hostile_rows_is_read_back_and_runs_in_no_spreadsheet(visit, report):
    hostile = report("hostile")
    seen = visit(hostile.path)
    seen.page.locator("#choose-view").click()
    name, _ = seen.download("#save-csv")
    assert not set(name) & set('/\\<>:"|?*\n')
    head, *lines = seen.saved_rows()
    assert len(lines) == len(hostile.table)
    assert not [cell for line in [head, *lines] for cell in line if cell[:1] in "=@\t\r" and cell]
    texts = [line[head.index(HOSTILE[3])] for line in lines]
    wanted = hostile.table[HOSTILE[3]].tolist()
    assert [text.removeprefix("'") for text in texts] == wanted
    assert {text for text in texts if text.startswith("'")} == {"'" + text for text in wanted if text[0] in "=@"}
    for column in hostile.table.select_dtypes("number"):
        values = [float(line[head.index(column if column[0] not in "=@" else "'" + column)]) for line in lines]
        np.testing.assert_array_equal(values, hostile.table[column])


def test_words_from_right_to_left_stay_within_their_place(visit, report):
    hostile = report("hostile")
    seen = visit(hostile.path)
    seen.page.locator("#search").fill("הפוך")
    seen.page.keyboard.press("Enter")
    count = len(seen.chosen())
    assert count >= 10
    # the count after the name is still read from left to right: each name is isolated
    isolated = seen.value(
        """() => [...document.querySelectorAll("#legend .group")]
          .filter((entry) => entry.textContent.includes("\\u202e"))
          .every((entry) => entry.querySelector("bdi")?.textContent.includes("\\u202e"))"""
    )
    assert isolated
