"""Cells that a fit did not see, in the columns of those that it saw: genes are matched by name.

use_rep "X", or a layer     the same genes, whatever their order and whatever else there is
use_rep "X_pca"             (x − mean) times the loadings that scanpy left in varm["PCs"], both of the training cells:
                            principal components of other cells are other axes
another key of obsm         as it is: whoever made it says that both are the same space
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from gramfold.errors import InputError
from gramfold.io.selection import listed
from gramfold.runtime.counting import counted
from gramfold.tl.cells import require_key
from gramfold.tl.sources import PCA, Source
from gramfold.types import Floats

if TYPE_CHECKING:
    from anndata import AnnData

LOADINGS = "PCs"  # where scanpy writes them, in varm
_ROUNDING = 1e-3  # of the largest component: scanpy computes in float32
_COMPARED = 500  # cells on which loadings are tried


@dataclass(frozen=True, eq=False)
class Axes:
    """The principal axes of training cells."""

    genes: tuple[str, ...]
    source: Source  # of the genes
    offset: Floats  # (p,) what the mean of the genes has on these axes
    loadings: Floats  # (genes, p)

    @classmethod
    def of(cls, adata: "AnnData", components: Any) -> "Axes | None":
        """Those by which X, or the layer that scanpy took, has these components; None if it does not have them."""
        settings = dict(adata.uns.get("pca", {}).get("params", {}))
        source = Source("X", settings.get("layer"))
        layered = source.layer is None or source.layer in adata.layers
        if LOADINGS not in adata.varm or adata.isbacked or adata.X is None or not layered:
            return None
        wanted = np.asarray(components)
        loadings = np.asarray(adata.varm[LOADINGS])[:, : wanted.shape[1]]
        used = np.flatnonzero(loadings.any(axis=1))
        if loadings.shape[1] < wanted.shape[1] or not used.size or not adata.var_names.is_unique:
            return None
        loadings = loadings[used].astype(np.float64)
        values = _values(source.read(adata))[:, used]
        some = np.linspace(0, len(wanted) - 1, min(_COMPARED, len(wanted))).astype(np.intp)
        beyond = np.asarray(values[some] @ loadings) - wanted[some]
        offset = beyond.mean(axis=0)  # the same for all cells, also for those chosen among more after the PCA
        if np.abs(beyond - offset).max() > _ROUNDING * np.abs(wanted).max():
            return None
        return cls(tuple(adata.var_names[used].astype(str)), source, offset, loadings)

    def components(self, values: Any) -> Floats:
        """The components of cells with these genes, in this order."""
        return np.asarray(values @ self.loadings - self.offset)


@dataclass(frozen=True, eq=False)
class Cells:
    """What is known of the training cells' columns."""

    source: Source
    n_columns: int
    dtype: Any
    genes: tuple[str, ...] | None  # where columns are genes
    axes: Axes | None  # where they are principal components

    @classmethod
    def of(cls, adata: "AnnData", source: Source, rows: Any) -> "Cells":
        """Of these rows, as they were read."""
        genes = tuple(adata.var_names.astype(str)) if source.from_genes and adata.var_names.is_unique else None
        axes = Axes.of(adata, rows) if source.use_rep == PCA else None
        dtype = rows.dtype if hasattr(rows, "dtype") else np.float64
        return cls(source, int(rows.shape[1]), dtype, genes, axes)

    def read(self, adata: "AnnData", use_rep: str | None) -> Any:
        """The rows of new cells; `use_rep`: a key of their own obsm that is in the same space."""
        if use_rep is not None and use_rep != "X":
            return self._same_width(Source.of(adata, use_rep, None, self.source.n_columns).read(adata), use_rep)
        if self.source.from_genes:
            return _of_genes(adata, self.genes, self.source)
        if self.axes is not None:
            values = _values(_of_genes(adata, self.axes.genes, self.axes.source))
            return self.axes.components(values).astype(self.dtype)
        if self.source.use_rep == PCA:
            raise InputError(
                "the principal components of the training cells are not X times varm['PCs'] (X was changed after "
                "sc.pp.pca, or has no loadings), so those of new cells cannot be computed: put new cells on the same "
                "axes yourself, and pass use_rep= with their key in obsm."
            )
        return self._same_width(Source.of(adata, self.source.use_rep, None, None).read(adata), self.source.use_rep)

    def _same_width(self, rows: Any, key: str) -> Any:
        if rows.shape[1] != self.n_columns:
            raise InputError(
                f"obsm['{key}'] of the new cells has {counted(rows.shape[1], 'column')}, but that of the training "
                f"cells had {self.n_columns}: compute it in the same way for both."
            )
        return rows


def _of_genes(adata: "AnnData", genes: tuple[str, ...] | None, source: Source) -> Any:
    """These genes of new cells, in this order."""
    if genes is None or not adata.var_names.is_unique:
        whose = "training" if genes is None else "new"
        raise InputError(
            f"two genes of the {whose} cells have the same name, so genes cannot be matched: call "
            "adata.var_names_make_unique() on both before the fit."
        )
    names = adata.var_names.astype(str)
    if tuple(names) == genes:
        return _layered(adata, source).read(adata)
    where = names.get_indexer(list(genes))
    missing = [gene for gene, found in zip(genes, where, strict=True) if found < 0]
    if missing:
        raise InputError(
            f"the new cells lack {len(missing):,} of the {len(genes):,} genes of the fit ({listed(missing)}): add them "
            "with the values that they have there (0 where they were not found), or fit on the genes that both have."
        )
    return _layered(adata, source).read(adata[:, where])


def _layered(adata: "AnnData", source: Source) -> Source:
    if source.layer is not None:
        require_key(source.layer, adata.layers.keys(), "layers", "the training cells were read from there")
    return source


def _values(table: Any) -> Any:
    """Without names; a sparse matrix in a format of which rows and columns can be taken."""
    return table.tocsr() if issparse(table) else np.asarray(table)
