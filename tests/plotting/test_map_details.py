"""Maps with many categories, names, faults, cut gaps and many rows: what is drawn says what the map says."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from gramfold.diagnostics import faults
from gramfold.errors import InputError
from gramfold.notebook.palette import OKABE_ITO, opacity
from gramfold.plotting import blank_figure, plot_gallery, plot_map
from gramfold.plotting.colors import MARKERS, categories, coloring, known_names
from gramfold.plotting.fault_marks import marks_of
from gramfold.plotting.gaps import Bands
from gramfold.plotting.names import medoid

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(300, 2))


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


def drawn(figure):
    figure.draw_without_rendering()
    return figure


# --- categories


@pytest.mark.parametrize("count", [2, 8, 9, 40, 64])
def test_categories_differ_by_colour_or_marker(count):
    names = np.array([f"kind {j}" for j in range(count)])[np.arange(300) % count]
    colors = coloring(names, 300)
    looks = {(tuple(np.round(kind.rgba, 6)), kind.marker) for kind in colors.kinds}
    assert len(looks) == count
    assert len({marker for _, marker in looks}) == -(-count // 8)
    for code, rgba, marker in zip(colors.codes, colors.rgba, colors.marker_of, strict=True):
        np.testing.assert_array_equal(rgba, colors.kinds[code].rgba)
        assert marker == colors.kinds[code].marker
    # the first eight are exactly Okabe and Ito's, as round dots
    assert [mpl.colors.to_hex(color).upper() for color, _ in categories(8)] == list(OKABE_ITO)


def test_every_dot_has_the_marker_of_its_category():
    names = np.array([f"kind {j}" for j in range(20)])[np.arange(300) % 20]
    (dots,) = plot_map(POINTS, color=names).collections
    np.testing.assert_allclose(dots.get_offsets(), POINTS)
    shapes = [mpl.markers.MarkerStyle(marker) for marker in MARKERS]
    wanted = [shape.get_path().transformed(shape.get_transform()).vertices for shape in shapes]
    for row, path in enumerate(dots.get_paths()):
        np.testing.assert_array_equal(path.vertices, wanted[row % 20 // 8])


def test_names_with_numbers_are_in_natural_order_and_gaps_take_no_colour():
    stages = np.array(["16 cells", "2 cells", None, "4 cells", "2 cells", np.nan], dtype=object)
    names, codes, known = known_names(stages)
    assert [name for name, is_name in zip(names, known, strict=True) if is_name] == ["2 cells", "4 cells", "16 cells"]
    assert [names[code] for code in codes] == ["16 cells", "2 cells", "None", "4 cells", "2 cells", "nan"]
    colors = coloring(stages, 6)
    assert mpl.colors.to_hex(colors.rgba[1]).upper() == OKABE_ITO[0]
    assert mpl.colors.to_hex(colors.rgba[0]).upper() == OKABE_ITO[2]


def test_a_legend_of_sixty_names_has_columns_and_all_of_them():
    names = np.array([f"type {j}" for j in range(60)])[np.arange(300) % 60]
    ax = plot_map(POINTS, color=names, ax=blank_figure().subplots())
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [f"type {j}" for j in range(60)]
    assert legend._ncols > 1
    figure = plot_gallery({"a": POINTS, "b": POINTS}, color=names, figure=blank_figure(8, 4))
    assert len(figure.legends[0].get_texts()) == 60


def test_where_a_legend_has_no_room_names_stand_on_the_map():
    names = np.array([f"person {j}" for j in range(40)])[np.arange(300) % 40]
    ax = plot_map(POINTS, color=names, ax=blank_figure(3.5, 3).subplots())
    assert ax.get_legend() is None
    assert sorted(text.get_text() for text in ax.texts) == sorted(set(names))
    below = plot_map(POINTS, color=names, legend="below", ax=blank_figure(3.5, 3).subplots())
    assert len(below.get_legend().get_texts()) == 40
    assert plot_map(POINTS, color=names, legend=False, ax=blank_figure(3.5, 3).subplots()).get_legend() is None


def test_more_categories_than_can_differ_are_counted():
    ax = plot_map(POINTS, color=np.array([f"kind {j}" for j in range(100)])[np.arange(300) % 100])
    assert ax.get_legend() is None
    assert [text.get_text() for text in ax.texts] == ["100 categories, whose colours repeat."]


def test_a_constant_value_has_a_scale():
    ax = plot_map(POINTS, color=np.full(300, 3.0))
    assert ax.figure.axes[1].get_ylim() == (2.5, 3.5)


# --- names


def test_names_stand_near_their_groups_and_cover_no_other():
    centers = RNG.normal(size=(25, 2))
    groups = np.arange(300) % 25
    points = centers[groups] + 0.1 * POINTS
    figure = blank_figure(3.5, 3)
    ax = plot_map(points, color=points[:, 0], names=np.array([f"group {j}" for j in groups]), ax=figure.subplots())
    for size in ((3.5, 3), (8, 6)):  # they are placed anew in a figure of another size
        figure.set_size_inches(size)
        drawn(figure)
        shown = [text for text in ax.texts if text.get_visible()]
        assert len(shown) == 25
        boxes = [text.get_window_extent() for text in shown]
        for i, box in enumerate(boxes):
            assert ax.bbox.x0 <= box.x0 <= box.x1 <= ax.bbox.x1
            assert ax.bbox.y0 <= box.y0 <= box.y1 <= ax.bbox.y1
            assert not any(box.overlaps(other) for other in boxes[:i])
    for text in shown:
        group = int(text.get_text().split()[1])
        np.testing.assert_array_equal(text.xy, medoid(points[groups == group]))


def test_of_many_names_those_that_have_room_are_written():
    points = RNG.normal(size=(2000, 2))
    figure = blank_figure()
    ax = plot_map(points, names=np.array([f"cell {j}" for j in range(2000)]), ax=figure.subplots())
    drawn(figure)
    shown = [text for text in ax.texts if text.get_text().startswith("cell ")]
    assert 20 < len(shown) <= 100
    assert sum(text.get_visible() for text in shown) > len(shown) / 2
    for text in shown:
        np.testing.assert_array_equal(text.xy, points[int(text.get_text().split()[1])])
    assert any("2,000 names, of which those that have room" in text.get_text() for text in ax.texts)


def test_the_medoid_of_a_ring_lies_on_it():
    angle = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    assert np.linalg.norm(medoid(ring)) == pytest.approx(1.0)


# --- faults


def test_rows_above_the_limits_are_marked():
    sheet = RNG.random((400, 2))
    torn = sheet + np.where(sheet[:, :1] > 0.5, [3.0, 0.0], 0.0)
    found = faults(sheet, torn)
    ax = plot_map(torn, faults=found)
    marks = ax.collections[1:]
    wanted = {}
    for fault in found:  # plainly
        if fault.name in found.named:
            wanted[fault.name] = {row for row in range(400) if fault.per_point[row] > fault.threshold}
    wanted = {name: rows for name, rows in wanted.items() if rows}
    assert "torn" in wanted
    assert [mark.get_label() for mark in marks] == list(wanted)
    for mark in marks:
        rows = {int(np.flatnonzero((torn == place).all(axis=1))[0]) for place in np.asarray(mark.get_offsets())}
        assert rows <= wanted[mark.get_label()]
        assert len(rows) == min(60, len(wanted[mark.get_label()]))
    # the worst
    values = found.torn.per_point
    (row_marks,) = [mark for mark in marks_of(found, 400) if mark.fault == "torn"]
    others = sorted(wanted["torn"] - set(row_marks.rows.tolist()))
    assert not others or values[row_marks.rows].min() >= values[others].max()
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[0].startswith("torn: ")
    assert str(len(wanted["torn"])) in words[0]


def test_faults_that_are_not_named_are_not_marked():
    sheet = RNG.random((400, 2))
    moved = sheet.copy()
    moved[:3] = moved[3:6]  # three rows of 400 are glued
    found = faults(sheet, moved)
    assert not found.named
    assert any((fault.per_point > fault.threshold).any() for fault in found)
    ax = plot_map(moved, faults=found)
    assert len(ax.collections) == 1
    assert ax.get_legend() is None
    (note,) = ax.texts
    assert note.get_text().replace("\n", " ") == "No fault is above its threshold, so no row is marked."


def test_marks_of_a_map_of_one_column_stand_on_its_dots():
    sheet = RNG.random((100, 2))
    line = RNG.permutation(100).astype(float)[:, None]
    ax = plot_map(line, faults=faults(sheet, line))
    dots, *marks = (np.asarray(one.get_offsets()) for one in ax.collections)
    assert marks
    for mark in marks:
        assert all((dots == place).all(axis=1).any() for place in mark)


def test_faults_and_categories_have_a_legend_each():
    sheet = RNG.random((300, 2))
    folded = np.column_stack([np.abs(sheet[:, 0] - 0.5), sheet[:, 1]])
    ax = plot_map(folded, color=np.arange(300) % 3, faults=faults(sheet, folded))
    legends = [child for child in ax.get_children() if isinstance(child, mpl.legend.Legend)]
    assert max(len(legend.get_texts()) for legend in legends) == 3
    assert len(legends) == 2


# --- gaps


def test_bands_move_rows_apart_by_the_same_length_on_each_side():
    bands = Bands(np.array([1.0, 10.0]), np.array([5.0, 100.0]), 0.5)
    at = np.array([-2.0, 0.0, 1.0, 5.0, 7.0, 10.0, 100.0, 103.0])
    places = bands.forward(at)
    np.testing.assert_allclose(places, [-2, 0, 1, 1.5, 3.5, 6.5, 7.0, 10.0])
    np.testing.assert_allclose(bands.backward(places), at)


@pytest.mark.parametrize("color", [None, "categories"])
def test_an_outlier_does_not_make_the_rest_a_dot(color):
    points = np.vstack([POINTS, [[500.0, 1.0]]])
    values = None if color is None else np.array(["bulk"] * 300 + ["outlier"])

    def share(**settings):
        figure = blank_figure()
        ax = plot_map(points, color=values, ax=figure.subplots(), **settings)
        drawn(figure)
        pixels = ax.transData.transform(points)
        return np.ptp(pixels[:300, 0]) / ax.bbox.width, ax, pixels

    assert share()[0] < 0.03
    width, ax, pixels = share(cut_gaps=True)
    assert width > 0.4
    # equal scales, and the shape of the group is kept
    before, after = POINTS - POINTS[0], pixels[:300] - pixels[0]
    np.testing.assert_allclose(after, before * (after[1, 0] / before[1, 0]), rtol=0.01, atol=0.01 * np.abs(after).max())
    assert any("not those of the map" in text.get_text().replace("\n", " ") for text in ax.texts)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), points)  # true coordinates


def test_a_map_without_gaps_is_not_changed():
    ax = plot_map(POINTS, cut_gaps=True)
    assert ax.get_xscale() == ax.get_yscale() == "linear"
    assert not ax.texts


# --- many rows


def test_many_rows_are_shaded_by_their_number_and_mean_colour():
    points = np.vstack([np.zeros((40_000, 2)), np.ones((20_000, 2)), [[0.0, 1.0]]])
    kinds = np.array(["a"] * 40_000 + ["b"] * 10_000 + ["a"] * 10_000 + ["b"])
    ax = plot_map(points, color=kinds)
    assert not ax.collections
    image = ax.images[0].get_array()
    x0, x1, y0, y1 = ax.images[0].get_extent()

    def cell(x, y):
        height, width = image.shape[:2]
        return image[
            min(int((y - y0) / (y1 - y0) * height), height - 1), min(int((x - x0) / (x1 - x0) * width), width - 1)
        ]

    blue, orange = to_rgba(OKABE_ITO[0]), to_rgba(OKABE_ITO[1])
    np.testing.assert_allclose(cell(0, 0)[:3], blue[:3])
    np.testing.assert_allclose(cell(1, 1)[:3], (np.array(blue) + orange)[:3] / 2)
    assert cell(0, 0)[3] >= cell(1, 1)[3] > cell(0, 1)[3] > 0
    assert (image[..., 3] > 0).sum() == 3
    # a given size asks for dots
    assert len(plot_map(points, size=1.0).collections[0].get_offsets()) == 60_001


def test_shades_are_darker_the_more_rows_there_are():
    counts = np.array([1, 2, 10, 100, 1000])
    assert (np.diff(opacity(counts)) > 0).all()
    assert opacity(counts)[0] < 0.5
    assert opacity(counts)[-1] == 1.0


# --- what cannot be drawn


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"names": True}, "names=True writes the categories of color, which holds none: pass names=labels"),
        ({"names": ["a"] * 3}, r"names has shape \(3,\) for 300 points"),
        ({"color": [[1], [1, 2]]}, "color holds entries of different lengths: give one value per point"),
        ({"color": POINTS[:, 0], "cmap": "no such map"}, "cmap='no such map' is no colormap"),
        ({"legend": "above"}, "legend='above' is not known"),
        ({"faults": "torn"}, r"faults is a str: pass what gramfold\.diagnostics\.faults"),
    ],
)
def test_settings_that_cannot_be_drawn(settings, sentence):
    with pytest.raises(InputError, match=sentence):
        plot_map(POINTS, **settings)
    assert plt.get_fignums() == [], "a figure was left behind"


def test_maps_that_cannot_be_drawn():
    with pytest.raises(InputError, match="whose rows differ in length"):
        plot_map([[1.0, 2.0], [1.0]])
    with pytest.raises(InputError, match="names are written on maps of two columns, and this one has 1"):
        plot_map(POINTS[:, :1], names=["a"] * 300)
    with pytest.raises(InputError, match="cut_gaps=True shortens bands of maps of two columns"):
        plot_map(POINTS[:, :1], cut_gaps=True)
    with pytest.raises(InputError, match="faults was found on 300 rows, but the map has 299"):
        plot_map(POINTS[1:], faults=faults(POINTS, POINTS))
