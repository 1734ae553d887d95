"""Cells of some types as sparse counts, normalised and with principal components as scanpy makes them."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix


def counts(n=300, genes=200, types=3, seed=0):
    import anndata

    rng = np.random.default_rng(seed)
    profiles = rng.gamma(0.3, size=(types, genes))
    kind = rng.integers(types, size=n)
    rates = profiles[kind] * rng.lognormal(0.0, 0.3, size=(n, 1)) * rng.gamma(5.0, 0.2, size=(n, genes))
    cells = anndata.AnnData(csr_matrix(rng.poisson(rates).astype(np.float32)))
    # object names: anndata cannot write the text columns of pandas 3 to h5ad
    cells.obs_names = pd.Index([f"cell{i}" for i in range(n)], dtype=object)
    cells.var_names = pd.Index([f"gene{i}" for i in range(genes)], dtype=object)
    cells.obs["kind"] = kind.astype(float)
    return cells


def cells(n=300, genes=200, types=3, seed=0):
    import scanpy as sc

    made = counts(n, genes, types, seed)
    sc.pp.normalize_total(made, target_sum=1e3)
    sc.pp.log1p(made)
    sc.pp.pca(made, n_comps=10)
    return made


def with_neighbors(made, k=10, key_added=None):
    """What sc.pp.neighbors writes, by a plain search: k − 1 others of each cell, directed; symmetric weights."""
    rows = made.obsm["X_pca"].astype(np.float64)
    lengths = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    np.fill_diagonal(lengths, np.inf)
    nearest = np.argsort(lengths, axis=1)[:, : k - 1]
    first = np.repeat(np.arange(len(rows)), k - 1)
    graph = csr_matrix((lengths[first, nearest.ravel()], (first, nearest.ravel())), shape=lengths.shape)
    weights = csr_matrix((np.exp(-graph.data), graph.indices, graph.indptr), shape=graph.shape)
    prefix = "" if key_added is None else f"{key_added}_"
    made.obsp[f"{prefix}distances"] = graph
    made.obsp[f"{prefix}connectivities"] = (0.5 * (weights + weights.T)).astype(np.float32)
    made.uns[key_added or "neighbors"] = {
        "distances_key": f"{prefix}distances",
        "connectivities_key": f"{prefix}connectivities",
        "params": {"n_neighbors": k, "method": "umap", "metric": "euclidean"},
    }
    return made
