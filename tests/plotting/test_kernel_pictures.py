"""Pictures of kernels, spectra, distances and paths: what is drawn is what was computed."""

from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from gramfold import LLE, LTSA, PCA, ClassicalMDS, Isomap, LandmarkMDS, OrdinalMDS
from gramfold.datasets import make_s_curve
from gramfold.diagnostics import feature_distances, r_nx_curve, residual_variance
from gramfold.errors import DisconnectedGraphWarning, InputError
from gramfold.plotting import blank_figure, plot_coranking, plot_kernel, plot_path, plot_shepard, plot_spectra
from gramfold.plotting.shepard import monotone_fit
from gramfold.plotting.strip import found_path

CURVE = make_s_curve(200, random_state=0).points


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


def panels(figure):
    return {ax.get_title(loc="left")[0]: ax for ax in figure.axes}


def said(ax):
    return " ".join(" ".join(text.get_text().split()) for text in ax.texts)


# --- the eight panels


@pytest.mark.parametrize("model", [Isomap(), LLE(n_neighbors=10), LTSA(n_neighbors=10), PCA(), PCA(3), LandmarkMDS()])
def test_eight_panels_of_a_method(model):
    model.fit(CURVE)
    found = panels(plot_kernel(model, figure=blank_figure(12, 6)))
    assert list(found) == list("ACEGBDFH")
    assert not any(said(ax) for ax in found.values())
    values = model.leading_eigenvalues(len(found["A"].collections[0].get_offsets()))
    np.testing.assert_allclose(np.asarray(found["A"].collections[0].get_offsets())[:, 1], values, rtol=1e-6, atol=1e-9)
    assert found["B"].get_yscale() == "log"
    features = feature_distances(model)
    for letter, compared, space in (
        ("C", features.everywhere, "input"),
        ("D", features.local, "input"),
        ("E", features.everywhere, "feature"),
        ("F", features.local, "feature"),
    ):
        assert f"r = {compared.correlation('map', space):.2f}" in found[letter].get_title(loc="left")


def test_distances_from_a_row_are_those_of_feature_space():
    model = Isomap().fit(CURVE)
    found = panels(plot_kernel(model, figure=blank_figure(12, 6)))
    vertex = model.kernel_.rows
    gram = model.kernel_.matrix()[np.ix_(vertex, vertex)]
    for letter in "GH":
        cross = next(line for line in found[letter].lines if line.get_marker() == "x")
        place = np.array([cross.get_xdata()[0], cross.get_ydata()[0]])
        row = int(np.linalg.norm(model.embedding_ - place, axis=1).argmin())
        np.testing.assert_allclose(model.embedding_[row], place)
        dots = found[letter].collections[0]
        squares = np.diag(gram) + gram[row, row] - 2 * gram[row]
        np.testing.assert_allclose(dots.get_array(), np.sqrt(np.maximum(squares, 0)), atol=1e-6)
        np.testing.assert_allclose(dots.get_offsets(), model.embedding_)
    far = np.linalg.norm(model.embedding_ - np.median(model.embedding_, axis=0), axis=1)
    cross = next(line for line in found["G"].lines if line.get_marker() == "x")
    assert cross.get_xdata()[0] == pytest.approx(model.embedding_[far.argmax(), 0])


def test_panels_that_cannot_be_drawn_say_why():
    distances = cdist(CURVE, CURVE)
    model = ClassicalMDS(metric="precomputed").fit(distances)
    found = panels(plot_kernel(model, figure=blank_figure(12, 6)))
    assert "distances in the data are not known" in said(found["C"])
    assert "distances in the data are not known" in said(found["D"])
    assert not said(found["E"])
    assert not said(found["G"])
    # with the distances they are known
    found = panels(plot_kernel(model, distances, figure=blank_figure(12, 6)))
    assert not said(found["C"])
    assert not said(found["D"])
    ordinal = OrdinalMDS().fit(CURVE[:40])
    found = panels(plot_kernel(ordinal, figure=blank_figure(12, 6)))
    assert "has no kernel" in said(found["E"])
    assert "has no kernel" in said(found["H"])
    assert not said(panels(plot_kernel(ordinal, CURVE[:40], figure=blank_figure(12, 6)))["C"])


