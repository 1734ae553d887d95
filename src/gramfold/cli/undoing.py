"""The steps before a map, undone: from what the map was made of to the columns of the table."""

from pathlib import Path
from typing import Any

from gramfold.errors import InputError


def fills_gaps(step: Any) -> bool:
    """Whether a step fills in missing values, and changes no others."""
    from sklearn.impute import KNNImputer, SimpleImputer

    from gramfold.advice import FillByPPCA

    return isinstance(step, KNNImputer | SimpleImputer | FillByPPCA)


def names_after(step: Any, names: list[str], path: Path) -> list[str]:
    """Columns that are left after a step; an error for one that cannot be undone."""
    from sklearn.feature_selection import SelectorMixin
    from sklearn.preprocessing import FunctionTransformer

    fills = fills_gaps(step)
    if isinstance(step, SelectorMixin) or (fills and not getattr(step, "add_indicator", False)):
        return [str(name) for name in step.get_feature_names_out(names)]
    function = isinstance(step, FunctionTransformer)
    can = _inverse_of(step) is not None if function else hasattr(step, "inverse_transform") and not fills
    if not can:
        raise InputError(
            f"'{path}' has the step {_shown(step)} before the map, which cannot be undone, so that there is no way "
            "back to the columns of the table: fit the model without that step."
        )
    return names


def _shown(step: Any) -> str:
    function = getattr(getattr(step, "func", None), "__name__", None)
    return type(step).__name__ if function is None else f"{type(step).__name__} ({function})"


def undone(step: Any, rows: Any) -> Any:
    """Rows as they were before a step."""
    from sklearn.feature_selection import SelectorMixin
    from sklearn.preprocessing import FunctionTransformer

    # what fills gaps, or leaves columns out, changes no value that a row has after it
    if fills_gaps(step) or isinstance(step, SelectorMixin):
        return rows
    if isinstance(step, FunctionTransformer):
        inverse = _inverse_of(step)
        assert inverse is not None  # as `names_after` saw
        return inverse(rows)
    return step.inverse_transform(rows)


def _inverse_of(step: Any) -> Any:
    """That of a FunctionTransformer, whose own is the identity where none was given; None where there is none."""
    import numpy as np

    pairs = ((np.log1p, np.expm1), (np.log, np.exp), (np.log2, np.exp2), (np.sqrt, np.square), (np.arcsinh, np.sinh))
    if step.func is None or step.inverse_func is not None:
        return step.inverse_transform
    known: dict[Any, Any] = {**dict(pairs), **{undo: do for do, undo in pairs if undo is not np.square}}
    return known.get(step.func)
