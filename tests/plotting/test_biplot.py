"""Arrows on a map: they point where rows move, and their labels cover nothing."""

import itertools

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch
from matplotlib.text import Text

from gramfold import PCA, Isomap
from gramfold.diagnostics import loadings
from gramfold.errors import InputError
from gramfold.plotting import blank_figure, plot_loadings, save_picture
from gramfold.plotting.fitted_text import line_width, short_names

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 8)) * (4, 3, 2, 1, 0.5, 0.2, 0.1, 0.1)
NAMES = ["a long name", "b", "another long name", "d", "e", "f", "g", "h"]


def arrows_of(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


def test_arrows_point_where_rows_move():
    model = PCA().fit(X)
    found = loadings(model, names=NAMES)
    ax = plot_loadings(found, model, ax=blank_figure().subplots())
    arrows = arrows_of(ax)
    assert 2 <= len(arrows) <= 6
    for arrow, label in zip(sorted(arrows, key=_length, reverse=True), ax.texts, strict=True):
        start, end = (np.array(point) for point in arrow._posA_posB)
        j = NAMES.index(label.get_text())
        moved = model.transform(X[:1] + np.eye(8)[[j]]) - model.transform(X[:1])
        cosine = (end - start) @ moved[0] / np.linalg.norm(end - start) / np.linalg.norm(moved)
        assert cosine > 0.99


def _length(arrow):
    start, end = arrow._posA_posB
    return np.linalg.norm(np.subtract(end, start))


@pytest.mark.parametrize("regions", [False, True])
def test_labels_do_not_cover_each_other(regions):
    rng = np.random.default_rng(1)
    t = rng.random(500) * 3
    table = np.column_stack([t + 0.3 * rng.normal(size=500) for _ in range(6)] + [rng.normal(size=500)] * 2)
    model = Isomap(n_neighbors=10).fit(table)
    found = loadings(model, names=[f"column number {j}" for j in range(8)])
    figure = blank_figure()
    ax = plot_loadings(found, model, regions=regions, count=8 if not regions else None, ax=figure.subplots())
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) >= 4
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            width = min(one.x1, other.x1) - max(one.x0, other.x0)
            height = min(one.y1, other.y1) - max(one.y0, other.y0)
            assert min(width, height) < 2  # pixels


def test_a_picture_with_colours_is_saved(tmp_path):
    model = PCA(3).fit(X)
    for number, color in enumerate((X[:, 0], np.where(X[:, 0] > 0, "up", "down"), None)):
        figure = blank_figure()
        plot_loadings(loadings(model), model, color=color, axes=(0, 2), title="t", ax=figure.subplots())
        path = save_picture(figure, tmp_path / f"{number}.png")
        assert path.stat().st_size > 10_000


def test_a_map_of_anybodys(tmp_path):
    Y = np.column_stack([X[:, 0], -X[:, 1]])
    Y[:5] = np.nan
    ax = plot_loadings(loadings(X, Y, names=NAMES), Y, count=2, ax=blank_figure().subplots())
    assert {text.get_text() for text in ax.texts if text.get_text() in NAMES} == {"a long name", "b"}


def test_what_cannot_be_drawn():
    model = PCA().fit(X)
    found = loadings(model)
    with pytest.raises(InputError, match="arrows need two of its columns"):
        plot_loadings(found, model, axes=(0, 5))
    with pytest.raises(InputError, match="arrows need two of its columns"):
        plot_loadings(found, model.embedding_[:, :1])
    with pytest.raises(InputError, match="draws Loadings, but got PCA"):
        plot_loadings(model, model)
    for axes in ((0,), "ab", 3, (0, "b"), (0, 1.5), (0, 1, 2)):
        with pytest.raises(InputError, match="axes="):
            plot_loadings(found, model, axes=axes)
    for count in ("a", 0, -1, 2.5):
        with pytest.raises(InputError, match=r"count=.* pass an integer of at least 1"):
            plot_loadings(found, model, count=count)
    with pytest.raises(InputError, match="the embedding has 10 rows, but the loadings are of a map of at least 400"):
        plot_loadings(found, model.embedding_[:10])
    with pytest.raises(InputError, match="the loadings know axes up to 1"):
        plot_loadings(found, PCA(3).fit(X), axes=(0, 2))
    few = PCA().fit(X[:40])
    with pytest.raises(InputError, match="no regions"):
        plot_loadings(loadings(few), few, regions=True)


