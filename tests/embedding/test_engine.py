"""What the engine does for every method beyond the contract."""

import numpy as np
import pytest

from gramfold import LLE, PCA, Isomap, KernelPCA, LaplacianEigenmaps
from gramfold.errors import ApproximationWarning, NotConvergedError
from gramfold.graph.neighbor_graph import NeighborGraph
from gramfold.runtime.costs import Costs, SearchCosts
from gramfold.runtime.progress import SILENT
from gramfold.spectral import policy, sparse
from tests.contract.checks import sheet


def test_stages_are_timed():
    model = Isomap().fit(sheet(200))
    assert set(model.timings_) == {"neighbors", "graph", "kernel", "spectrum"}
    assert all(seconds >= 0 for seconds in model.timings_.values())
    assert set(KernelPCA().fit(sheet(200)).timings_) == {"kernel", "spectrum"}


def test_verbose_tells_stages_on_standard_error(capsys):
    model = Isomap(verbose=1).fit(sheet(100))
    model.inverse_transform(model.embedding_[:2])
    told = capsys.readouterr()
    assert told.out == ""
    for stage in ("neighbors", "graph", "kernel", "spectrum", "inverse"):
        assert f"[Isomap] {stage}: " in told.err
    Isomap().fit(sheet(100))
    assert capsys.readouterr().err == ""


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
def test_refit_forgets_the_first_fit():
    model = LaplacianEigenmaps(weights="gaussian").fit(sheet(300))
    fresh = LaplacianEigenmaps(weights="gaussian").fit(sheet(200, seed=5))
    model.fit(sheet(200, seed=5))
    np.testing.assert_array_equal(model.embedding_, fresh.embedding_)
    np.testing.assert_array_equal(model.transform(sheet(20, seed=9)), fresh.transform(sheet(20, seed=9)))


@pytest.mark.parametrize(
    ("model", "rows", "room", "solver"),
    [(LLE(), 120, policy, "symmetric_eigenpairs"), (LaplacianEigenmaps(), 400, sparse, "smallest_eigenpairs")],
    ids=["dense", "sparse"],
)
def test_an_untrusted_spectrum_is_an_error_not_a_map(model, rows, room, solver, monkeypatch):
    true = getattr(room, solver)

    def perturbed(*args, **options):
        values, vectors = true(*args, **options)
        return values, vectors + 1e-2 * np.random.default_rng(0).standard_normal(vectors.shape)

    monkeypatch.setattr(room, solver, perturbed)
    with pytest.raises(NotConvergedError, match="cannot be trusted"):
        model.fit(sheet(rows))
    assert not hasattr(model, "embedding_")


def test_a_graph_says_when_it_was_searched_approximately():
    pytest.importorskip("faiss")
    X = np.hstack([sheet(400), np.random.default_rng(0).standard_normal((400, 17)) * 0.01])
    free = Costs(search=SearchCosts(approximate_row=0.0, approximate_column=0.0))
    settings = {"check": lambda n: None, "random_state": np.random.RandomState(0), "n_jobs": None, "stages": SILENT}
    with pytest.warns(ApproximationWarning, match=r"recall 0\.\d+|recall 1\.000"):
        found = NeighborGraph.of(X, Isomap(), **settings, costs=free)
    assert found.neighbors.recall == Isomap(search="approximate", random_state=0).fit(X).neighbors_.recall
    assert Isomap(search="exact").fit(X).neighbors_.recall is None


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
def test_kernel_views_agree():
    for model in (
        Isomap().fit(sheet(150)),
        LaplacianEigenmaps().fit(sheet(150)),
        LLE(kernel_form="shift").fit(sheet(150)),
    ):
        K = model.kernel_
        dense = K.dense()
        scale = np.abs(dense).max()
        V = np.random.default_rng(0).standard_normal((150, 3))
        np.testing.assert_allclose(K @ V, dense @ V, atol=1e-8 * scale * np.sqrt(150))
        np.testing.assert_allclose(K @ V[:, 0], dense @ V[:, 0], atol=1e-8 * scale * np.sqrt(150))
        np.testing.assert_allclose(K.columns([4, 9]), dense[:, [4, 9]], atol=1e-8 * scale)
        direct = dense[4, 4] + dense[9, 9] - 2 * dense[4, 9]
        np.testing.assert_allclose(K.squared_distances([4], [9])[0, 0], direct, atol=1e-8 * scale)
        np.testing.assert_allclose(K.squared_distances([4])[0, 9], direct, atol=1e-8 * scale)


@pytest.mark.parametrize(
    ("scale", "dtype"), [(1e30, "float32"), (1e-30, "float32"), (1e148, "float64"), (1e-148, "float64")]
)
def test_a_map_is_judged_alike_at_every_scale(scale, dtype):
    X = np.random.default_rng(0).standard_normal((60, 4)).astype(dtype)
    far = PCA().fit(X * X.dtype.type(scale))
    assert far.score(X * X.dtype.type(scale)) == pytest.approx(PCA().fit(X).score(X), rel=1e-6)
    assert far.spectrum_.residuals.max() < 1e-10
