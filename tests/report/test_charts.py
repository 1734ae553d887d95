"""Charts: ticks at round numbers, marks where they belong, and SVG that any parser reads."""

import itertools
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramfold.report.charts import (
    Axes,
    Frame,
    Linear,
    Log,
    Span,
    cells,
    contour,
    cross,
    dots,
    dots_by_value,
    linear_over,
    log_over,
    number,
    path,
    range_bar,
    round_ticks,
    stage_bar,
    value_bar,
)
from gramfold.report.charts.scales import written_alike

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    """The elements, by any XML parser; attributes and tags of the namespace of SVG."""
    return ET.fromstring(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def points_of(drawn):
    """Start points of the parts of a path, (m, 2)."""
    return np.array([[float(a), float(b)] for a, b in re.findall(r"M(-?[\d.]+) (-?[\d.]+)", drawn)])


# --- scales


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(3, 8))
def test_ticks_are_round_evenly_spaced_and_within(low, width, count):
    high = low + width
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return
    ticks = round_ticks(low, high, count)
    assert 1 <= len(ticks) <= count + 1
    slack = 1e-6 * (high - low)
    assert low - slack <= ticks[0]
    assert ticks[-1] <= high + slack
    if len(ticks) > 1:
        step = (ticks[-1] - ticks[0]) / (len(ticks) - 1)
        assert np.allclose(np.diff(ticks), step, rtol=1e-3)
        leading = step / 10 ** np.floor(np.log10(step * (1 + 1e-9)))
        assert np.isclose(leading, [1, 2, 5, 10], rtol=1e-3).any()


def test_ticks_of_few_decades_have_2_and_5_between_powers():
    assert [text for _, text in Log(0.9, 11.0).ticks] == ["1", "2", "5", "10"]
    assert [value for value, _ in Log(0.9, 1.1e6).ticks] == [1, 100, 1e4, 1e6]


def test_ticks_of_a_logarithmic_axis_are_written_alike():
    assert [text for _, text in Log(900.0, 1.1e6).ticks] == ["10³", "10⁴", "10⁵", "10⁶"]
    assert [text for _, text in Log(0.009, 110.0).ticks] == ["0.01", "0.1", "1", "10", "100"]


def test_scales_begin_at_0_and_end_at_1():
    assert Linear(-2.0, 6.0)([-2.0, 2.0, 6.0]).tolist() == [0.0, 0.5, 1.0]
    assert np.allclose(Log(0.1, 1000.0)([0.1, 10.0, 1000.0]), [0.0, 0.5, 1.0])
    assert Linear(1.0, 0.0)([0.25]).tolist() == [0.75]  # better is to the right where less is better


@pytest.mark.parametrize("values", [[3.0, 3.0], [0.0], [], [np.nan, 1.0], [-1e308, 1e308], [5e-324, 0.0]])
def test_a_scale_over_any_values_holds_them(values):
    scale = linear_over(values)
    assert scale.high > scale.low
    assert np.isfinite([scale.low, scale.high]).all()
    known = [one for one in values if np.isfinite(one)]
    assert ((scale(known) >= 0) & (scale(known) <= 1)).all()
    assert scale.ticks


def test_a_scale_from_0_begins_there_unless_values_are_negative():
    assert linear_over([2.0, 5.0], zero=True).low == 0.0
    assert linear_over([-2.0, 5.0], zero=True).low < -2.0
    assert log_over([0.0, -1.0, 10.0]).low < 10.0 < log_over([0.0, -1.0, 10.0]).high


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1234.5, "1,234"),
        (999.6, "1,000"),
        (0.5, "0.5"),
        (-3.14159, "−3.14"),
        (123456.0, "1.23×10⁵"),
        (1e5, "10⁵"),
        (2e-12, "2×10⁻¹²"),
        (np.nan, "not known"),
        (np.inf, "∞"),
        (-np.inf, "−∞"),
    ],
)
def test_numbers_as_they_are_written(value, text):
    assert number(value) == text


def test_ticks_have_the_same_digits():
    assert written_alike([0.0, 0.5, 1.0]) == ["0.0", "0.5", "1.0"]
    assert written_alike([-20.0, 0.0, 20.0]) == ["−20", "0", "20"]
    assert written_alike([0.0]) == ["0"]


# --- marks


