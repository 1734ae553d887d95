"""Arrows on a map: they point where rows move, and their labels cover nothing."""

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch

from gramfold import PCA, Isomap
from gramfold.diagnostics import loadings
from gramfold.errors import InputError
from gramfold.plotting import blank_figure, plot_loadings, save_picture

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
