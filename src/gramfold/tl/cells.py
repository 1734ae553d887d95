"""What is asked of an AnnData before anything is computed: one sentence for whatever is not there."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError, MissingExtraError
from gramfold.io.selection import listed

if TYPE_CHECKING:
    from anndata import AnnData


def require_cells(adata: Any, name: str = "adata") -> "AnnData":
    """The AnnData itself, which has cells; or an error."""
    try:
        from anndata import AnnData
    except ImportError as error:
        raise MissingExtraError(
            "gramfold.tl works on AnnData and needs anndata, which is not installed: run "
            '`pip install "gramfold[anndata]"`.'
        ) from error
    if not isinstance(adata, AnnData):
        raise InputError(
            f"{name} is a {type(adata).__name__}, but gramfold.tl works on AnnData: pass anndata.AnnData(X), or fit an "
            "estimator on the table itself (gramfold.Isomap().fit(X))."
        )
    if adata.n_obs == 0:
        raise InputError(f"{name} has no cells (n_obs is 0), so there is nothing to map: check how it was filtered.")
    if adata.isbacked and adata.is_view:
        raise InputError(
            f"{name} is a view of an AnnData that is backed by the file '{adata.filename}', in which no results can be "
            f"stored: call {name}.to_memory() first."
        )
    return adata


def require_key(key: Any, there: Iterable[str], where: str, words: str) -> str:
    """A key of `obsm`, `layers`, `obsp`, `obs` or `uns`; the error has those that are there, and `words` what to do."""
    known = [str(one) for one in there]
    if isinstance(key, str) and key in known:
        return key
    close = get_close_matches(str(key), known, n=1)
    shown = f"it has {listed(known)}" if known else "it is empty"
    instead = f"did you mean '{close[0]}'?" if close else f"{words}."
    raise InputError(f"there is no {key!r} in adata.{where} ({shown}): {instead}")


def checked_key(key: Any) -> str:
    """A name under which results are stored; a file keeps it as a path."""
    if not isinstance(key, str) or not key or "/" in key:
        raise InputError(f"key_added={key!r} is not a name for results: pass a text that is not empty and has no '/'.")
    return key


def require_memory(adata: "AnnData", what: str) -> None:
    """Refuse to read X from a file piece by piece."""
    if adata.isbacked:
        raise InputError(
            f"adata is backed by the file '{adata.filename}', and {what} is not in memory: call adata.to_memory() "
            "first, or pass use_rep= with a key of obsm."
        )