def test_a_contour_of_distances_is_a_circle():
    x, y = np.linspace(-2, 2, 61), np.linspace(-1.5, 1.5, 47)
    distances = np.hypot(*np.meshgrid(x, y))
    drawn = contour(100 * x, 100 * y, distances, 1.0)
    lines = re.findall(r"M([^M\"]+)", drawn)
    assert len(lines) == 1  # one line, joined
    points = np.array([[float(part) for part in one.split()] for one in lines[0].split("L")])
    assert np.abs(np.linalg.norm(points, axis=1) - 100).max() < 0.5
    assert np.allclose(points[0], points[-1], atol=0.2)  # closed
    turns = np.unwrap(np.arctan2(points[:, 1], points[:, 0]))
    assert abs(abs(turns[-1] - turns[0]) - 2 * np.pi) < 0.01


def test_a_contour_at_a_saddle_does_not_cross_itself():
    values = np.array([[1.0, 0.0], [0.0, 1.0]])
    for level, joined in ((0.4, True), (0.6, False)):
        drawn = contour(np.array([0.0, 10.0]), np.array([0.0, 10.0]), values, level)
        lines = [np.array([p.split() for p in one.split("L")], dtype=float) for one in re.findall(r"M([^M\"]+)", drawn)]
        assert len(lines) == 2
        # the corners (0, 0) and (10, 10) are above: below their mean level they are joined, so lines cut off the others
        low_corners = {tuple(np.round(line.mean(axis=0) / 10).astype(int)) for line in lines}
        assert low_corners == ({(1, 0), (0, 1)} if joined else {(0, 0), (1, 1)})


def test_no_contour_where_a_corner_is_not_known():
    values = np.array([[0.0, 1.0, np.nan], [0.0, 1.0, 0.0]])
    drawn = contour(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0]), values, 0.5)
    assert re.findall(r"[\d.]+ [\d.]+", drawn) == ["0.5 0", "0.5 1"]
    assert contour(np.arange(3.0), np.arange(2.0), np.full((2, 3), np.nan), 0.5) == ""


