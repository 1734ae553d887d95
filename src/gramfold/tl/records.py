"""What is written about a fit: values that every h5ad file can hold, and the one step in which they are written."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

import gramfold
from gramfold.runtime.interrupts import uninterrupted

if TYPE_CHECKING:
    from anndata import AnnData

    from gramfold.diagnostics import Verdict

_PACKAGES = ("anndata", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Of gramfold, and of what it computes with."""
    return {"gramfold": gramfold.__version__, **{name: version(name) for name in _PACKAGES}}


def is_ours(record: Any) -> bool:
    """Whether an entry of `uns` was written here."""
    return isinstance(record, Mapping) and "gramfold" in dict(record.get("versions", {}))


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same with numbers, texts, arrays and dicts only; None is left out, as scanpy does: not all files hold it."""
    return {str(name): _plain(value) for name, value in values.items() if value is not None}


def texts(values: Any) -> np.ndarray:
    """Texts as an array; an empty one has a type that can be written too."""
    return np.array([str(value) for value in values], dtype=object if not len(values) else None)


def _plain(value: Any) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.copy() if value.dtype.kind in "biuf" else texts(value.ravel())
    if isinstance(value, Mapping):
        return plain(value)
    if isinstance(value, list | tuple):
        found = np.asarray(value) if len({type(one) for one in value}) <= 1 else np.array([])
        return found if found.dtype.kind in "biuf" and found.size else texts(value)
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return f"{type(value).__name__} {value.shape}" if issparse(value) else repr(value)


def spectrum_record(model: Any) -> dict[str, Any] | None:
    """Eigenvalues, residuals and solver of a fitted estimator; None where it computed none."""
    spectrum = getattr(model, "spectrum_", None)
    if spectrum is None:
        return None
    return plain(
        {
            "eigenvalues": np.asarray(spectrum.eigenvalues),
            "penalties": spectrum.penalties,
            "residuals": np.asarray(spectrum.residuals),
            "solver": spectrum.solver,
        }
    )


def verdict_record(found: "Verdict") -> dict[str, Any]:
    """A verdict: its text, and what it rests on."""
    return {
        "text": str(found),
        "kind": found.kind,
        "sure": found.sure,
        "faults": texts(found.faults),
        "dimension": float(found.dimension),
    }


def write(adata: "AnnData", *, uns: Mapping[str, Any], obsm: Mapping[str, Any], obs: Mapping[str, Any]) -> None:
    """All of it or nothing. A view of another AnnData becomes one of its own first, with anndata's warning."""
    with uninterrupted(), _as_before(adata):
        for key, value in obsm.items():
            adata.obsm[key] = value
        for key, value in obs.items():
            adata.obs[key] = value
        for key, value in uns.items():
            adata.uns[key] = value


@contextmanager
def _as_before(adata: "AnnData") -> Iterator[None]:
    """Put back what was there if the block fails."""
    obsm, obs, uns = dict(adata.obsm), adata.obs.copy(), dict(adata.uns)
    try:
        yield
    except BaseException:
        if not adata.is_view:  # else nothing was written yet
            adata.obsm, adata.obs, adata.uns = obsm, obs, uns
        raise
