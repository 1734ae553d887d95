"""Pictures of stability, sweeps, kernel entries and feature space: what is drawn is what was found."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import EllipseCollection

from gramfold import PCA, HessianLLE, Isomap, KernelPCA
from gramfold.datasets import make_s_curve
from gramfold.diagnostics import feature_distances, kernel_coefficients, stability, sweep
from gramfold.errors import InputError
from gramfold.plotting import (
    blank_figure,
    plot_coefficients,
    plot_feature_distances,
    plot_stability,
    plot_sweep,
    save_picture,
)

CURVE = make_s_curve(200, random_state=0).points


@pytest.fixture(autouse=True)
def _no_window():
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


def test_rows_that_move_more_have_another_colour_and_a_larger_disc(tmp_path):
    found = stability(PCA(2), CURVE, refits=4)
    figure = blank_figure()
    ax = plot_stability(found, halo=True, ax=figure.subplots(), cmap="gray")
    (discs,) = (one for one in ax.collections if isinstance(one, EllipseCollection))
    (dots,) = (one for one in ax.collections if not isinstance(one, EllipseCollection))
    np.testing.assert_allclose(dots.get_offsets(), found.embedding)
    np.testing.assert_allclose(2 * discs._widths, 2 * found.size * found.per_point)
    shade = dots.get_facecolors()[:, 0]
    assert np.corrcoef(np.argsort(np.argsort(shade)), np.argsort(np.argsort(found.per_point)))[0, 1] > 0.99
    assert f"{found.value:.1%}" in ax.get_title()
    assert save_picture(figure, tmp_path / "stability.png").stat().st_size > 10_000


def test_only_the_coordinates_that_were_measured_are_drawn():
    found = stability(PCA(3), CURVE, refits=3, n_shown=2)
    ax = plot_stability(found)
    assert ax.collections[0].get_offsets().shape == (200, 2)
    with pytest.raises(InputError, match="3 coordinates: use n_shown=2"):
        plot_stability(stability(PCA(3), CURVE, refits=3), halo=True)


def test_a_panel_for_each_number_of_neighbours():
    found = sweep(HessianLLE(), CURVE, [3, 8, 12])
    figure = plot_sweep(found, color=CURVE[:, 0], figure=blank_figure(9, 3))
    titles = [ax.get_title() for ax in figure.axes[:3]]
    assert titles == ["k = 3, failed", "k = 8", f"k = 12, moved {found[12].moved:.2f}"]
    assert len(figure.axes[0].collections[0].get_offsets()) == 0
    np.testing.assert_allclose(figure.axes[2].collections[0].get_offsets(), found[12].embedding)


def test_lines_of_entries():
    found = kernel_coefficients(Isomap(), CURVE, sizes=[60, 100, 200], pairs=[(0, 1), (3, 3)])
    figure = plot_coefficients(found, title="Isomap", figure=blank_figure(9, 3))
    for ax, values in zip(figure.axes, (found.raw, found.normalized), strict=True):
        lines = [line for line in ax.lines if line.get_label().startswith("i=")]
        np.testing.assert_array_equal(lines[0].get_xdata(), [60, 100, 200])
        np.testing.assert_array_equal(np.column_stack([line.get_ydata() for line in lines]), values)
    assert [line.get_label() for line in lines] == ["i=0, j=1", "i=3, j=3"]


def test_distances_of_each_space():
    found = feature_distances(Isomap().fit(CURVE), sample=50)
    figure = plot_feature_distances(found, figure=blank_figure(7, 6))
    drawn = [np.asarray(ax.collections[0].get_offsets()) for ax in figure.axes]
    compared = found.everywhere, found.local, found.everywhere, found.local
    for dots, one, space in zip(drawn, compared, ("input", "input", "feature", "feature"), strict=True):
        np.testing.assert_allclose(dots, np.column_stack([getattr(one, space), one.map]))
    assert f"{found.everywhere.correlation('map', 'feature'):.3f}" in figure.axes[2].get_title()
    unknown = feature_distances(KernelPCA(kernel="precomputed").fit(CURVE @ CURVE.T))
    assert len(plot_feature_distances(unknown, figure=blank_figure()).axes) == 2


def test_other_things_are_told_apart():
    for plot in (plot_stability, plot_sweep, plot_coefficients, plot_feature_distances):
        with pytest.raises(InputError, match=r"is a ndarray: pass what gramfold\.diagnostics"):
            plot(CURVE)
