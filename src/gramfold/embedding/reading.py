"""What the user gives, read once: one sentence for whatever cannot be used."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from gramfold.errors import InputError
from gramfold.types import Floats


def read_rows(
    estimator: Any, X: Any, *, reset: bool, accept_sparse: bool, allow_missing: bool = False, check: bool = True
) -> Any:
    """X as a finite float64 or float32 array (or CSR matrix), its width remembered or compared.

    With `allow_missing` a value may be NaN; without `check` the caller looks at the values (`check_finite`).
    """
    if issparse(X) and not accept_sparse:
        raise InputError(
            f"X is a sparse matrix of {X.shape[0]} x {X.shape[1]} and {type(estimator).__name__} reads dense rows: "
            "reduce it first (sklearn.decomposition.TruncatedSVD) or pass X.toarray() if that fits in memory."
        )
    try:
        X = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=(np.float64, np.float32),
            order=None if issparse(X) else "C",
            accept_sparse="csr" if accept_sparse else False,
            ensure_all_finite=False,  # below, with the place
            ensure_min_samples=2 if reset else 1,
        )
    except ValueError as error:
        if "convert string" not in str(error):
            raise
        raise InputError(
            f"X holds text ({error}): every column must be a number; leave text columns out or encode them."
        ) from error
    if check:
        check_finite(X, "X", allow_missing=allow_missing)
    return X


def read_places(Y: Any, n_components: int) -> Floats:
    """Places on a map of this many dimensions."""
    places: Floats = check_array(Y, dtype=np.float64, ensure_all_finite=False, input_name="Y")
    check_finite(places, "Y")
    if places.shape[1] != n_components:
        raise InputError(
            f"Y has {places.shape[1]} columns and the map has n_components={n_components}: pass places on the map."
        )
    return places


def check_finite(X: Any, name: str, *, allow_missing: bool = False) -> bool:
    """Whether all values are there; what may not be raises."""
    values = X.data if issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # as it is where all are; a sum that overflows is looked at more closely
            return True
    finite = ~np.isinf(values) if allow_missing else np.isfinite(values)
    if finite.all():
        return not (allow_missing and np.isnan(values).any())
    place = tuple(int(i) for i in np.argwhere(~finite)[0])
    what = "NaN" if np.isnan(values[place]) else "infinity"
    where = "" if issparse(X) else f" in row {place[0]}, column {place[1]}"
    raise InputError(
        f"{name} contains {what}{where} ({int((~finite).sum())} such values in all), which is at no distance from "
        "anything: remove these rows or fill them in (sklearn.impute)."
    )
