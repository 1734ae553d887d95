"""Each method on cells: what it reads, what it writes, and what it says where it cannot."""

import ast
import inspect
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csc_matrix, issparse
from scipy.spatial.distance import pdist

import gramfold
from gramfold.errors import CountsWarning, DisconnectedGraphWarning, GramfoldWarning, InputError
from gramfold.methods.names import estimator_names, known_methods

anndata = pytest.importorskip("anndata")
sc = pytest.importorskip("scanpy")

from tests.tl.made_cells import cells, counts, with_neighbors  # noqa: E402 - after the skips

ROOT = Path(__file__).parents[2]
NEEDS_MORE = {"oriented_pca", "distortion_discriminant_analysis"}  # distorted rows
SLOW = {"sde", "ordinal_mds"}


@pytest.fixture
def made():
    return cells(types=1)  # whose neighbour graph is connected


def quietly(run, *args, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramfoldWarning)
        return run(*args, **parameters)


# --- every method


def test_there_is_a_function_for_every_estimator():
    assert set(estimator_names()) <= set(dir(gramfold.tl))
    assert set(gramfold.tl.__all__) == set(estimator_names()) | {"CellMap", "fit", "judge", "transform"}
    with pytest.raises(AttributeError, match="no attribute 'isomop'"):
        _ = gramfold.tl.isomop


@pytest.mark.parametrize("name", sorted(set(known_methods()) - NEEDS_MORE - {"pca"}))
def test_writes_what_the_estimator_computes(name):
    made = cells(60 if name in SLOW else 150)
    quietly(getattr(gramfold.tl, name), made)
    model = quietly(known_methods()[name]().fit, made.obsm["X_pca"])
    np.testing.assert_array_equal(made.obsm[f"X_{name}"], model.embedding_)


def test_distorted_rows_are_given_to_fit(made):
    noisy = made.obsm["X_pca"] + np.random.default_rng(0).normal(size=made.obsm["X_pca"].shape).astype(np.float32)
    gramfold.tl.oriented_pca(made, X_distorted=noisy)
    model = gramfold.OrientedPCA().fit(made.obsm["X_pca"], X_distorted=noisy)
    np.testing.assert_array_equal(made.obsm["X_oriented_pca"], model.embedding_)


def test_clusters_are_categories():
    made = cells()
    quietly(gramfold.tl.spectral_clustering, made, n_clusters=3)
    labels = quietly(gramfold.SpectralClustering(3).fit, made.obsm["X_pca"]).labels_
    assert made.obs["spectral_clustering"].dtype == "category"
    np.testing.assert_array_equal(made.obs["spectral_clustering"].astype(int), labels)
    assert made.uns["spectral_clustering"]["params"]["n_clusters"] == 3


def test_help_shows_all_parameters():
    signature = inspect.signature(gramfold.tl.isomap)
    assert list(signature.parameters)[:4] == ["adata", "use_rep", "n_pcs", "layer"]
    assert set(inspect.signature(gramfold.Isomap).parameters) < set(signature.parameters)
    assert signature.parameters["n_neighbors"].default == 8
    for name in signature.parameters:
        assert f"\n{name}" in gramfold.tl.isomap.__doc__ or f", {name}" in gramfold.tl.isomap.__doc__, name
    assert "use_graph" not in inspect.signature(gramfold.tl.pca).parameters
    assert gramfold.tl.isomap.__name__ == "isomap"


def test_tools_see_the_same_functions():
    written = ast.parse(Path(gramfold.tl.__file__).with_suffix(".pyi").read_text("utf8"))
    expected = ast.parse(runpy.run_path(str(ROOT / "tools" / "write_tl_stub.py"))["stub"]())
    shown = [[ast.dump(one) for one in tree.body if isinstance(one, ast.FunctionDef)] for tree in (written, expected)]
    assert shown[0] == shown[1], "run tools/write_tl_stub.py and ruff format"


