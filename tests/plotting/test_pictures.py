"""Pictures: each point where its map says, in the colour that its value says."""

import builtins

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from gramfold import Isomap
from gramfold.errors import InputError, MissingExtraError
from gramfold.notebook.palette import ABSENT, PLAIN
from gramfold.plotting import blank_figure, plot_edges, plot_gallery, plot_map, save_picture

POINTS = np.random.default_rng(0).normal(size=(50, 3))


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


def dots(ax):
    """Places and colours of the dots drawn."""
    (scatter,) = ax.collections
    if ax.name == "3d":
        # the public getters give what is drawn, sorted by depth
        return np.column_stack(scatter._offsets3d), scatter._facecolors
    return np.asarray(scatter.get_offsets()), scatter.get_facecolors()


@pytest.mark.parametrize("width", [1, 2, 3])
def test_dots_stand_where_the_map_says(width):
    ax = plot_map(POINTS[:, :width], title="here")
    places, colors = dots(ax)
    np.testing.assert_allclose(places[:, :1] if width == 1 else places, POINTS[:, :width])
    np.testing.assert_allclose(colors, np.tile(to_rgba(PLAIN), (len(colors), 1)))
    assert ax.get_title() == "here"


def test_lengths_have_the_same_scale_along_both_axes():
    figure = blank_figure()
    ax = plot_map(POINTS[:, :2] * [100, 1], ax=figure.subplots())
    figure.draw_without_rendering()
    (x0, y0), (x1, _), (_, y2) = ax.transData.transform([(0, 0), (1, 0), (0, 1)])
    assert x1 - x0 == pytest.approx(y2 - y0, rel=0.01)


def test_a_fitted_model_is_drawn_by_its_map():
    class Model:
        embedding_ = POINTS[:, :2]

    places, _ = dots(plot_map(Model()))
    np.testing.assert_allclose(places, POINTS[:, :2])


def test_numbers_are_coloured_along_a_scale():
    values = np.linspace(3, 5, 50)
    ax = plot_map(POINTS[:, :2], color=values, color_label="height")
    _, colors = dots(ax)
    np.testing.assert_allclose(colors, mpl.colormaps["viridis"]((values - 3) / 2))
    bar = ax.figure.axes[1]
    assert bar.get_ylim() == (3, 5)
    assert bar.get_ylabel() == "height"


@pytest.mark.parametrize(
    "kinds",
    [np.arange(50) % 3, np.array(["a", "b", "c"])[np.arange(50) % 3], np.arange(50) % 2 == 0],
    ids=["whole numbers", "words", "truth values"],
)
def test_kinds_have_a_colour_each_and_a_legend(kinds):
    ax = plot_map(POINTS[:, :2], color=kinds)
    _, colors = dots(ax)
    legend = {
        text.get_text(): line.get_color()
        for text, line in zip(ax.get_legend().get_texts(), ax.get_legend().get_lines(), strict=True)
    }
    assert list(legend) == [str(kind) for kind in np.unique(kinds)]
    for kind, color in zip(kinds, colors, strict=True):
        np.testing.assert_allclose(legend[str(kind)], color)
    assert len(np.unique(colors, axis=0)) == len(legend)


@pytest.mark.parametrize("color", [[np.nan, *range(49)], np.array([None, *"ab" * 24, "a"], dtype=object)])
def test_points_of_unknown_colour_are_grey(color):
    _, colors = dots(plot_map(POINTS[:, :2], color=np.asarray(color)))
    np.testing.assert_allclose(colors[0], to_rgba(ABSENT))
    assert not np.isclose(colors[1:], to_rgba(ABSENT)).all(axis=1).any()


def test_rows_without_a_place_are_counted_not_drawn():
    places = POINTS[:, :2].copy()
    places[[3, 7]] = np.nan
    ax = plot_map(places, color=np.arange(50.0))
    drawn, colors = dots(ax)
    kept = ~np.isnan(places[:, 0])
    np.testing.assert_allclose(drawn, places[kept])
    np.testing.assert_allclose(colors, mpl.colormaps["viridis"](np.arange(50)[kept] / 49))
    assert [text.get_text() for text in ax.texts] == ["2 of 50 rows have no coordinates"]


def test_a_gallery_gives_a_point_the_same_colour_in_every_panel():
    maps = {"space": POINTS, "plane": POINTS[:, :2], "line": POINTS[:, :1], "other": POINTS[:, 1:]}
    figure = plot_gallery(maps, color=POINTS[:, 0], title="all", color_label="first")
    panels = figure.axes[:4]
    assert [ax.get_title() for ax in panels] == list(maps)
    for ax, places in zip(panels, maps.values(), strict=True):
        drawn, colors = dots(ax)
        np.testing.assert_allclose(drawn[:, : places.shape[1]] if places.shape[1] > 1 else drawn[:, :1], places)
        np.testing.assert_allclose(colors, dots(panels[0])[1])
    assert len(figure.axes) == 5, "one scale for all panels"


