"""Distances in feature space, in the data and on the map: against n × n matrices, and the paper's figs 2 to 4."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist

from gramfold import LLE, PCA, CommuteTime, Isomap, KernelPCA, LaplacianEigenmaps, OrdinalMDS
from gramfold.datasets import make_s_curve
from gramfold.diagnostics import feature_distances
from gramfold.errors import InputError

CURVE = make_s_curve(300, random_state=0).points
METHODS = [Isomap(), LaplacianEigenmaps(), CommuteTime(), KernelPCA(), PCA()]


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
@pytest.mark.parametrize("model", METHODS, ids=lambda model: type(model).__name__)
def test_all_distances_are_those_of_the_matrices(model):
    model.fit(CURVE)
    K = model.kernel_.dense()
    squares = np.diag(K)[:, None] + np.diag(K)[None, :] - 2 * K
    found = feature_distances(model)
    upper = np.triu_indices(300, 1)
    np.testing.assert_array_equal(found.everywhere.pairs, np.column_stack(upper))
    size = np.abs(squares).max()
    np.testing.assert_allclose(found.everywhere.feature**2, squares[upper], atol=1e-10 * size)
    np.testing.assert_allclose(found.everywhere.map, pdist(model.embedding_), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.everywhere.input, pdist(CURVE), rtol=1e-9)
    i, j = found.local.pairs.T
    np.testing.assert_allclose(found.local.feature**2, np.maximum(squares[i, j], 0), atol=1e-10 * size)
    np.testing.assert_allclose(found.local.input, np.linalg.norm(CURVE[i] - CURVE[j], axis=1), rtol=1e-9)
    y, x = pdist(model.embedding_), np.sqrt(np.maximum(squares[upper], 0))
    assert found.everywhere.correlation("map", "feature") == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-8)
    assert found.everywhere.slope("map", "feature") == pytest.approx(
        np.linalg.lstsq(x[:, None], y, rcond=None)[0][0], rel=1e-8
    )


def test_neighbours_are_the_edges_of_the_graph_or_the_nearest_rows():
    model = Isomap().fit(CURVE)
    edges = model.graph_.lengths.tocoo()
    found = feature_distances(model).local.pairs
    assert set(map(tuple, found)) == {(min(e), max(e)) for e in zip(*(c.tolist() for c in edges.coords), strict=True)}
    near = np.argsort(cdist(CURVE, CURVE), axis=1)[:, 1:9]
    plain = {(min(i, j), max(i, j)) for i in range(300) for j in near[i].tolist()}
    assert set(map(tuple, feature_distances(PCA().fit(CURVE)).local.pairs.tolist())) == plain


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
@pytest.mark.parametrize("model", METHODS, ids=lambda model: type(model).__name__)
def test_a_sample_holds_the_same_distances(model):
    model.fit(CURVE)
    whole, some = feature_distances(model), feature_distances(model, sample=60)
    assert some.sampled == 60
    assert len(some.everywhere.pairs) == 60 * 59 // 2
    assert len(some.local.pairs) == 30
    for part in ("everywhere", "local"):
        every, few = getattr(whole, part), getattr(some, part)
        place = {tuple(pair): number for number, pair in enumerate(every.pairs.tolist())}
        at = [place[tuple(pair)] for pair in few.pairs.tolist()]
        size = every.feature.max() ** 2
        np.testing.assert_allclose(few.feature**2, every.feature[at] ** 2, atol=1e-10 * size)
        for name in ("input", "map", "principal"):
            np.testing.assert_allclose(getattr(few, name), getattr(every, name)[at], rtol=1e-9, atol=1e-12)
    again = feature_distances(model, sample=60)
    np.testing.assert_array_equal(some.everywhere.pairs, again.everywhere.pairs)
    assert (feature_distances(model, sample=60, random_state=1).everywhere.pairs != some.everywhere.pairs).any()


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
@pytest.mark.parametrize(
    "model", [LaplacianEigenmaps(), CommuteTime(), LLE(n_neighbors=12), PCA()], ids=lambda m: type(m).__name__
)
def test_principal_coordinates_are_a_projection_of_feature_space(model):
    found = feature_distances(model.fit(CURVE)).everywhere
    assert (found.principal <= found.feature * (1 + 1e-6)).all()
    assert found.negative == 0


def test_copies_are_at_distance_zero_and_no_neighbours():
    rows = np.vstack([CURVE[:100], CURVE[:10]])
    found = feature_distances(Isomap().fit(rows))
    i, j = found.everywhere.pairs.T
    copies = (j >= 100) & (i == j - 100)
    assert copies.sum() == 10
    for values in (found.everywhere.feature, found.everywhere.map, found.everywhere.input):
        np.testing.assert_allclose(values[copies], 0, atol=1e-6)
    assert (found.local.input > 0).all()


@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")
def test_rows_without_kernel_values_are_left_out():
    rows = np.vstack([CURVE[:10] + 50.0, CURVE[:100]])
    model = Isomap(on_disconnected="largest").fit(rows)
    found, alone = feature_distances(model), feature_distances(Isomap().fit(CURVE[:100]))
    assert found.n_rows == 100
    np.testing.assert_allclose(np.sort(found.everywhere.feature), np.sort(alone.everywhere.feature), atol=1e-9)
    landmarks = feature_distances(Isomap(landmarks=40).fit(CURVE))
    assert landmarks.n_rows == 40


def test_distances_that_are_not_known_are_nan():
    rows = CURVE[:80]
    distances = cdist(rows, rows)
    known = feature_distances(Isomap(metric="precomputed").fit(distances))
    np.testing.assert_allclose(known.everywhere.input, pdist(rows), rtol=1e-9)
    graph = csr_array(np.where(distances < 1.2, distances, 0.0))
    found = feature_distances(Isomap(metric="precomputed").fit(graph))
    assert np.isnan(found.everywhere.input).all()
    assert np.isnan(found.everywhere.correlation("map", "input"))
    values = feature_distances(KernelPCA(kernel="precomputed").fit(rows @ rows.T))
    assert np.isnan(values.everywhere.input).all()
    assert len(values.local.pairs) == 0
    assert np.isnan(values.local.correlation())


def test_what_has_no_kernel_is_told():
    with pytest.raises(InputError, match="OrdinalMDS, which has no kernel"):
        feature_distances(OrdinalMDS().fit(CURVE[:30]))
    with pytest.raises(InputError, match="sample=1"):
        feature_distances(PCA().fit(CURVE), sample=1)


# --- the paper: the S-curve, figs 2 to 4


@pytest.fixture(scope="module")
def s_curve():
    return make_s_curve(1200, random_state=0).points


def test_isomap_is_linear_in_feature_space(s_curve):
    """Figs 2 E, F: distances on the map are those of feature space; figs 2 C, D: not those of the data."""
    found = feature_distances(Isomap(n_neighbors=8).fit(s_curve))
    assert found.everywhere.correlation("map", "feature") > 0.99
    assert found.everywhere.slope("map", "feature") == pytest.approx(1.0, abs=0.02)
    assert found.everywhere.correlation("map", "input") < 0.95
    # an edge is its own shortest path: neighbours are as far apart in feature space as in the data
    assert found.local.correlation("feature", "input") > 0.999


def test_lle_is_linear_in_feature_space_up_to_the_scale_of_its_axes(s_curve):
    """Figs 4 E, F: in principal coordinates; on the map itself all axes are of one length."""
    found = feature_distances(LLE(n_neighbors=12).fit(s_curve))
    assert found.everywhere.correlation("principal", "feature") > 0.99
    assert found.local.correlation("principal", "feature") > 0.95
    assert found.everywhere.correlation("map", "feature") < 0.95


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
def test_commute_times_need_more_than_two_dimensions(s_curve):
    """Figs 3 E, F: far apart near a line, between neighbours not: most of a commute time is where the row is itself."""
    found = feature_distances(LaplacianEigenmaps(n_neighbors=8, laplacian="unnormalized").fit(s_curve))
    assert 0.93 < found.everywhere.correlation("principal", "feature") < 0.99
    assert found.local.correlation("principal", "feature") < 0.8
    assert found.local.slope("principal", "feature") < 0.1


@pytest.mark.parametrize("sample", [1, 2, 5, 19])
def test_samples_with_too_few_pairs(sample):
    model = Isomap().fit(make_s_curve(100, random_state=0).points)
    with pytest.raises(InputError, match=f"sample={sample} is not valid: pass an integer of at least 20"):
        feature_distances(model, sample=sample)
    assert np.isfinite(feature_distances(model, sample=20).local.correlation())


def test_a_space_that_does_not_exist():
    found = feature_distances(PCA(2).fit(make_s_curve(60, random_state=0).points)).everywhere
    for ask in (found.correlation, found.slope):
        with pytest.raises(InputError, match="'mapp' is no space of distances: use one of 'feature', 'input', 'map'"):
            ask("mapp")
