"""Neighbour searches of scikit-learn: their trees are made again from the rows."""

from typing import Any

from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer

_SEARCHES = (KNeighborsTransformer, RadiusNeighborsTransformer)


def rows_of_search(estimator: Any) -> Any:
    """The rows that a fitted search was made of; None for any other estimator, and where it is not fitted."""
    return getattr(estimator, "_fit_X", None) if type(estimator) in _SEARCHES else None