@pytest.mark.parametrize("ending", [".png", ".pdf", ".svg"])
def test_a_picture_is_saved_whole(ending, tmp_path):
    figure = blank_figure()
    plot_map(POINTS[:, :2], ax=figure.subplots())
    path = save_picture(figure, tmp_path / f"map{ending}")
    assert path.is_absolute()
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"%PDF-", b"<?xml")
    assert list(tmp_path.iterdir()) == [path]
    assert plt.get_fignums() == [], "no window was made"


@pytest.mark.parametrize(
    ("embedding", "color", "sentence"),
    [
        (np.zeros((5, 4)), None, r"shape \(5, 4\), but a plot shows one to three columns: select"),
        (np.zeros((5, 0)), None, r"shape \(5, 0\)"),
        (object(), None, "must be numeric, but object is not: pass an array of numbers or a fitted model"),
        (np.array([["a", "b"]]), None, "An embedding must be numeric, but ndarray is not"),
        (np.zeros((5, 2)), np.zeros(4), r"color has shape \(4,\) for 5 points"),
        (np.zeros((5, 2)), "no such colour", "color='no such colour' is no colour that matplotlib knows"),
        (np.zeros((2, 2)), np.array(["2020", "2021"], dtype="datetime64"), "neither numbers nor strings"),
    ],
)
def test_what_cannot_be_drawn(embedding, color, sentence):
    with pytest.raises(InputError, match=sentence):
        plot_map(embedding, color=color)
    assert plt.get_fignums() == [], "a figure was left behind"


def test_three_columns_need_axes_in_space():
    with pytest.raises(InputError, match='projection="3d"'):
        plot_map(POINTS, ax=blank_figure().subplots())


def test_galleries_that_cannot_be_drawn():
    with pytest.raises(InputError, match="maps is empty: pass at least one"):
        plot_gallery({})
    with pytest.raises(InputError, match=r"different numbers of rows \(a 50, b 49\)"):
        plot_gallery({"a": POINTS, "b": POINTS[1:]})


def test_names_that_are_no_pictures(tmp_path):
    with pytest.raises(InputError, match=r"does not have the ending of an image file: use one of .*\.png"):
        save_picture(blank_figure(), tmp_path / "map.csv")
    with pytest.raises(InputError, match="there is no folder"):
        save_picture(blank_figure(), tmp_path / "none" / "map.png")


def test_without_matplotlib(monkeypatch):
    real_import = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    for draw in (lambda: plot_map(POINTS), lambda: plot_gallery({"a": POINTS}), blank_figure):
        with pytest.raises(MissingExtraError, match=r'pip install "gramfold\[plot\]"'):
            draw()


@pytest.mark.parametrize("width", [2, 3])
def test_edges_run_from_row_to_row(width):
    points = POINTS[:, :width].copy()
    points[7] = np.nan
    ax = plot_edges(points, [(0, 1), (4, 3), (7, 2)], names=True)
    lines = ax.collections[1]
    drawn = np.array(lines._segments3d if width == 3 else lines.get_segments())
    np.testing.assert_allclose(drawn, points[[[0, 1], [4, 3]]])
    assert [text.get_text() for text in ax.texts if text.get_text().strip().isdigit()] == [" 0", " 1", " 3", " 4"]


@pytest.mark.parametrize(
    ("edges", "words"),
    [([(0, 50)], "rows 0 to 49"), ([0, 1], "pairs of row numbers"), ([(0.5, 1.0)], "pairs of row numbers")],
)
def test_edges_that_cannot_be_drawn(edges, words):
    with pytest.raises(InputError, match=words):
        plot_edges(POINTS, edges)
    with pytest.raises(InputError, match="one column"):
        plot_edges(POINTS[:, :1], [(0, 1)])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plot_map(POINTS[:, :2], color=POINTS[:, 0], cmap="virdis"), "cmap='virdis' is no colormap.*'viridis'"),
        (lambda: plot_map(POINTS[:, :2], color=np.arange(50) % 3, cmap="no such"), "cmap='no such' is no colormap"),
        (lambda: plot_map(POINTS[:, :2], color=[[1, 2]] * 49 + [[1]]), "color holds entries of different lengths"),
        (lambda: plot_map([[1.0, 2.0], [3.0]]), "rows differ in length"),
        (lambda: plot_map(POINTS[:, :2], size="big"), "size='big' is no area"),
        (lambda: plot_map(POINTS[:, :2], size=-1), "size=-1 is no area"),
        (lambda: plot_edges(POINTS[:, :2], [(0, 1)], edge_color="blurple"), "edge_color='blurple' is no colour"),
        (lambda: plot_edges(POINTS[:, :2], [(0, 1), (2,)]), "edges holds entries of different lengths"),
        (lambda: plot_gallery([POINTS]), "maps is a list: pass a dict"),
        (lambda: plot_gallery({"a": POINTS}, n_columns=-1), "n_columns=-1 is no number of panels"),
    ],
)
def test_one_sentence_instead_of_a_raw_error(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_a_model_that_is_not_fitted_is_not_drawn():
    with pytest.raises(NotFittedError, match="embedding is Isomap, which is not fitted"):
        plot_map(Isomap())
    with pytest.raises(InputError, match="keeps no map"):
        plot_map(KMeans(2, n_init=1).fit(POINTS))
