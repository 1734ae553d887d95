"""Where the rows of cells are read: X, a layer, or a representation in obsm. The words are scanpy's."""

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from gramfold.embedding.reading import check_finite
from gramfold.errors import CountsWarning, InputError
from gramfold.runtime.counting import counted
from gramfold.runtime.warning import warn
from gramfold.tl.cells import require_key, require_memory

if TYPE_CHECKING:
    from anndata import AnnData

_DEPTHS = 2  # times as many counts in one cell as in another
PCA = "X_pca"  # where scanpy writes principal components


@dataclass(frozen=True)
class Source:
    """What is read of each cell."""

    use_rep: str  # "X" or a key of obsm
    layer: str | None = None  # in the place of X
    n_columns: int | None = None  # the first so many of obsm; None: all

    @classmethod
    def of(cls, adata: "AnnData", use_rep: Any, layer: Any, n_pcs: Any) -> "Source":
        """By scanpy's parameters. Nothing given: the principal components if there are any, else X."""
        if layer is not None:
            if use_rep not in (None, "X") or n_pcs:
                other = f"use_rep={use_rep!r}" if use_rep not in (None, "X") else f"n_pcs={n_pcs!r}"
                raise InputError(f"layer={layer!r} and {other} both say which rows to take: give one of them.")
            return cls("X", require_key(layer, adata.layers.keys(), "layers", "store it there first, or use X"))
        if n_pcs is not None and (isinstance(n_pcs, bool) or not isinstance(n_pcs, Integral) or n_pcs < 0):
            raise InputError(f"n_pcs={n_pcs!r} is not a number of principal components: pass an integer.")
        if n_pcs == 0 and use_rep is None:
            return cls("X")  # as scanpy reads it
        if use_rep is None:
            use_rep = PCA if PCA in adata.obsm or n_pcs is not None else "X"
        if use_rep == "X" and "X" not in adata.obsm:
            if n_pcs:
                raise InputError(f"n_pcs={n_pcs} is of principal components, but use_rep='X' has none: leave one out.")
            return cls("X")
        require_key(use_rep, adata.obsm.keys(), "obsm", "compute it first (sc.pp.pca), or pass use_rep='X'")
        width = _table(adata.obsm[use_rep], f"obsm[{use_rep!r}]").shape[1]
        if n_pcs is not None and not 1 <= int(n_pcs) <= width:
            raise InputError(
                f"n_pcs={n_pcs}, but adata.obsm[{use_rep!r}] has {counted(width, 'column')}: use n_pcs from 1 to "
                f"{width}, or compute more (sc.pp.pca)."
            )
        return cls(use_rep, None, None if n_pcs is None else int(n_pcs))

    @property
    def from_genes(self) -> bool:
        """Whether a column is a gene."""
        return self.use_rep == "X"

    @property
    def name(self) -> str:
        """Of the table within the AnnData."""
        if not self.from_genes:
            return f"obsm['{self.use_rep}']"
        return "X" if self.layer is None else f"layers['{self.layer}']"

    def read(self, adata: "AnnData") -> Any:
        """The rows: a sparse matrix as it is, genes that are dense with their names."""
        if not self.from_genes:
            values = _table(adata.obsm[self.use_rep], self.name)
            return values if self.n_columns is None else _first_columns(values, self.n_columns)
        require_memory(adata, self.name)
        values = adata.X if self.layer is None else adata.layers[self.layer]
        if values is None:
            raise InputError("adata has no X (it is None): pass use_rep= with a key of obsm, or layer=.")
        values = _table(values, self.name)
        if issparse(values):
            if values.dtype.kind == "f":
                check_finite(values, f"adata.{self.name}", names=list(adata.var_names))
            return values
        return _with_names(values, adata)

    def words(self, rows: Any) -> str:
        """What was read, for the record."""
        kind = "sparse, " if issparse(rows) else ""
        return f"{self.name} ({kind}{rows.shape[0]:,} x {rows.shape[1]:,})"


def warn_of_counts(rows: Any, name: str) -> None:
    """Warn of cells that were not normalised: distances then show first how deep each was sequenced."""
    values = rows.data if issparse(rows) else np.asarray(rows)
    if values.dtype.kind not in "iuf" or not values.size or values.min() < 0 or values.max() <= 1:
        return
    if not np.array_equal(values, np.rint(values)):
        return
    totals = np.asarray(rows.sum(axis=1)).ravel()
    if totals.max() >= _DEPTHS * max(totals.min(), 1):
        warn(
            f"adata.{name} holds counts, {totals.min():,.0f} to {totals.max():,.0f} for each cell, so distances "
            "between cells show first how deep each was sequenced: normalise them first (sc.pp.normalize_total, "
            "sc.pp.log1p).",
            CountsWarning,
        )


def _table(values: Any, name: str) -> Any:
    """An array, a sparse matrix or a table of pandas, and no view of anndata's."""
    if hasattr(values, "iloc"):
        return values
    if issparse(values):
        if values.format not in ("csr", "csc"):
            return values.tocsr()
        return values
    if not isinstance(values, np.ndarray):
        module = type(values).__module__.split(".")[0]
        raise InputError(
            f"adata.{name} is a {type(values).__name__} of {module}, which is not in memory as an array: call "
            "adata.to_memory() first."
        )
    table = np.asarray(values)
    return table[:, None] if table.ndim == 1 else table


def _first_columns(values: Any, count: int) -> Any:
    return values.iloc[:, :count] if hasattr(values, "iloc") else values[:, :count]


def _with_names(values: Any, adata: "AnnData") -> Any:
    """Dense values with the names of their genes, which errors then have; without them where two are the same."""
    import pandas as pd

    if not adata.var_names.is_unique:
        return values
    return pd.DataFrame(values, columns=adata.var_names.astype(str), copy=False)
