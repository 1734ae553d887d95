"""Maps of cells, judged."""

import numpy as np
import pytest

import gramfold
from gramfold.diagnostics import Judged, faults, verdict
from gramfold.errors import InputError

pytest.importorskip("anndata")
pytest.importorskip("scanpy")

from tests.tl.made_cells import cells


@pytest.fixture
def made():
    made = cells()
    made.obsm["X_umap"] = made.obsm["X_pca"][:, :2] ** 2
    return made


@pytest.mark.parametrize("basis", ["umap", "X_umap"])
def test_says_what_diagnostics_say(made, basis):
    found = gramfold.tl.judge(made, basis)
    expected = faults(made.obsm["X_pca"], made.obsm["X_umap"])
    assert str(found) == str(verdict(made.obsm["X_pca"], made.obsm["X_umap"]))
    for fault in expected:
        np.testing.assert_array_equal(made.obs[f"umap_{fault.name}"], fault.per_point)
        assert made.uns["umap_judged"]["faults"][fault.name]["total"] == fault.total
    assert list(made.uns["umap_judged"]["named"]) == expected.named
    assert made.uns["umap_judged"]["params"]["use_rep"] == "X_pca"


def test_sparse_genes(made):
    gramfold.tl.judge(made, "umap", use_rep="X", key_added="by_genes")
    expected = faults(Judged(made.X, made.obsm["X_umap"]))
    np.testing.assert_array_equal(made.obs["by_genes_torn"], expected.torn.per_point)


def test_cells_without_a_place_are_nan(made):
    made.obsm["X_umap"][:5] = np.nan
    gramfold.tl.judge(made, "umap")
    assert made.obs["umap_glued"].isna().to_numpy()[:5].all()
    assert made.obs["umap_glued"].notna().to_numpy()[5:].all()


def test_few_cells_have_a_verdict_only(made):
    few = made[:12].copy()
    assert "no fault" in str(gramfold.tl.judge(few, "umap"))
    assert "umap_glued" not in few.obs


def test_not_by_itself(made):
    with pytest.raises(InputError, match="judged by itself"):
        gramfold.tl.judge(made, "pca")
    assert gramfold.tl.judge(made, "pca", n_components=2).sentences
    assert made.uns["pca_judged"]["params"]["n_components"] == 2


def test_one_sentence(made):
    with pytest.raises(InputError, match=r"no 'unap' in adata\.obsm \(it has X_pca, X_umap\)"):
        gramfold.tl.judge(made, "unap")
    with pytest.raises(InputError, match="pass an integer from 1 to 2"):
        gramfold.tl.judge(made, "umap", n_components=3)
