"""Which methods map rows of numbers, categories and gaps: those that need distances alone."""

from typing import Any

from gramfold.embedding.groups import Rebuilding
from gramfold.errors import InputError


def refuse_vectors(estimator: Any) -> None:
    """Refuse a metric of mixed rows for methods that compute with the rows themselves."""
    from gramfold.embedding.continuous import ContinuousMap

    name = type(estimator).__name__
    uses = None
    if isinstance(estimator, Rebuilding):
        uses = "reconstructs rows from their neighbours"
    elif isinstance(estimator, ContinuousMap):
        uses = "computes coordinates from the columns of X"
    if uses is not None:
        raise InputError(
            f"{name} {uses}, but metric='gower' has distances alone, of columns that need not be numbers: use Isomap, "
            "LaplacianEigenmaps, DiffusionMap or ClassicalMDS, or another metric."
        )
    if not isinstance(getattr(estimator, "search", "auto"), str):
        raise InputError(
            "metric='gower' was given with a neighbours transformer as search, which cannot read categories and gaps: "
            "use search='exact'."
        )