def test_neighbours_where_no_graph_says_which():
    distances = cdist(CURVE, CURVE)
    model = ClassicalMDS(metric="precomputed").fit(distances)
    dots = np.asarray(panels(plot_kernel(model, figure=blank_figure(12, 6)))["F"].collections[0].get_offsets())
    # of Euclidean distances feature space is the space of the rows
    pairs = {tuple(sorted((i, j))) for i in range(200) for j in np.argsort(distances[i], kind="stable")[1:9]}
    wanted = [(distances[i, j], np.linalg.norm(model.embedding_[i] - model.embedding_[j])) for i, j in sorted(pairs)]
    np.testing.assert_allclose(dots, wanted, atol=1e-6)


def test_a_row_is_shown_once_on_a_path():
    model = Isomap().fit(CURVE)
    near = int(model.graph_.neighbors.indices[0])
    figure = plot_path(model, np.zeros((200, 2, 2)), 0, near, along="graph", count=9, figure=blank_figure())
    assert [ax.get_title() for ax in figure.axes[1:]] == ["1: row 0", f"2: row {near}"]


def test_several_components_and_one_coordinate():
    apart = np.vstack([CURVE[:120], CURVE[120:] + 100])
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap(on_disconnected="separate").fit(apart)
    figure = plot_kernel(model, figure=blank_figure(12, 6))
    assert figure.get_suptitle() == "Isomap, kernel of 120 of 200 rows"
    found = panels(plot_kernel(PCA(1).fit(CURVE), figure=blank_figure(3.5, 7)))
    assert list(found) == list("ABCDEFGH")  # two columns in a high figure
    assert len(found["G"].collections[0].get_offsets()) == 200


def test_what_has_no_kernel_to_draw():
    for model, words in ((CURVE, "model is a ndarray"), (PCA, "model is a"), (PCA(), "PCA is not fitted")):
        with pytest.raises(InputError, match=words):
            plot_kernel(model)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("X", "settings", "words"),
    [
        (None, {"sample": "a"}, "sample='a' is not valid"),
        (None, {"random_state": "b"}, "random_state='b' is not a seed"),
        (CURVE * np.nan, {}, "X contains NaN"),
        (CURVE[:, :2], {}, "X has 2 columns, but Isomap was fitted on 3"),
        (CURVE[:50], {}, "50 rows"),
        ([[1.0, 2.0], [3.0]], {}, "rows differ in length"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_drawn(X, settings, words):
    with pytest.raises(InputError, match=words):
        plot_kernel(Isomap().fit(CURVE), X, **settings)
    assert plt.get_fignums() == []


# --- spectra


def test_bars_are_shares_of_the_positive_eigenvalues():
    models = {"PCA": PCA().fit(CURVE), "Isomap": Isomap().fit(CURVE), "given": [3.0, 0.0, -2.0, 1.0]}
    ax = plot_spectra(models, count=3)
    bars = [patch for patch in ax.patches if patch.get_facecolor()[:3] != mpl.colors.to_rgb("0.92")]
    widths = np.array([bar.get_width() for bar in bars]).reshape(3, 3)
    squares = np.sort(np.linalg.svd(CURVE - CURVE.mean(axis=0))[1] ** 2)[::-1]
    np.testing.assert_allclose(widths[0], squares / squares.sum(), rtol=1e-6)
    values = np.linalg.eigvalsh(models["Isomap"].kernel_.matrix())[::-1]
    np.testing.assert_allclose(widths[1], values[:3] / values[values > 0].sum(), rtol=1e-6)
    np.testing.assert_allclose(widths[2], [0.75, 0.25, 0.0])


def test_lines_of_a_kernel_without_a_trace_are_marked():
    ax = plot_spectra({"LLE": LLE(n_neighbors=10).fit(CURVE)}, kind="lines", scale="log", count=4)
    values = LLE(n_neighbors=10).fit(CURVE).leading_eigenvalues(4)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), values / values.sum(), rtol=1e-6)
    assert ax.get_yscale() == "log"
    assert ax.get_legend().get_texts()[0].get_text() == "LLE *"
    assert "the trace is not known" in said(ax)