def long_names(count, kind):
    words = [f"{'worst' if j % 2 else 'mean'} measure number {j}" for j in range(count)]
    if kind == "front":
        return [f"{word} of the tumour as it is seen in the image" for word in words]
    return [f"seen in the image of the tumour, that is the {word}" for word in words]


def inside(box, start, end):
    steps = start + np.linspace(0.0, 1.0, 400)[:, None] * (end - start)
    return ((steps > (box.x0, box.y0)) & (steps < (box.x1, box.y1))).all(axis=1).any()


@pytest.mark.parametrize("size", [(6.0, 4.5), (3.5, 3.0)])
@pytest.mark.parametrize("kind", ["front", "back"])
@pytest.mark.parametrize("seed", range(3))
def test_long_names_stay_within_the_axes_and_no_line_crosses_them(size, kind, seed):
    rng = np.random.default_rng(seed)
    t = rng.normal(size=(300, 2)) * (3, 2)
    table = t @ rng.normal(size=(2, 10)) + 0.5 * rng.normal(size=(300, 10))
    table /= table.std(axis=0)
    model = PCA().fit(table)
    figure = blank_figure(*size)
    ax = plot_loadings(loadings(model, names=long_names(10, kind)), model, ax=figure.subplots())
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    assert len(boxes) == 6
    assert len({text.get_text() for text in ax.texts}) == 6  # shortened, and still different
    for box in boxes:
        assert box.x0 >= ax.bbox.x0 - 1
        assert box.x1 <= ax.bbox.x1 + 1
        assert box.y0 >= ax.bbox.y0 - 1
        assert box.y1 <= ax.bbox.y1 + 1
    for one, other in itertools.combinations(boxes, 2):
        assert min(min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)) < 2
    for line in ax.lines:
        start, end = ax.transData.transform(line.get_xydata())
        assert not any(inside(box.padded(-1), start, end) for box in boxes)


def test_names_are_cut_where_they_are_alike():
    width = line_width("x" * 12, 8.0)
    assert short_names(["age", "dose"], width, 8.0) == ["age", "dose"]
    ends = short_names(["radius of the tumour in the image", "area of the tumour in the image"], width, 8.0)
    assert [name[:4] for name in ends] == ["radi", "area"]
    assert all(name.endswith("…") for name in ends)
    starts = short_names(["in the image: the radius", "in the image: the area"], width, 8.0)
    assert starts[0].endswith("s")
    assert starts[1].endswith("area")
    assert all(line_width(name, 8.0) <= width for name in (*ends, *starts))


def test_the_columns_that_words_name_come_first():
    """Column `up` leads the second axis, which is short: by length alone it would have no arrow."""
    rng = np.random.default_rng(0)
    names = [f"c{j}" for j in range(9)] + ["up"]
    table = rng.normal(size=(500, 10))
    Y = np.column_stack([10 * table[:, :9] @ np.linspace(1.0, 1.4, 9), table[:, 9]])
    found = loadings(table, Y, names=names)
    assert "The second axis is mostly up (+)" in str(found)
    ax = plot_loadings(found, Y, ax=blank_figure().subplots())
    drawn = {text.get_text() for text in ax.texts}
    assert "up" in drawn
    named = [names[j] for j in np.argsort(-found.shares[0])[:5]]
    assert drawn == {"up", *named}
    assert {text.get_text() for text in plot_loadings(found, Y, count=2, ax=blank_figure().subplots()).texts} == {
        "up",
        named[0],
    }


def test_a_far_row_does_not_turn_the_arrows():
    Y = X[:, :2].copy()
    far = np.vstack([Y, [1e5, 0.0]])
    rows = np.vstack([X, X[:1] + 0.01])
    ends = []
    for table, places in ((X, Y), (rows, far)):
        ax = plot_loadings(loadings(table, places, names=NAMES), places, count=2, ax=blank_figure().subplots())
        moves = [np.subtract(*arrow._posA_posB[::-1]) for arrow in arrows_of(ax)]
        ends.append(np.array([move / np.linalg.norm(moves[0]) for move in moves]))
    np.testing.assert_allclose(*ends, atol=0.02)
