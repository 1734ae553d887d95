"""The path between two rows that were clicked on, beside SciPy's; pictures and values along it."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from tests.report.browser.visit import PHONE_LATER, WIDTHS, numbers_in


def graph_of(model):
    """Lengths of the edges of the neighbour graph, in the unit of the data."""
    lengths = csr_array(model.graph_.lengths)
    return lengths.maximum(lengths.T)


def clear_rows(seen, count):
    """Rows that no other is near to, from the left of the map to the right."""
    places = seen.places(range(count))
    away = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(away, np.inf)
    some = np.flatnonzero(away.min(axis=1) > 6)
    return some[np.argsort(places[some, 0])].tolist()


@pytest.mark.parametrize("name", ["roll", "faces"])
@WIDTHS
def test_the_path_between_two_rows_is_that_of_scipy(visit, report, name, size):
    made = report(name)
    seen = visit(made.path, size=size)
    seen.page.locator("#tool-path").click()
    seen.to_map()
    rows = clear_rows(seen, len(made.Y))
    graph = graph_of(made.model)
    for first, last in ((rows[0], rows[-1]), (rows[len(rows) // 2], rows[1])):
        seen.to_map()
        seen.click_row(first)
        seen.to_map()
        seen.click_row(last)
        seen.until("() => document.getElementById('path').dataset.answered === 'true'")
        lengths, before = dijkstra(graph, directed=False, indices=first, return_predecessors=True)
        words = seen.page.locator("#path-words")
        assert float(words.get_attribute("data-length")) == pytest.approx(lengths[last], rel=1e-5)
        told = numbers_in(seen.text("#path-words"))
        assert told[0] == int(words.get_attribute("data-steps"))
        assert told[1] == pytest.approx(lengths[last], rel=2e-3)
        assert told[2] == pytest.approx(np.linalg.norm(made.Y[first] - made.Y[last]), rel=2e-3)
        along = [int(text) for text in seen.texts("#path-table tbody td:first-child")]
        assert (along[0], along[-1]) == (first, last)
        assert along == backwards(before, first, last) or length_of(graph, along) == pytest.approx(
            lengths[last], rel=1e-6
        )
        drawn = numbers_in(seen.page.locator("#stage path.way").get_attribute("d").replace("M", " ").replace("L", " "))
        assert len(drawn) == 2 * len(along)
    assert seen.chosen() == []
    seen.page.locator("#path-clear").click()
    assert not seen.shown("#path")
    assert seen.page.locator("#stage path.way").get_attribute("d") == ""


def backwards(before, first, last):
    rows = [last]
    while rows[-1] != first:
        rows.append(int(before[rows[-1]]))
    return rows[::-1]


def length_of(graph, rows):
    """Infinite where two of them have no edge."""
    steps = [graph[a, b] for a, b in itertools.pairwise(rows)]
    return sum(steps) if all(steps) else np.inf


@PHONE_LATER
def test_pictures_stand_along_the_path(visit, report, size):
    faces = report("faces")
    seen = visit(faces.path, size=size)
    seen.page.locator("#tool-path").click()
    seen.to_map()
    rows = clear_rows(seen, len(faces.Y))
    seen.click_row(rows[0])
    seen.to_map()
    seen.click_row(rows[-1])
    seen.until("() => document.getElementById('path').dataset.answered === 'true'")
    along = [int(text) for text in seen.texts("#path-table tbody td:first-child")]
    drawn = seen.value(
        """() => [...document.querySelectorAll("#path .strip canvas")].map((canvas) => {
          const small = new OffscreenCanvas(8, 8).getContext("2d");
          small.drawImage(canvas, 0, 0, 8, 8);
          return Array.from(small.getImageData(0, 0, 8, 8).data).filter((_, k) => k % 4 === 0); })"""
    )
    assert len(drawn) == len(along)
    for pixels, row in zip(drawn, along, strict=True):
        assert np.corrcoef(pixels, faces.X[row])[0, 1] > 0.99


def test_a_map_without_a_path_says_so(visit, report):
    thinned = report("thinned")
    seen = visit(thinned.path)
    seen.page.locator("#tool-path").click()
    seen.to_map()
    seen.click_row(3)
    seen.until("() => document.getElementById('message').textContent.includes('graph')")
    assert "No path" in seen.text("#path")


@PHONE_LATER
def test_between_two_rows_of_the_path_values_are_mixed_and_said_to_be(visit, report, size):
    roll = report("roll")
    seen = visit(roll.path, size=size)
    seen.page.locator("#tool-path").click()
    seen.to_map()
    rows = clear_rows(seen, len(roll.Y))
    for row in (rows[0], rows[-1]):
        seen.to_map()
        seen.click_row(row)
    seen.until("() => document.getElementById('path').dataset.answered === 'true'")
    along = [int(text) for text in seen.texts("#path-table tbody td:first-child")]
    slider = seen.page.locator("#path-slider")
    for place in (0, 137, 640, 1000):
        slider.fill(str(place))
        at = place / 1000 * (len(along) - 1)
        k = min(int(at), len(along) - 2)
        share = at - k
        wanted = roll.X.iloc[along[k]] * (1 - share) + roll.X.iloc[along[k + 1]] * share
        terms = dict(zip(seen.texts("#path .between dt"), seen.texts("#path .between dd"), strict=True))
        for name, value in wanted.items():
            assert numbers_in(terms[name]) == pytest.approx([value], rel=2e-3, abs=2e-3), (place, name)
        note = seen.text("#path-between")
        if 0 < place < 1000:
            assert f"{round(100 * (1 - share))}%" in note
            assert f"{round(100 * share)}%" in note
        else:
            assert roll.table["name"][along[0 if place == 0 else -1]] in note
