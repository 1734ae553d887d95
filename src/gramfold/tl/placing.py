"""New cells on a map of others."""

from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError
from gramfold.tl.cells import checked_key, require_cells
from gramfold.tl.fitting import CellMap, Target, heard
from gramfold.tl.records import texts, versions

if TYPE_CHECKING:
    from anndata import AnnData


def transform(
    adata: "AnnData", fitted: CellMap, *, use_rep: str | None = None, key_added: str | None = None, copy: bool = False
) -> "AnnData | None":
    """Place new cells on a map that was fitted on others (out-of-sample).

    Rows are read as those of the training cells were. Genes are matched by name: their order, and genes that the fit
    did not have, do not matter. Where the fit took ``X_pca``, new cells are put on the principal axes of the *training*
    cells, from their ``X`` and the training cells' ``varm["PCs"]``, because components of a PCA of their own would be
    other axes. Normalise new cells as the training cells were.

    Parameters
    ----------
    adata : AnnData
        The new cells.
    fitted : CellMap
        What `gramfold.tl.fit` returned.
    use_rep : str, optional
        Key of ``obsm`` of the new cells that is in the same space as what the fit took. By default the key that the fit
        took, computed here where that is ``X_pca``.
    key_added : str, optional
        Key of ``obsm`` for the coordinates, and of ``uns`` for the record. By default those of the fit.
    copy : bool, default=False
        Whether to leave `adata` as it is and return a copy with the results.

    Returns
    -------
    AnnData or None
        The copy; None unless `copy`.

    Examples
    --------
    See `gramfold.tl.fit`.
    """
    adata = require_cells(adata)
    if not isinstance(fitted, CellMap):
        raise InputError(
            f"fitted is a {type(fitted).__name__}, which does not know how cells are read: pass what gramfold.tl.fit "
            "returned."
        )
    if fitted.cells is None:
        raise InputError(
            f"{type(fitted.estimator).__name__} was fitted on a given graph (use_graph=), in which new cells have no "
            "place: fit it on rows (use_rep=)."
        )
    clusters = not hasattr(fitted.estimator, "transform")
    key = fitted.key if key_added is None else checked_key(key_added)
    rows = fitted.cells.read(adata, use_rep)
    with heard() as told:
        found = (fitted.estimator.predict if clusters else fitted.estimator.transform)(rows)
    record: dict[str, Any] = {
        "params": {"method": type(fitted.estimator).__name__, "use_rep": use_rep or fitted.cells.source.use_rep},
        "placed": "out-of-sample, on a map of other cells",
        "versions": versions(),
        "warnings": texts(told),
    }
    adata = adata.copy() if copy else adata
    Target(key, key.removeprefix("X_") if key_added is None else key, clusters).write(adata, found, record)
    return adata if copy else None
