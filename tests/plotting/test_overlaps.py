"""No two texts of a figure cover each other, none is cut off, and none is too small for print."""

import itertools

import numpy as np
import pytest
from matplotlib.text import Text

from gramfold import LLE, PCA, ClassicalMDS, Isomap, compare
from gramfold.datasets import make_s_curve
from gramfold.diagnostics import faults, r_nx_curve
from gramfold.plotting import (
    blank_figure,
    plot_comparison,
    plot_coranking,
    plot_gallery,
    plot_kernel,
    plot_map,
    plot_path,
    plot_shepard,
    plot_spectra,
)

SMALLEST = 6.0  # points
ROUNDING = 1.0  # pixels that boxes of texts may share: they are higher than their letters
CURVE = make_s_curve(300, random_state=0)
ISOMAP = Isomap().fit(CURVE.points)
RNG = np.random.default_rng(0)


def texts(figure):
    """Texts that are seen, and their boxes."""
    return [
        (text, Text.get_window_extent(text))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip()
    ]


def seen(figure):
    """Those of `texts` that the figure draws: ticks outside of an axis exist, but are not drawn."""
    hidden = set()
    for ax in figure.findobj(lambda artist: hasattr(artist, "get_xaxis")):
        for axis in (ax.xaxis, ax.yaxis):
            drawn = set()
            for tick in axis._update_ticks():
                drawn |= {id(tick.label1), id(tick.label2)}
            for tick in (*axis.majorTicks, *axis.minorTicks):
                hidden |= {id(tick.label1), id(tick.label2)} - drawn
            if not ax.axison or not axis.get_visible():
                hidden |= drawn
    return [(text, box) for text, box in texts(figure) if id(text) not in hidden]


def check(figure):
    figure.canvas.draw()
    found = seen(figure)
    assert found
    for text, box in found:
        assert text.get_fontsize() >= SMALLEST, f"{text.get_text()!r} is too small"
        inside = min(box.x0, box.y0) >= -ROUNDING and (box.max <= figure.bbox.max + ROUNDING).all()
        assert inside, f"{text.get_text()!r} is cut off"
    for (a, one), (b, other) in itertools.combinations(found, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(wide, high) <= ROUNDING, f"{a.get_text()!r} and {b.get_text()!r} overlap"


def agg_figure(width, height):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = blank_figure(width, height)
    FigureCanvasAgg(figure)
    return figure


SIZES = [(3.5, 3.0), (6.4, 4.8)]


def test_overlaps_are_found():
    figure = agg_figure(3.5, 3.0)
    ax = figure.subplots()
    ax.text(0.5, 0.5, "one")
    ax.text(0.51, 0.5, "other")
    with pytest.raises(AssertionError, match="overlap"):
        check(figure)
    figure = agg_figure(3.5, 3.0)
    figure.subplots().text(0.98, 0.5, "far too long for this place", in_layout=False)
    with pytest.raises(AssertionError, match="cut off"):
        check(figure)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [3, 10, 60])
@pytest.mark.parametrize("settings", [{}, {"legend": "below"}, {"names": True}], ids=["auto", "below", "names"])
def test_maps_with_categories(size, count, settings):
    names = np.array([f"type {j}" for j in range(count)])[np.arange(300) % count]
    if settings.get("legend") == "below" and size[0] < 4 and count > 10:
        pytest.skip("a legend of so many names has no room in so small a figure, and was asked for")
    figure = agg_figure(*size)
    plot_map(ISOMAP, color=names, title="Isomap of a curve", ax=figure.subplots(), **settings)
    check(figure)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", [1e-3, 1e5])
def test_maps_of_any_scale(size, scale):
    places = ISOMAP.embedding_ * scale
    places = places.copy()
    places[:3] = np.nan
    figure = agg_figure(*size)
    plot_map(places, color=CURVE.truth[:, 0], color_label="arc length", title="a curve", ax=figure.subplots())
    check(figure)