def test_import_is_free_of_anndata():
    code = "import sys, gramfold; gramfold.tl; gramfold.tl.isomap; assert not {'anndata', 'scanpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_anndata_one_sentence():
    code = (
        "import sys; sys.modules['anndata'] = None\n"
        "import gramfold\n"
        "try: gramfold.tl.isomap([[1.0]])\n"
        "except gramfold.errors.MissingExtraError as error: assert 'gramfold[anndata]' in str(error)\n"
        "else: raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- which rows


def test_default_is_principal_components_else_x(made):
    gramfold.tl.isomap(made)
    assert made.uns["isomap"]["params"]["use_rep"] == "X_pca"
    assert made.uns["isomap"]["rows"] == "obsm['X_pca'] (300 x 10)"
    del made.obsm["X_pca"]
    quietly(gramfold.tl.isomap, made)
    assert made.uns["isomap"]["params"]["use_rep"] == "X"
    assert made.uns["isomap"]["rows"] == "X (sparse, 300 x 200)"


@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
def test_sparse_x_gives_the_map_of_the_same_rows(made, form):
    dense = made.X.toarray()
    made.X = {"csr": made.X, "csc": csc_matrix(made.X), "dense": dense}[form]
    quietly(gramfold.tl.isomap, made, use_rep="X")
    expected = quietly(gramfold.Isomap().fit, dense).embedding_
    np.testing.assert_allclose(pdist(made.obsm["X_isomap"]), pdist(expected), rtol=1e-3, atol=1e-3)
    assert issparse(made.X) == (form != "dense")


def test_sparse_x_is_not_made_dense_silently(made):
    with pytest.raises(InputError, match="FactorAnalysis reads dense rows"):
        gramfold.tl.factor_analysis(made, use_rep="X")
    assert "factor_analysis" not in made.uns


def test_layers_and_numbers_of_components(made):
    made.layers["raw"] = made.X * 2
    quietly(gramfold.tl.pca, made, layer="raw", key_added="raw_pca")
    expected = gramfold.PCA().fit(made.X * 2).embedding_
    np.testing.assert_allclose(made.obsm["raw_pca"], expected, atol=1e-4)
    gramfold.tl.isomap(made, n_pcs=4)
    np.testing.assert_array_equal(made.obsm["X_isomap"], gramfold.Isomap().fit(made.obsm["X_pca"][:, :4]).embedding_)
    assert made.uns["isomap"]["params"]["n_pcs"] == 4


def test_columns_of_obs_by_name(made):
    made.obs["weight"] = np.random.default_rng(0).uniform(1, 3, made.n_obs)
    gramfold.tl.isomap(made, sample_weight="weight")
    expected = gramfold.Isomap().fit(made.obsm["X_pca"], sample_weight=made.obs["weight"].to_numpy()).embedding_
    np.testing.assert_array_equal(made.obsm["X_isomap"], expected)
    with pytest.raises(InputError, match=r"no 'wieght' in adata\.obs .*did you mean 'weight'"):
        gramfold.tl.isomap(made, sample_weight="wieght")


# --- the graph of scanpy


@pytest.mark.parametrize("key", [None, "other"])
def test_distances_are_the_neighbours_of_a_search(made, key):
    made = with_neighbors(made, 10, key)
    quietly(gramfold.tl.isomap, made, use_graph="distances", neighbors_key=key, on_disconnected="largest")
    expected = quietly(
        gramfold.Isomap(n_neighbors=9, on_disconnected="largest").fit, made.obsm["X_pca"].astype(np.float64)
    ).embedding_
    found = made.obsm["X_isomap"]
    kept = ~np.isnan(expected[:, 0])
    np.testing.assert_array_equal(kept, ~np.isnan(found[:, 0]))  # cells without a place are NaN
    np.testing.assert_allclose(pdist(found[kept]), pdist(expected[kept]), rtol=1e-4, atol=1e-4)


def test_connectivities_are_weights(made):
    made = with_neighbors(cells(types=1))
    quietly(gramfold.tl.laplacian_eigenmaps, made, use_graph="connectivities", verdict=True)
    model = quietly(gramfold.LaplacianEigenmaps(weights="precomputed").fit, made.obsp["connectivities"])
    np.testing.assert_array_equal(made.obsm["X_laplacian_eigenmaps"], model.embedding_)
    assert made.uns["laplacian_eigenmaps"]["verdict"]["text"].startswith("The data")
    quietly(gramfold.tl.lpp, made, use_graph="connectivities")
    model = quietly(gramfold.LPP().fit, made.obsm["X_pca"], affinity=made.obsp["connectivities"])
    np.testing.assert_array_equal(made.obsm["X_lpp"], model.embedding_)


@pytest.mark.slow
def test_the_graph_of_scanpy_itself(made):
    sc.pp.neighbors(made, n_neighbors=15)
    graph = made.obsp["distances"]
    assert set(np.diff(graph.indptr)) == {14}
    assert not graph.diagonal().any()
    quietly(gramfold.tl.isomap, made, use_graph="distances", on_disconnected="largest")
    quietly(gramfold.tl.diffusion_map, made, use_graph="connectivities", on_disconnected="largest")
    assert np.isfinite(made.obsm["X_isomap"]).any()


# --- what is written


def test_record_survives_a_file(tmp_path):
    made = cells()
    quietly(gramfold.tl.diffusion_map, made, n_neighbors=np.int64(5), verdict=True, metric_params=None)
    quietly(gramfold.tl.spectral_clustering, made, n_clusters=3)
    gramfold.tl.judge(made, "diffusion_map")
    made.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(back.obsm["X_diffusion_map"], made.obsm["X_diffusion_map"])
    record = back.uns["diffusion_map"]
    model = quietly(gramfold.DiffusionMap(n_neighbors=5).fit, made.obsm["X_pca"])
    np.testing.assert_array_equal(record["spectrum"]["eigenvalues"], model.spectrum_.eigenvalues)
    assert record["spectrum"]["solver"] == model.spectrum_.solver
    assert record["params"]["n_neighbors"] == 5
    assert record["versions"]["gramfold"] == gramfold.__version__
    assert record["verdict"]["text"] == str(model.verdict())
    assert record["warnings"][0].startswith("DisconnectedGraphWarning: ")
    assert list(back.obs["spectral_clustering"]) == list(made.obs["spectral_clustering"])
    assert back.uns["diffusion_map_judged"]["verdict"]["text"] == made.uns["diffusion_map_judged"]["verdict"]["text"]


def test_copy_leaves_the_original(made):
    before = set(made.obsm), set(made.uns)
    other = gramfold.tl.isomap(made, copy=True)
    assert (set(made.obsm), set(made.uns)) == before
    assert "X_isomap" in other.obsm
    assert gramfold.tl.isomap(made) is None


def test_key_added_names_both(made):
    gramfold.tl.isomap(made, key_added="mine")
    assert "mine" in made.obsm
    assert made.uns["mine"]["params"]["method"] == "Isomap"
    assert "isomap" not in made.uns


def test_pca_of_scanpy_is_kept(made):
    before = made.obsm["X_pca"].copy()
    with pytest.raises(InputError, match="was not written by gramfold"):
        gramfold.tl.pca(made)
    np.testing.assert_array_equal(made.obsm["X_pca"], before)
    gramfold.tl.pca(made, key_added="X_pca", use_rep="X")
    assert made.obsm["X_pca"].shape == (300, 2)


def test_a_failed_or_interrupted_fit_writes_nothing(made, monkeypatch):
    before = set(made.obsm), set(made.uns), list(made.obs)
    with pytest.raises(InputError):
        gramfold.tl.isomap(made, n_neighbors=1000)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(gramfold.Isomap, "_build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gramfold.tl.isomap(made)
    assert (set(made.obsm), set(made.uns), list(made.obs)) == before


def test_a_failed_write_puts_back_what_was_there(made, monkeypatch):
    from gramfold.tl import records

    class Bad(dict):
        def items(self):
            raise OSError("no")

    before = set(made.obsm)
    with pytest.raises(OSError, match="no"):
        records.write(made, obsm={"X_a": np.zeros((300, 2))}, obs={}, uns=Bad())
    assert set(made.obsm) == before


def test_a_warning_that_is_an_error_writes_nothing():
    made = cells()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DisconnectedGraphWarning):
            gramfold.tl.diffusion_map(made, n_neighbors=5)
    assert "X_diffusion_map" not in made.obsm


def test_a_view_becomes_its_own(made):
    view = made[:200]
    with pytest.warns(anndata.ImplicitModificationWarning):
        gramfold.tl.isomap(view)
    assert not view.is_view
    assert view.obsm["X_isomap"].shape == (200, 2)
    assert "X_isomap" not in made.obsm
    np.testing.assert_array_equal(view.obsm["X_isomap"], gramfold.Isomap().fit(made.obsm["X_pca"][:200]).embedding_)


@pytest.mark.parametrize("basis", ["isomap", "X_isomap"])
def test_scanpy_draws_it(made, basis, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    import matplotlib as mpl

    mpl.use("agg")
    gramfold.tl.isomap(made)
    axes = sc.pl.embedding(made, basis, color="kind", show=False)
    np.testing.assert_allclose(np.sort(axes.collections[0].get_offsets()[:, 0]), np.sort(made.obsm["X_isomap"][:, 0]))
    mpl.pyplot.close("all")


# --- what cannot be read


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"use_rep": "X_pcs"}, r"no 'X_pcs' in adata\.obsm \(it has X_pca\): did you mean 'X_pca'\?"),
        ({"layer": "counts"}, r"no 'counts' in adata\.layers \(it is empty\)"),
        ({"n_pcs": 11}, r"has 10 columns: use n_pcs from 1 to 10"),
        ({"n_pcs": 2.5}, r"n_pcs=2\.5 is not a number"),
        ({"use_rep": "X", "n_pcs": 5}, r"use_rep='X' has none"),
        ({"n_neighbours": 5}, r"Isomap has no parameter 'n_neighbours': did you mean 'n_neighbors'\?"),
        ({"use_reps": "X"}, r"did you mean 'use_rep'\?"),
        ({"use_graph": "distances"}, r"no 'distances' in adata\.obsp \(it is empty\): run sc\.pp\.neighbors first"),
        ({"use_graph": True}, r"use 'distances' or 'connectivities'"),
        ({"neighbors_key": "neighbors"}, r"use_graph= was not given"),
        ({"key_added": "a/b"}, r"key_added='a/b' is not a name"),
    ],
)
def test_one_sentence(made, parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        gramfold.tl.isomap(made, **parameters)


def test_graphs_that_a_method_cannot_take(made):
    made = with_neighbors(made)
    with pytest.raises(InputError, match=r"Isomap does not take the connectivities .*use_graph='distances'"):
        gramfold.tl.isomap(made, use_graph="connectivities")
    with pytest.raises(InputError, match="reads the graph and no rows"):
        gramfold.tl.isomap(made, use_graph="distances", use_rep="X")
    with pytest.raises(InputError, match="metric='cosine' was given with use_graph"):
        gramfold.tl.isomap(made, use_graph="distances", metric="cosine")
    with pytest.raises(InputError, match="PCA has no parameter 'use_graph'"):
        gramfold.tl.pca(made, use_graph="distances")
    with pytest.raises(InputError, match="does not say where a neighbour graph is"):
        gramfold.tl.isomap(made, use_graph="distances", neighbors_key="pca")


def test_wrong_types_empty_and_backed(made, tmp_path):
    with pytest.raises(InputError, match="adata is a ndarray"):
        gramfold.tl.isomap(made.X.toarray())
    with pytest.raises(InputError, match="no cells"):
        gramfold.tl.isomap(made[:0].copy())
    made.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(InputError, match=r"adata\.to_memory\(\)"):
        gramfold.tl.isomap(backed, use_rep="X")
    gramfold.tl.isomap(backed)  # of obsm, which is in memory
    np.testing.assert_array_equal(backed.obsm["X_isomap"], gramfold.Isomap().fit(made.obsm["X_pca"]).embedding_)
    with pytest.raises(InputError, match=r"is a view of an AnnData that is backed .*: call adata\.to_memory\(\) first"):
        gramfold.tl.diffusion_map(backed[:50])
    backed.file.close()


@pytest.mark.parametrize("dense", [False, True])
def test_gaps_are_named_by_gene(dense):
    made = counts()
    if dense:
        made.X = made.X.toarray()
        made.X[3, 7] = np.nan
    else:
        made.X.data[0] = np.nan
    gene = "gene7" if dense else f"gene{made.X.indices[0]}"
    with pytest.raises(InputError, match=f"contains NaN in row ., column '{gene}'"):
        gramfold.tl.isomap(made)


def test_counts_are_told(made):
    raw = counts(types=1)
    with pytest.warns(CountsWarning, match=r"adata\.X holds counts, .* normalise them"):
        gramfold.tl.pca(raw)
    assert raw.uns["pca"]["warnings"][0].startswith("CountsWarning: adata.X")
    gramfold.tl.pca(made, use_rep="X", key_added="normalised")
    gramfold.tl.isomap(raw, use_rep="X", metric="cosine")


def test_no_x(made):
    empty = anndata.AnnData(obs=made.obs)
    with pytest.raises(InputError, match="adata has no X"):
        gramfold.tl.isomap(empty)
