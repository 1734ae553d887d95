"""New cells on a map of others."""

import numpy as np
import pytest

import gramfold
from gramfold.errors import InputError

pytest.importorskip("anndata")
pytest.importorskip("scanpy")

from tests.tl.made_cells import cells, with_neighbors


@pytest.fixture
def parts():
    made = cells(types=1)
    return made[:200].copy(), made[200:].copy()


def test_new_cells_are_put_on_the_axes_of_the_training_cells(parts):
    known, new = parts
    fitted = gramfold.tl.fit(known, "isomap")
    expected = fitted.estimator.transform(new.obsm["X_pca"])  # of the PCA of all
    new.obsm["X_pca"] = -new.obsm["X_pca"]  # other axes, which are not read
    turned = new[:, ::-1].copy()
    for one in (new, turned):
        assert gramfold.tl.transform(one, fitted) is None
        np.testing.assert_allclose(one.obsm["X_isomap"], expected, atol=1e-3 * np.abs(expected).max())
    assert new.uns["isomap"]["params"]["method"] == "Isomap"


def test_a_key_of_their_own(parts):
    known, new = parts
    fitted = gramfold.tl.fit(known, gramfold.Isomap(n_neighbors=12), n_pcs=5)
    gramfold.tl.transform(new, fitted, use_rep="X_pca", key_added="placed")
    np.testing.assert_array_equal(new.obsm["placed"], fitted.estimator.transform(new.obsm["X_pca"][:, :5]))
    assert fitted.estimator.n_neighbors == 12


def test_genes_are_matched_by_name(parts):
    known, new = parts
    known.X, new.X = known.X.toarray(), new.X.toarray()
    fitted = gramfold.tl.fit(known[:, :150].copy(), "pca", use_rep="X", key_added="X_mine")
    mixed = new[:, np.random.default_rng(0).permutation(new.n_vars)].copy()
    found = gramfold.tl.transform(mixed, fitted, copy=True)
    np.testing.assert_allclose(
        found.obsm["X_mine"],
        (new.X[:, :150] - known.X[:, :150].mean(axis=0)) @ fitted.estimator.components_.T,
        atol=1e-4,
    )
    with pytest.raises(InputError, match=r"lack 50 of the 150 genes of the fit \(gene0, gene1"):
        gramfold.tl.transform(new[:, 50:].copy(), fitted)
    mixed.var_names = ["twice"] * mixed.n_vars
    with pytest.raises(InputError, match="have the same name"):
        gramfold.tl.transform(mixed, fitted)


def test_axes_that_are_not_known(parts):
    known, new = parts
    known.X = known.X * 3  # after the PCA
    fitted = gramfold.tl.fit(known, "isomap")
    with pytest.raises(InputError, match="not X times varm"):
        gramfold.tl.transform(new, fitted)


def test_another_representation(parts):
    known, new = parts
    for one in parts:
        one.obsm["X_both"] = one.obsm["X_pca"][:, :6]
    fitted = gramfold.tl.fit(known, "isomap", use_rep="X_both")
    gramfold.tl.transform(new, fitted)
    np.testing.assert_array_equal(new.obsm["X_isomap"], fitted.estimator.transform(new.obsm["X_both"]))
    new.obsm["X_both"] = new.obsm["X_pca"]
    with pytest.raises(InputError, match="has 10 columns, but that of the training cells had 6"):
        gramfold.tl.transform(new, fitted)


def test_clusters_of_new_cells():
    made = cells()
    known, new = made[:200].copy(), made[200:].copy()
    fitted = gramfold.tl.fit(known, "spectral_clustering", n_clusters=3)
    gramfold.tl.transform(new, fitted)
    expected = fitted.estimator.predict(new.obsm["X_pca"])
    np.testing.assert_array_equal(new.obs["spectral_clustering"].astype(int), expected)


def test_refusals(parts):
    known, new = parts
    with pytest.raises(InputError, match="fitted is a Isomap"):
        gramfold.tl.transform(new, gramfold.Isomap())
    fitted = gramfold.tl.fit(with_neighbors(known), "isomap", use_graph="distances", on_disconnected="largest")
    with pytest.raises(InputError, match="fitted on a given graph"):
        gramfold.tl.transform(new, fitted)
    with pytest.raises(InputError, match="method is Isomap"):
        gramfold.tl.fit(known, gramfold.Isomap)
    with pytest.raises(InputError, match="There is no method 'umap'"):
        gramfold.tl.fit(known, "umap")