@pytest.mark.parametrize("size", SIZES)
def test_maps_with_faults_and_gaps(size):
    torn = CURVE.truth + np.where(CURVE.truth[:, :1] > 3, [40.0, 30.0], 0.0)
    figure = agg_figure(*size)
    plot_map(torn, color=np.arange(300) % 4, faults=faults(CURVE.truth, torn), cut_gaps=True, ax=figure.subplots())
    check(figure)


@pytest.mark.parametrize("size", [(12.0, 6.2), (7.2, 4.0), (3.5, 7.5)])
@pytest.mark.parametrize(
    "model",
    [ISOMAP, ClassicalMDS(metric="precomputed"), PCA(1).fit(CURVE.points)],
    ids=["Isomap", "precomputed", "one column"],
)
def test_eight_panels(size, model):
    if not hasattr(model, "embedding_"):
        from scipy.spatial.distance import cdist

        model.fit(cdist(CURVE.points, CURVE.points))
    figure = agg_figure(*size)
    plot_kernel(model, figure=figure)
    check(figure)


@pytest.mark.parametrize("size", SIZES)
def test_other_pictures(size):
    models = {"Isomap": ISOMAP, "PCA": PCA().fit(CURVE.points), "locally linear": LLE(n_neighbors=9).fit(CURVE.points)}
    images = RNG.random((300, 8, 8))
    curves = {name: r_nx_curve(CURVE.points, model.embedding_) for name, model in models.items()}
    for draw in (
        lambda figure: plot_spectra(models, ax=figure.subplots(), title="a curve"),
        lambda figure: plot_spectra(models, kind="lines", ax=figure.subplots()),
        lambda figure: plot_spectra(models, kind="lines", scale="log", ax=figure.subplots()),
        lambda figure: plot_shepard(ISOMAP, ax=figure.subplots()),
        lambda figure: plot_coranking(curves, ax=figure.subplots(), title="a curve"),
        lambda figure: plot_path(ISOMAP, images, 0, 100, along="graph", figure=figure, title="a curve"),
        lambda figure: plot_gallery(models, color=np.arange(300) % 12, figure=figure, title="a curve"),
    ):
        figure = agg_figure(*size)
        draw(figure)
        check(figure)


@pytest.fixture(scope="module")
def eight_maps():
    names = ["pca", "isomap", "lle", "laplacian_eigenmaps", "ltsa", "diffusion_map", "classical_mds", "a_map_of_my_own"]
    turns = RNG.normal(size=(8, 3, 2))
    bent = {name: np.tanh(CURVE.points @ turn) for name, turn in zip(names, turns, strict=True)}
    return compare(CURVE.points, bent, labels=np.arange(300) % 10)


@pytest.mark.parametrize("size", [(3.5, 5.0), (5.0, 4.0), (8.0, 5.0), (12.0, 3.0)])
@pytest.mark.parametrize("color", [None, CURVE.truth[:, 0]], ids=["legend", "bar"])
def test_eight_maps_compared(eight_maps, size, color):
    figure = agg_figure(*size)
    plot_comparison(eight_maps, color=color, title="a curve", figure=figure)
    check(figure)
    panels = [ax for ax in figure.axes if ax.collections and ax.get_title()]
    assert len(panels) == 8
    assert all("neighbours" in ax.get_xlabel() and "faults" in ax.get_xlabel() for ax in panels)
    legends = [legend.get_window_extent() for legend in figure.legends]
    words = [text.get_window_extent() for ax in panels for text in (ax.title, ax.xaxis.label)]
    assert not any(legend.overlaps(box) for legend in legends for box in words)


def test_fewer_numbers_in_a_figure_without_room(eight_maps):
    figure = agg_figure(2.6, 2.6)
    plot_comparison(eight_maps, figure=figure)
    panels = [ax for ax in figure.axes if ax.collections]
    assert not any("stress" in ax.get_xlabel() for ax in panels)
    assert all(ax.xaxis.label.get_fontsize() >= SMALLEST for ax in panels)
