"""Graphs and lists as users see them: over data rows, the edges of identical rows at the first of them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gramfold import SDE, Isomap, LaplacianEigenmaps, SpectralClustering
from gramfold.datasets import make_s_curve
from gramfold.errors import DisconnectedGraphWarning

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")

CURVE = make_s_curve(150, random_state=0).points
ROWS = np.vstack([CURVE[:7], CURVE[:4], CURVE])  # rows 7 to 10 and 11 to 17 are 0 to 6 again
FIRST = np.r_[np.arange(7), np.arange(4), np.arange(7), np.arange(18, 161)]


@pytest.mark.parametrize(
    "method", [Isomap(), LaplacianEigenmaps(), SDE(n_neighbors=6), SpectralClustering(2)], ids=repr
)
def test_copies_lead_to_the_first_of_them(method):
    model = method.fit(ROWS)
    graph, lists, k = model.graph_, model.neighbors_, method.n_neighbors
    np.testing.assert_array_equal(graph.rows, FIRST)
    assert graph.lengths.shape == (161, 161) == (len(graph), len(lists))
    np.testing.assert_array_equal(graph.multiplicity, np.bincount(FIRST)[FIRST])
    # plain: edges between distinct rows, by the k nearest of each
    D = cdist(ROWS, ROWS)
    distinct = np.unique(FIRST)
    nearest = {i: distinct[np.argsort(D[i, distinct], kind="stable")][1 : k + 1] for i in distinct}
    expected = np.zeros((161, 161))
    for i, others in nearest.items():
        expected[i, others] = expected[others, i] = D[i, others]
    np.testing.assert_allclose(graph.lengths.toarray(), expected, atol=1e-12)
    for row in (0, 8, 12, 100):
        np.testing.assert_array_equal(lists.indices[slice(*lists.indptr[row : row + 2])], nearest[FIRST[row]])
    np.testing.assert_allclose(graph.radii, [D[i, nearest[i][-1]] for i in FIRST])


@pytest.mark.parametrize("method", [Isomap, LaplacianEigenmaps])
def test_components_are_in_one_graph(method):
    X = np.vstack([CURVE[:80], CURVE[80:] + 100.0])[np.random.default_rng(0).permutation(150)]
    with pytest.warns(DisconnectedGraphWarning):
        whole = method(on_disconnected="separate").fit(X)
    with pytest.warns(DisconnectedGraphWarning):
        part = method(on_disconnected="largest").fit(X)
    i, j = whole.graph_.lengths.nonzero()
    np.testing.assert_allclose(whole.graph_.lengths[i, j], np.linalg.norm(X[i] - X[j], axis=1))
    assert set(i) == set(range(150))
    kept = np.flatnonzero(part.kept_)
    assert part.graph_.lengths.nnz < whole.graph_.lengths.nnz
    np.testing.assert_array_equal(np.unique(part.graph_.lengths.nonzero()[0]), kept)
    np.testing.assert_array_equal(part.graph_.rows, np.where(part.kept_, np.arange(150), -1))
    np.testing.assert_array_equal(whole.neighbors_.indices, part.neighbors_.indices)  # of all rows


def test_bridges_are_pairs_of_data_rows():
    X = np.vstack([CURVE[:80], CURVE[80:] + 100.0])
    with pytest.warns(DisconnectedGraphWarning):
        graph = Isomap().fit(X).graph_
    ((i, j),) = graph.bridges
    assert np.linalg.norm(X[i] - X[j]) == pytest.approx(cdist(X[:80], X[80:]).min())
    assert graph.lengths[i, j] == pytest.approx(cdist(X[:80], X[80:]).min())


def test_widths_are_of_data_rows():
    model = LaplacianEigenmaps(weights="gaussian", width="self-tuning").fit(ROWS)
    np.testing.assert_array_equal(model.width_, model.width_[FIRST])
    some = LaplacianEigenmaps(weights="gaussian", width="self-tuning", landmarks=[*range(7), *range(20, 160)]).fit(ROWS)
    assert np.isnan(some.width_[7:20]).all()
    assert (some.width_[20:160] > 0).all()


def test_short_words_for_long_things():
    model = Isomap(search="exact").fit(ROWS)
    assert repr(model.graph_) == f"Graph(161 rows, {model.graph_.n_edges} edges)"
    assert repr(model.neighbors_).startswith("Neighbors(161 rows, 1,288 neighbours, median distance 0.")
    assert repr(model.kernel_) == "GramKernel(161 x 161 gram, 150 distinct rows)"
    assert repr(model.spectrum_).startswith("Spectrum(2 eigenpairs of 161 rows, largest eigenvalue ")
    assert "residual" in repr(model.spectrum_)
    certificate = SDE(n_neighbors=6, pairs="neighbors").fit(ROWS).certificate_
    assert repr(certificate).startswith(f"Certificate({len(certificate.pairs)} pairs, gap ")
    everything = (model.graph_, model.neighbors_, model.kernel_, model.spectrum_, certificate)
    assert all(len(repr(one)) < 140 for one in everything)
