"""The picture of a comparison: maps turned onto the first, numbers and faults under each, no text over another."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_digits

from gramfold import PCA, Isomap, compare
from gramfold.errors import InputError
from gramfold.plotting import blank_figure, plot_comparison

ROWS, KINDS = (part[:150] for part in load_digits(return_X_y=True))
PLACES = PCA(2).fit_transform(ROWS)
TURNED = PLACES @ [[0.0, 1.0], [-1.0, 0.0]] * 5 + 2


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    holes = np.where(rng.random((150, 1)) < 0.1, np.nan, PLACES)
    methods = {
        "pca": PLACES,
        "turned": TURNED,
        "noise": rng.random((150, 2)),
        "holes": holes,
        "fails": Isomap(n_neighbors=500),
    }
    methods |= {"a long name of a map that somebody made": PLACES[:, :1], "five": PCA(5).fit_transform(ROWS)}
    return compare(ROWS, methods, labels=KINDS)


def test_maps_are_turned_onto_the_first(found):
    axes = found.figure().axes
    dots = {ax.get_title(): ax.collections[0].get_offsets() for ax in axes if ax.collections}
    np.testing.assert_allclose(dots["turned"], PLACES, atol=1e-9)
    assert dots["five"].shape == (150, 2)


def test_numbers_and_faults_stand_under_each(found):
    axes = {ax.get_title(): ax for ax in found.figure().axes}
    words = axes["noise"].get_xlabel().replace("\n", " ")
    row = found["noise"]
    assert f"labels {row.measures['neighborhood_purity'].value:.2f}" in words
    assert f"stress {row.measures['stress'].value:.2f}" in words
    assert f"faults: {', '.join(row.faults.named)}" in words
    assert "-0.00" not in words
    assert "first 2 of 5 coordinates" in axes["five"].get_xlabel()


def test_a_map_with_infinite_coordinates_is_left_out():
    infinite = np.where(np.arange(150)[:, None] == 7, np.inf, PLACES)
    figure = compare(ROWS, {"guest": infinite, "pca": PLACES, "turned": TURNED}).figure()
    dots = {ax.get_title(): ax.collections[0].get_offsets() for ax in figure.axes if ax.collections}
    assert list(dots) == ["pca", "turned"]
    np.testing.assert_allclose(dots["turned"], PLACES, atol=1e-9)
    assert figure.get_supxlabel() == "failed: guest"


@pytest.mark.parametrize("color", [None, np.arange(150.0)])
def test_no_text_lies_over_another(found, color):
    figure = found.figure(color=color, title="Digits", color_label="digit")
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = [part for ax in figure.axes for part in (ax.title, ax.xaxis.label) if part.get_text()]
    texts += [figure._suptitle, figure._supxlabel]
    texts += [text for legend in figure.legends for text in legend.get_texts()]
    boxes = [text.get_window_extent(renderer) for text in texts]
    assert len(boxes) > 12
    for (one, first), (other, second) in itertools.combinations(zip(texts, boxes, strict=True), 2):
        assert not first.overlaps(second), (one.get_text(), other.get_text())
    for text, box in zip(texts, boxes, strict=True):
        assert figure.bbox.x0 <= box.x0, text.get_text()
        assert box.x1 <= figure.bbox.x1, text.get_text()


def test_what_failed_is_named(found):
    assert found.failures
    assert "fails" in found.figure()._supxlabel.get_text()


def test_a_figure_of_ones_own_and_three_dimensions():
    found = compare(ROWS, {"space": PCA(3).fit_transform(ROWS), "plane": PLACES})
    figure = blank_figure(8, 4)
    assert plot_comparison(found, figure=figure, color="tomato") is figure
    assert figure.axes[0].name == "3d"
    assert any("stress" in text.get_text() for text in figure.axes[0].texts)


def test_anything_else_is_refused():
    with pytest.raises(InputError, match="comparison is a dict: pass what"):
        plot_comparison({"pca": PLACES})
