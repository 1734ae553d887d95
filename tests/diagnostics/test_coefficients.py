"""Kernel entries as rows are appended, against fits by themselves; and that they settle (paper 000, fig 5)."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramfold import LLE, PCA, Isomap, LaplacianEigenmaps, OrdinalMDS
from gramfold.datasets import make_s_curve
from gramfold.diagnostics import kernel_coefficients
from gramfold.errors import InputError

CURVE = make_s_curve(400, random_state=0).points
PAIRS = [(0, 1), (2, 2), (5, 90)]


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")
@pytest.mark.parametrize("model", [Isomap(), LLE(n_neighbors=10), PCA()], ids=lambda model: type(model).__name__)
def test_entries_are_those_of_fits_by_themselves(model):
    found = kernel_coefficients(model, CURVE, sizes=[100, 250, 400], pairs=PAIRS)
    for size, raw, normalized in zip(found.sizes, found.raw, found.normalized, strict=True):
        K = model.fit(CURVE[:size]).kernel_.dense()
        entries = np.array([K[i, j] for i, j in PAIRS])
        np.testing.assert_allclose(raw, entries, rtol=1e-6)
        np.testing.assert_allclose(normalized, entries / np.diag(K).mean(), rtol=1e-6)
    changes = np.diff(found.normalized, axis=0)
    size = np.sqrt((found.normalized**2).mean())
    np.testing.assert_allclose(found.changes, np.sqrt((changes**2).mean(axis=1)) / size)
    assert found.settling == pytest.approx(found.changes[1] / found.changes[0])


def test_a_random_order_begins_with_the_rows_of_the_pairs():
    pairs = [(399, 350), (20, 399)]
    with pytest.raises(InputError, match="only rows 0 to 99 are in every fit"):
        kernel_coefficients(Isomap(), CURVE, sizes=[100, 200, 400], pairs=pairs)
    found = kernel_coefficients(Isomap(), CURVE, sizes=[100, 200, 400], pairs=pairs, random_state=0)
    K = Isomap().fit(CURVE).kernel_.dense()
    np.testing.assert_allclose(found.raw[-1], [K[399, 350], K[20, 399]], rtol=1e-8)
    again = kernel_coefficients(Isomap(), CURVE, sizes=[100, 200, 400], pairs=pairs, random_state=0)
    np.testing.assert_array_equal(found.raw, again.raw)


def test_distances_are_appended_both_ways():
    found = kernel_coefficients(
        Isomap(metric="precomputed"), cdist(CURVE, CURVE), sizes=[100, 200, 300], pairs=PAIRS, random_state=3
    )
    rows = kernel_coefficients(Isomap(), CURVE, sizes=[100, 200, 300], pairs=PAIRS, random_state=3)
    np.testing.assert_allclose(found.raw, rows.raw, rtol=1e-8)


def test_rows_of_another_component_have_no_entry():
    rows = np.vstack([CURVE[:30], CURVE[:10] + 50.0, CURVE[30:100]])
    found = kernel_coefficients(Isomap(on_disconnected="largest"), rows, sizes=[60, 80, 110], pairs=[(0, 1), (0, 35)])
    assert np.isfinite(found.raw[:, 0]).all()
    assert np.isnan(found.raw[:, 1]).all()
    assert found.rows.tolist() == [50, 70, 100]
    assert found.warned == {"DisconnectedGraphWarning": 3}
    assert np.isfinite(found.changes).all()


def test_defaults():
    found = kernel_coefficients(PCA(), CURVE)
    assert found.sizes[0] == 80
    assert found.sizes[-1] == 400
    assert found.raw.shape == (9, 8)
    assert (found.pairs[:, 0] != found.pairs[:, 1]).all()
    assert found.pairs.max() < 80


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"sizes": [100, 50, 200]}, "ascending"),
        ({"sizes": [100, 200]}, "at least 3"),
        ({"sizes": [100, 200, 500]}, "the 400 of X"),
        ({"sizes": [10.5, 20, 30]}, "ascending numbers of rows"),
        ({"pairs": [1, 2]}, r"shape \(2,\)"),
        ({"pairs": [(0, -1)]}, "row -1"),
    ],
)
def test_what_is_asked_wrongly_is_told(more, words):
    with pytest.raises(InputError, match=words):
        kernel_coefficients(Isomap(), CURVE, **more)


def test_a_map_without_a_kernel_is_told():
    with pytest.raises(InputError, match="OrdinalMDS, which has no kernel"):
        kernel_coefficients(OrdinalMDS(), CURVE[:40], sizes=[20, 30, 40])


# --- the claim of the paper: after normalisation the entries settle

THREE = [
    Isomap(n_neighbors=8),
    LaplacianEigenmaps(n_neighbors=8, laplacian="unnormalized"),
    LLE(n_neighbors=12),
]


@pytest.mark.parametrize("model", THREE, ids=lambda model: type(model).__name__)
def test_normalized_entries_settle(model):
    """Changes over the later sizes are smaller than over the earlier ones, in the mean of three samples."""
    ratios = [
        kernel_coefficients(model, make_s_curve(600, random_state=seed).points, sizes=range(100, 601, 50)).settling
        for seed in range(3)
    ]
    assert np.mean(ratios) < 0.9


def test_entries_that_never_settle_are_not_said_to():
    """Rows from another world are appended: the kernel follows them."""
    rows = np.vstack([CURVE[:300], CURVE[300:] * [1, 1, 40]])
    assert kernel_coefficients(PCA(), rows, sizes=[100, 150, 200, 250, 300, 400]).settling > 2


@pytest.mark.slow
@pytest.mark.parametrize("model", THREE, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("seed", [0, 1])
def test_normalized_entries_settle_at_the_sizes_of_the_paper(model, seed):
    rows = make_s_curve(3000, random_state=seed).points
    found = kernel_coefficients(model, rows, sizes=range(600, 3001, 200))
    assert found.settling < 0.9
    assert found.changes[-3:].mean() < 0.1


def test_lists_that_are_ragged():
    X = make_s_curve(60, random_state=0).points
    with pytest.raises(InputError, match="pairs holds entries of different lengths"):
        kernel_coefficients(Isomap(), X, sizes=[30, 40, 60], pairs=[(0, 1), (2,)])
    with pytest.raises(InputError, match="sizes holds entries of different lengths"):
        kernel_coefficients(Isomap(), X, sizes=[30, [40, 60]])
