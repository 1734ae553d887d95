"""Leading eigenvalues of a fitted kernel, and their shares of the positive ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.types import Floats


@dataclass(frozen=True, eq=False)
class Shares:
    """Leading eigenvalues over a total."""

    values: Floats
    whole: bool  # whether the total is that of all positive eigenvalues, or only of those that were computed


def shares_of(name: str, model: Any, count: int) -> Shares:
    """The leading eigenvalues of a model, or of given ones, over the positive total where that is known."""
    if hasattr(model, "fit"):
        values, total = leading_values(model, count, name), float("nan")
        if hasattr(model, "negative_part"):
            total = float(model.negative_part().positive_total)
    else:
        every = _given(name, model)
        values, total = every[:count], float(every[every > 0].sum())
    return shares_among(values, total, name)


def shares_among(values: Floats, total: float, name: str) -> Shares:
    """Of eigenvalues, the largest first; of the sum of all positive ones where it is known, else of these."""
    whole = bool(np.isfinite(total) and total > 0)
    positive = float(values[values > 0].sum())
    if not whole and positive <= 0:
        raise InputError(f"'{name}' has no positive eigenvalue, so there are no shares to draw: leave it out.")
    return Shares(values / (total if whole else positive), whole)


def leading_values(model: Any, count: int, name: str) -> Floats:
    """The largest eigenvalues of the kernel of a fitted model, as many as there are up to a number."""
    if hasattr(model, "leading_eigenvalues") and hasattr(model, "model_"):
        kernel = getattr(model, "kernel_", None)
        most = count if kernel is None else min(count, len(kernel.mass) - kernel.null.shape[1])
        return np.asarray(model.leading_eigenvalues(most))
    spectrum = getattr(model, "spectrum_", None)
    if spectrum is None:
        raise InputError(
            f"{name} is a {type(model).__name__} without a spectrum: pass a fitted model of gramfold, or eigenvalues."
        )
    return np.asarray(spectrum.eigenvalues[:count])


def _given(name: str, values: Any) -> Floats:
    """Eigenvalues of the user's, the largest first."""
    try:
        every = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"'{name}' is no spectrum: pass a fitted model, or an array of its eigenvalues.") from error
    if every.ndim != 1 or not len(every) or not np.isfinite(every).all():
        raise InputError(
            f"'{name}' has shape {every.shape} or values that are not finite, and is no spectrum: pass a fitted "
            "model, or an array of its eigenvalues."
        )
    return np.asarray(-np.sort(-every))
