"""Any map of cells, whoever made it, judged by the rows it was made of."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gramfold.diagnostics import Judged, Verdict, faults
from gramfold.diagnostics.plain_words import FEWEST, verdict_of
from gramfold.errors import InputError
from gramfold.neighbors.metrics import MetricName
from gramfold.tl.cells import checked_key, require_cells, require_key
from gramfold.tl.records import plain, texts, verdict_record, versions, write
from gramfold.tl.sources import Source

if TYPE_CHECKING:
    from anndata import AnnData

_NEIGHBORS = 10  # of each cell, or a third of the cells where these are few


def judge(
    adata: "AnnData",
    basis: str,
    *,
    n_components: int | None = None,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    n_neighbors: int | None = None,
    metric: MetricName = "euclidean",
    sample: int | None = None,
    random_state: int = 0,
    key_added: str | None = None,
) -> Verdict:
    """Say how far a map of cells can be believed, whoever made it.

    Parameters
    ----------
    adata : AnnData
        The cells and their map. The faults of each cell go to ``obs``, totals and the verdict to ``uns``.
    basis : str
        The map: a key of ``obsm`` with or without ``X_``, as for ``sc.pl.embedding``: "umap", "X_tsne", "isomap".
    n_components : int, optional
        Number of columns of the map that are judged, the first ones. By default all: of ``X_pca`` pictures show 2.
    use_rep, n_pcs, layer
        What the map is judged by, as of every function of `gramfold.tl`: by default ``X_pca`` if it is there, else
        ``X``. Take what the map was made of.
    n_neighbors : int, optional
        Number of neighbours of each cell that are compared: by default 10, or a third of the cells.
    metric, sample, random_state
        As of `gramfold.diagnostics.faults`.
    key_added : str, optional
        Beginning of the names in ``obs`` and ``uns``; by default `basis` without ``X_``.

    Returns
    -------
    verdict : Verdict
        Print it. ``obs`` has the columns "umap_glued", "umap_torn", "umap_strained" and "umap_collapsed" (NaN for cells
        without a place; none of them for fewer than 20 cells), and ``uns["umap_judged"]`` the totals, thresholds and
        the text of the verdict.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import gramfold
    >>> sheet = np.random.default_rng(0).random((500, 2))
    >>> cells = anndata.AnnData(sheet)
    >>> cells.obsm["X_folded"] = np.column_stack([np.abs(sheet[:, 0] - 0.5), sheet[:, 1]])
    >>> gramfold.tl.judge(cells, "folded").faults
    ('glued',)
    >>> bool(cells.obs["folded_glued"].mean() > cells.obs["folded_torn"].mean())
    True
    """
    adata = require_cells(adata)
    key = _found(adata, basis)
    name = key.removeprefix("X_") if key_added is None else checked_key(key_added)
    source = Source.of(adata, use_rep, layer, n_pcs)
    places = _places(adata, key, n_components)
    if source.use_rep == key and (source.n_columns or adata.obsm[key].shape[1]) <= places.shape[1]:
        raise InputError(
            f"obsm['{key}'] would be judged by itself: pass use_rep= with what it was made of ('X'), or n_components= "
            "for its first columns."
        )
    rows = source.read(adata)
    k = n_neighbors if n_neighbors is not None else min(_NEIGHBORS, max(1, _placed(places) // 3))
    judged = Judged(rows, places, n_neighbors=k, metric=metric, sample=sample, random_state=random_state)
    found = faults(judged) if judged.n >= FEWEST and not judged.map.constant() else None
    said = verdict_of(judged, None, found, list(adata.var_names) if source.from_genes else None)
    record: dict[str, Any] = {
        "params": {
            "basis": key,
            "n_components": places.shape[1],
            "use_rep": source.use_rep,
            "layer": source.layer,
            "n_pcs": source.n_columns,
            "n_neighbors": k,
            "metric": metric,
            "sample": sample,
            "random_state": random_state,
        },
        "rows": source.words(rows),
        "verdict": verdict_record(said),
        "versions": versions(),
    }
    columns = {}
    if found is not None:
        columns = {f"{name}_{fault.name}": fault.per_point for fault in found}
        record["faults"] = {
            fault.name: {
                "total": fault.total,
                "threshold": fault.threshold,
                "of_pca": fault.plain,
                "by_chance": fault.chance,
                "words": fault.words,
            }
            for fault in found
        }
        record["named"] = texts(found.named)
        record["neighbors_kept"] = found.kept.value
    write(adata, uns={f"{name}_judged": plain(record)}, obsm={}, obs=columns)
    return said


def _found(adata: "AnnData", basis: Any) -> str:
    if isinstance(basis, str) and basis not in adata.obsm and f"X_{basis}" in adata.obsm:
        return f"X_{basis}"
    return require_key(basis, adata.obsm.keys(), "obsm", "make the map first, or name one that is there")


def _places(adata: "AnnData", key: str, n_components: int | None) -> Any:
    places = np.asarray(adata.obsm[key])
    if n_components is None:
        return places
    if isinstance(n_components, bool) or n_components not in range(1, places.shape[1] + 1):
        raise InputError(
            f"n_components={n_components!r}, but obsm['{key}'] has {places.shape[1]} columns: pass an integer from 1 "
            f"to {places.shape[1]}."
        )
    return places[:, :n_components]


def _placed(places: Any) -> int:
    """Number of cells with a place."""
    if places.ndim != 2 or places.dtype.kind not in "biuf":
        return len(places)  # which Judged refuses
    return int((~np.isnan(places.astype(np.float64)).any(axis=1)).sum())