def test_few_points_are_dots_and_many_are_cells_with_all_of_them():
    random = np.random.default_rng(0)
    few = random.uniform(0, 100, (300, 2))
    assert len(points_of(cells(few, 0.0, 0.0, 100.0, 100.0))) == len(np.unique(few.round(1), axis=0))
    many = random.uniform(0, 100, (20_000, 2))
    many[:5_000] = [50.5, 50.5]  # the most crowded place
    drawn = cells(many, 0.0, 0.0, 100.0, 100.0)
    area = sum(int(w) * int(h) for w, h in re.findall(r"h(\d+)v(\d+)", drawn))
    filled = len({(int(x // 4), int(y // 4)) for x, y in many})
    assert area == 16 * filled
    darkest = re.search(r'class="shade-5" d="([^"]*)"', drawn)[1]
    boxes = re.findall(r"M([\d.]+) ([\d.]+)h(\d+)v", darkest)
    assert any(float(x) <= 50.5 < float(x) + int(w) and float(y) <= 50.5 < float(y) + 4 for x, y, w in boxes)


def test_colours_go_from_the_least_value_to_the_largest():
    places = np.column_stack([np.arange(80.0), np.zeros(80)])
    drawn = dots_by_value(places, np.arange(80.0))
    groups = {int(j): points_of(found) for j, found in re.findall(r'ramp-(\d)" d="([^"]*)"', drawn)}
    assert sorted(groups) == list(range(8))
    assert [len(groups[j]) for j in range(8)] == [10] * 8
    assert all(groups[j][:, 0].max() < groups[j + 1][:, 0].min() for j in range(7))
    assert 'ramp-0"' in dots_by_value(places, np.zeros(80))  # that do not vary


def test_marks_of_nothing_are_nothing():
    assert dots(np.empty((0, 2))) == path(np.empty((0, 2)), "line") == path(np.zeros((1, 2)), "line") == ""


# --- charts


def chart(title="A chart", words="What is seen"):
    axes = Axes("one", title, words, Linear(0.0, 10.0), Log(1.0, 1000.0), "across", "up", Frame(300, 200))
    axes.add(dots(axes.place([0.0, 10.0], [1.0, 1000.0])), cross(50, 50))
    return axes


def test_a_chart_is_an_image_with_a_name_and_a_description():
    found = parsed(chart().svg())
    assert found.attrib["role"] == "img"
    names = found.attrib["aria-labelledby"].split()
    by_id = {one.attrib["id"]: one.text for one in found.iter() if "id" in one.attrib}
    assert [by_id[name] for name in names] == ["A chart", "What is seen"]
    texts = [one.text for one in found.iter(f"{SVG}text")]
    assert {"across", "up", "0", "10", "1", "1,000"} <= set(texts)


def test_texts_of_a_chart_are_escaped():
    hostile = "</title><script>alert(1)</script>\x00\x1b \ud800 & \"'"
    found = parsed(chart(hostile, hostile).svg())
    assert not list(found.iter(f"{SVG}script"))
    assert found.find(f"{SVG}title").text.startswith("</title><script>alert(1)</script>\ufffd\ufffd \ufffd & ")


def test_values_stand_at_the_ends_of_the_axes():
    axes = chart()
    assert np.allclose(axes.place([0.0, 10.0], [1.0, 1000.0]), [[axes.left, axes.bottom], [axes.right, axes.top]])
    for text in parsed(axes.svg()).iter(f"{SVG}text"):
        if "x" in text.attrib:
            assert 0 <= float(text.attrib["x"]) <= 300
            assert 0 <= float(text.attrib["y"]) <= 200


def test_labels_of_an_axis_do_not_overlap():
    axes = Axes("x", "t", "w", Linear(-1e9, 1e9, 9), Linear(0, 1), "x", "y", Frame(160, 120))
    labels = [one for one in parsed(axes.svg()).iter(f"{SVG}text") if one.attrib.get("text-anchor") == "middle"]
    spans = sorted((float(one.attrib["x"]), len(one.text)) for one in labels if one.text not in "xy")
    assert len(spans) > 1
    for (x, wide), (after, next_wide) in itertools.pairwise(spans):
        assert after - x >= 6 * (wide + next_wide) / 2


def test_a_bar_shows_value_interval_plain_chance_and_limit_in_their_order():
    drawn = parsed(value_bar(Linear(0.0, 1.0), Span(0.5, 0.4, 0.6), "half", plain=0.25, chance=0.0, limit=1.0))
    assert drawn.attrib["aria-label"] == "half"
    by_class = {one.attrib["class"]: one for one in drawn}
    start, end = (float(by_class["track"].attrib[name]) for name in ("x1", "x2"))

    def share(x):
        return (float(x) - start) / (end - start)

    assert share(by_class["value"].attrib["cx"]) == pytest.approx(0.5, abs=0.005)
    assert share(by_class["interval"].attrib["x1"]) == pytest.approx(0.4, abs=0.005)
    assert share(by_class["interval"].attrib["x2"]) == pytest.approx(0.6, abs=0.005)
    assert share(points_of(by_class["plain"].attrib["d"])[0, 0]) == pytest.approx(0.25, abs=0.005)
    assert share(by_class["chance"].attrib["x1"]) == pytest.approx(0.0, abs=0.005)
    assert share(by_class["limit"].attrib["x1"]) == pytest.approx(1.0, abs=0.005)


def test_a_bar_leaves_out_what_is_not_known_and_clips_what_is_beyond():
    drawn = value_bar(Linear(0.0, 1.0), Span(np.nan), "x", plain=np.nan, chance=np.nan)
    assert [one.attrib["class"] for one in parsed(drawn)] == ["track"]
    beyond = parsed(value_bar(Linear(0.0, 1.0), Span(-5.0), "x", plain=np.nan, chance=np.nan))
    assert float(beyond[1].attrib["cx"]) == float(beyond[0].attrib["x1"])
    ring = parsed(range_bar(Linear(0.0, 4.0), Span(2.0, 1.0, 3.0), "x", second=4.0))
    assert [one.attrib["class"] for one in ring] == ["track", "interval", "value", "second"]


def test_a_share_of_a_time_begins_where_the_one_before_ends():
    first, second = (parsed(stage_bar(start, share, "x")) for start, share in ((0.0, 0.25), (0.25, 0.75)))
    ends = [(float(one[1].attrib["x"]), float(one[1].attrib["width"])) for one in (first, second)]
    assert ends[0][0] + ends[0][1] == pytest.approx(ends[1][0], abs=0.11)
    whole = float(first[0].attrib["width"])
    assert ends[1][1] / whole == pytest.approx(0.75, abs=0.01)