@pytest.mark.parametrize(
    ("models", "settings", "words"),
    [
        ({}, {}, "at least one model"),
        ([1.0], {}, "at least one model"),
        ({"a": [1.0]}, {"kind": "pies"}, "kind='pies' is not known"),
        ({"a": [1.0]}, {"scale": "cube"}, "scale='cube' is not known"),
        ({"a": [1.0]}, {"scale": "log"}, "use kind='lines'"),
        ({"a": [1.0]}, {"count": 0}, "count=0 is not valid"),
        ({"a": "no"}, {}, "'a' is no spectrum"),
        ({"a": [[1.0]]}, {}, "'a' has shape"),
        ({"a": [-1.0]}, {}, "no positive eigenvalue"),
        ({"a": PCA()}, {}, "a is a PCA without a spectrum"),
    ],
)
def test_spectra_that_cannot_be_drawn(models, settings, words):
    with pytest.raises(InputError, match=words):
        plot_spectra(models, **settings)
    assert plt.get_fignums() == []


# --- distances


def test_the_monotone_fit_is_that_of_pooled_violators():
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 30, 200).astype(float), rng.random(200)
    at, fitted = monotone_fit(x, y)
    np.testing.assert_array_equal(at, np.unique(x))
    pools = [[y[x == value].mean(), (x == value).sum(), 1] for value in at]  # mean, weight, how many values
    place = 0
    while place + 1 < len(pools):
        (a, v, c), (b, w, d) = pools[place], pools[place + 1]
        if a > b:
            pools[place : place + 2] = [[(a * v + b * w) / (v + w), v + w, c + d]]
            place = max(place - 1, 0)
        else:
            place += 1
    np.testing.assert_allclose(fitted, np.concatenate([[mean] * count for mean, _, count in pools]))


def test_pairs_are_dots_or_shades():
    few = CURVE[:40]
    ax = plot_shepard(few, few[:, :2])
    dots = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_allclose(dots, np.column_stack([pdist(few), pdist(few[:, :2])]))
    assert f"{residual_variance(few, few[:, :2]).value:.3g}" in ax.get_title()
    model = PCA().fit(CURVE)
    ax = plot_shepard(model)
    assert not ax.collections
    assert (ax.images[0].get_array()[..., 3] > 0).sum() > 500
    with pytest.raises(InputError, match="X has 40 rows and Y has 39"):
        plot_shepard(few, few[1:, :2])


def test_curves_with_intervals():
    curves = {"all": r_nx_curve(CURVE, CURVE[:, :2]), "some": r_nx_curve(CURVE, CURVE[:, :2], sample=60)}
    ax = plot_coranking(curves)
    assert ax.get_xscale() == "log"
    for line, (name, curve), text in zip(ax.lines, curves.items(), ax.get_legend().get_texts(), strict=False):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.n_neighbors, curve.r_nx]))
        assert text.get_text() == f"{name} (area {curve.area.value:.2f})"
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(curves["some"].interval.max())
    assert len(plot_coranking(curves["all"]).lines) == 2  # and the line of chance
    for wrong, words in (({}, "curves is empty"), ({"a": CURVE}, "'a' is a ndarray"), (CURVE, "is a ndarray")):
        with pytest.raises(InputError, match=words):
            plot_coranking(wrong)


# --- paths


def test_a_straight_path_meets_the_nearest_rows():
    model = PCA().fit(CURVE)
    path = found_path(model, model.embedding_, (3, 150), "line", 6)
    ends = model.embedding_[[3, 150]]
    np.testing.assert_allclose(path.points, np.linspace(*ends, 6))
    np.testing.assert_array_equal(path.rows, cdist(path.points, model.embedding_).argmin(axis=1))


