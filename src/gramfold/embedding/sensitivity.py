"""The derivative of a map at given rows, in blocks; and whether it is exact, told by the settings alone."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from gramfold.embedding.continuous import ContinuousMap
from gramfold.embedding.functions import KernelFunctions
from gramfold.embedding.groups import EdgeWeights, Geodesics, Neighborhood, Rebuilding
from gramfold.embedding.linear import LinearMap
from gramfold.embedding.model import Model
from gramfold.errors import InputError, MemoryForecastError, PrecomputedInputError
from gramfold.kernels.function_slopes import has_kernel_slopes
from gramfold.kernels.functions import SYNONYMS
from gramfold.neighbors.metrics import reads_mixed
from gramfold.neighbors.slopes import named_with_slopes
from gramfold.runtime.memory import GIGABYTE, USABLE_SHARE, available_memory, largest_that_fits
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

SensitivityKind = Literal["exact", "local regression", "none"]

_ENTRIES_PER_BLOCK = 8_000_000  # of derivatives, and of what is made on the way to them
_LEAST_ROWS = 16


def kind_of(settings: Any) -> SensitivityKind:
    """How the derivative of a map with these settings is computed."""
    metric, kernel, weights = (getattr(settings, name, None) for name in ("metric", "kernel", "weights"))
    if any(isinstance(one, str) and one == "precomputed" for one in (metric, kernel, weights)) or reads_mixed(metric):
        return "none"
    if isinstance(settings, LinearMap | ContinuousMap):
        return "exact"
    if isinstance(settings, KernelFunctions):
        name = SYNONYMS.get(settings.kernel, settings.kernel) if isinstance(settings.kernel, str) else settings.kernel
        return "exact" if has_kernel_slopes(name) else "local regression"
    if not isinstance(getattr(settings, "search", ""), str):  # a transformer, of whose distances nothing is known
        return "local regression"
    if isinstance(settings, Rebuilding):
        return "exact"
    of_distances = isinstance(settings, Geodesics) or not isinstance(settings, Neighborhood)
    smooth = weights == "gaussian" if isinstance(settings, EdgeWeights) else of_distances
    known = smooth and named_with_slopes(metric, getattr(settings, "metric_params", None))
    return "exact" if known else "local regression"


def sensitivity_of(model: Model, X: Any, n_jobs: int | None) -> Floats:
    """Derivatives (m, p, d) of the map at rows as the model reads them."""
    shape = X.shape[0], model.dimensions, X.shape[1]
    _require_memory(model.name, shape, X.dtype.itemsize)
    found = np.empty(shape, dtype=X.dtype)
    for some, values in sensitivity_blocks(model, X, n_jobs):
        found[some] = values
    return found


def sensitivity_blocks(model: Model, X: Any, n_jobs: int | None) -> Iterator[tuple[slice, Floats]]:
    """The same a block of rows at a time."""
    _require_columns(model, X)
    n, p, d = X.shape[0], model.dimensions, X.shape[1]
    for some in beats(blocks(n, max(_LEAST_ROWS, _ENTRIES_PER_BLOCK // (p * d)))):
        yield some, model.slopes(X[some], n_jobs)


def _require_columns(model: Model, X: Any) -> None:
    if model.reads.mixed:
        raise InputError(
            f"{model.name} was fitted with metric='gower', whose rows may hold categories and gaps, so the map has no "
            "derivative: fit on a table of numbers with another metric, or use gramfold.diagnostics.differences."
        )
    if model.source.rows is None:
        raise PrecomputedInputError(
            f"{model.name} was fitted on precomputed input, which has no columns to differentiate by: fit it on a "
            "table of rows, or use gramfold.diagnostics.loadings(X, embedding)."
        )
    gaps = 0 if issparse(X) else int(np.isnan(X).any(axis=1).sum())
    if gaps:
        raise InputError(
            f"{gaps} of {X.shape[0]} rows have missing values (NaN), at which the map has no derivative: fill them, "
            "or leave these rows out."
        )


def _require_memory(name: str, shape: tuple[int, int, int], itemsize: int) -> None:
    n, p, d = shape

    def need(rows: int) -> float:
        return float(rows) * p * d * itemsize + 8.0 * 4 * max(_ENTRIES_PER_BLOCK, _LEAST_ROWS * p * d)

    free = available_memory()
    if need(n) <= USABLE_SHARE * free:
        return
    rows = largest_that_fits(need, n, free)
    fewer = f"pass at most {rows:,} rows at a time" if rows else "use fewer columns"
    raise MemoryForecastError(
        f"sensitivity of {name} at {n:,} rows ({n:,} x {p} x {d:,} numbers) needs {need(n) / GIGABYTE:.1f} GB, but "
        f"only {free / GIGABYTE:.1f} GB are free: {fewer}, or use gramfold.diagnostics.loadings, which keeps means.",
        need(n),
    )