def test_a_path_along_the_graph_is_the_shortest():
    model = Isomap().fit(CURVE)
    path = found_path(model, model.embedding_, (3, 150), "graph", 5)
    rows = [int(np.linalg.norm(model.embedding_ - corner, axis=1).argmin()) for corner in path.corners]
    assert (rows[0], rows[-1]) == (3, 150)
    lengths = model.graph_.lengths.toarray()
    steps = [lengths[i, j] for i, j in pairwise(rows)]
    assert min(steps) > 0
    from scipy.sparse.csgraph import floyd_warshall

    assert sum(steps) == pytest.approx(floyd_warshall(model.graph_.lengths)[3, 150])
    assert set(path.rows.tolist()) <= set(rows)


def test_copies_are_ends_of_a_path():
    model = Isomap().fit(np.vstack([CURVE, CURVE[:5]]))
    path = found_path(model, model.embedding_, (200, 150), "graph", 4)
    np.testing.assert_allclose(path.points[0], model.embedding_[200])


@pytest.mark.parametrize("form", ["flat", "grey", "colour"])
def test_pictures_along_a_path(form):
    images = np.random.default_rng(0).random((200, 4, 3) + ((3,) if form == "colour" else ()))
    model = PCA().fit(CURVE)
    given, shape = (images.reshape(200, -1), (4, 3)) if form == "flat" else (images, None)
    figure = plot_path(model, given, 3, 150, count=5, shape=shape, figure=blank_figure())
    path = found_path(model, model.embedding_, (3, 150), "line", 5).once()
    for ax, row in zip(figure.axes[1:], path.rows, strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), images[row])
        assert ax.get_title().endswith(f"row {row}")
    assert figure.get_supxlabel() == "Rows nearest to points on the straight line"


def test_pictures_of_the_inverse():
    rows = np.random.default_rng(0).random((60, 12))
    model = PCA().fit(rows)
    figure = plot_path(model, None, 3, 50, show="inverse", shape=(4, 3), count=4, figure=blank_figure())
    path = found_path(model, model.embedding_, (3, 50), "line", 4)
    for ax, row in zip(figure.axes[1:], model.inverse_transform(path.points), strict=True):
        np.testing.assert_allclose(ax.images[0].get_array(), row.reshape(4, 3))
    assert figure.get_supxlabel() == "inverse_transform of points on the straight line"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"start": 200}, "200 is not a row of the map, which has the rows 0 to 199"),
        ({"start": 1.5}, "1.5 is not a row"),
        ({"start": 5}, "rows 5 and 5 have one place"),
        ({"along": "river"}, "along='river' is not known"),
        ({"along": "graph"}, "PCA has no neighbour graph: use along='line'"),
        ({"show": "both"}, "show='both' is not known"),
        ({"pictures": None}, "pass the picture of each row, or show='inverse'"),
        ({"pictures": None, "show": "inverse"}, "The size of the pictures is not known"),
        ({"show": "inverse"}, "inverse_transform gives rows of 3 values, which are no pictures of shape"),
        ({"pictures": np.zeros((199, 2, 2))}, "pictures has 199 rows, but the map has 200"),
        ({"pictures": np.zeros((200, 4))}, "shape=None does not say how they stand"),
        ({"pictures": np.zeros((200, 2, 2, 2))}, "which are no pictures"),
        ({"pictures": [[1], [1, 2]]}, "pictures is ragged"),
        ({"count": 1}, "count=1 is not valid"),
        ({"picture_cmap": "nope"}, "picture_cmap='nope' is not a colormap"),
    ],
)
def test_paths_that_cannot_be_drawn(settings, words):
    usual = {"pictures": np.zeros((200, 2, 2)), "start": 0, "end": 5}
    with pytest.raises(InputError, match=words):
        plot_path(PCA().fit(CURVE), **(usual | settings))
    assert plt.get_fignums() == []
