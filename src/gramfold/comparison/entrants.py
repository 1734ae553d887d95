"""What is compared: methods by name, classes, estimators of any package, and finished maps."""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from gramfold.diagnostics.judged import read_places
from gramfold.embedding import Estimator
from gramfold.embedding.groups import Neighborhood
from gramfold.errors import InputError
from gramfold.methods.names import find_method, in_small_letters
from gramfold.neighbors.columns import counts_rows, same_labels
from gramfold.types import Floats

_MANY = 5_000  # rows above which a method of all distances gives way to one of landmarks
_LONG = 10_000  # characters of an estimator with its parameters; scikit-learn leaves out some beyond 700
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+>", re.IGNORECASE)
_DISTANCES = ("metric", "dissimilarity", "knn_dist")  # parameters that say that X holds distances


@dataclass(frozen=True, eq=False)
class Entrant:
    """A method that is not fitted yet, or a finished map."""

    name: str
    model: Any = None
    places: Floats | None = None  # (n, p), in the order of the rows

    @property
    def written(self) -> str:
        """The method with its parameters, in one line; empty for a finished map."""
        if self.model is None:
            return ""
        try:
            whole = isinstance(self.model, BaseEstimator)
            text = self.model.__repr__(N_CHAR_MAX=_LONG) if whole else repr(self.model)
        except Exception:  # noqa: BLE001 - whatever a guest raises is its own
            return type(self.model).__name__
        if _ADDRESS.search(text):  # which says nothing of how it was made
            return f"{type(self.model).__name__}(…)"
        return " ".join(text.split())

    @property
    def n_neighbors(self) -> int | None:
        """As many neighbours as its search is asked for; None where it does not share one."""
        model = self.model
        given = getattr(model, "weights", None) == "precomputed" or not isinstance(getattr(model, "search", ""), str)
        if not isinstance(model, Neighborhood) or given or model.radius is not None:
            return None
        asked: Any = model.n_neighbors
        return int(asked) if isinstance(asked, Integral) else Neighborhood.n_neighbors  # "auto" asks for few


def usual_methods(n: int, metric: Any) -> list[str]:
    """Fast ones that differ: linear, geodesic, of a graph Laplacian, of a random walk, locally linear."""
    many = n > _MANY
    scaling = "landmark_mds" if many else "classical_mds"  # which is PCA where distances are Euclidean
    methods = [
        "pca" if metric == "euclidean" else scaling,
        "landmark_isomap" if many else "isomap",
        "laplacian_eigenmaps",
        "diffusion_map",
    ]
    return methods if metric == "gower" else [*methods, "modified_lle"]


def read_entrants(methods: Any, X: Any, n: int, settings: Mapping[str, Any]) -> list[Entrant]:
    """All of them under names of their own; `settings` are for those that the user did not configure."""
    if methods is None:
        methods = usual_methods(n, settings["metric"])
    if isinstance(methods, str | type) or hasattr(methods, "fit_transform"):
        methods = [methods]
    if isinstance(methods, Mapping):
        named: list[tuple[str | None, Any]] = [(str(name), one) for name, one in methods.items()]
    elif isinstance(methods, Iterable) and not hasattr(methods, "shape"):
        named = [(None, one) for one in methods]
    else:
        raise InputError(
            f"methods is a {type(methods).__name__}: pass a list of names, classes and estimators, or a dict that "
            "names them and finished maps."
        )
    if not named:
        raise InputError("methods is empty: pass at least one.")
    found: dict[str, Entrant] = {}
    for name, one in named:
        entrant = _entrant(name, one, X, n, settings)
        free, count = entrant.name, 1
        while free in found:
            count += 1
            free = f"{entrant.name} {count}"
        found[free] = Entrant(free, entrant.model, entrant.places)
    return list(found.values())


def _entrant(name: str | None, one: Any, X: Any, n: int, settings: Mapping[str, Any]) -> Entrant:
    if isinstance(one, str):
        one = find_method(one)
    if isinstance(one, type):
        if not hasattr(one, "fit_transform"):
            raise InputError(f"{one.__name__} has no fit_transform, so it makes no map: leave it out.")
        return Entrant(name or _called(one), _made(one, settings))
    if hasattr(one, "fit_transform"):
        return Entrant(name or _called(type(one)), clone(one, safe=False))
    if hasattr(one, "fit") or callable(one):
        raise InputError(f"{type(one).__name__} has no fit_transform, so it makes no map: leave it out.")
    return Entrant(name or "map", None, _finished(name or "map", one, X, n))


def _called(cls: type) -> str:
    return in_small_letters(cls.__name__) if issubclass(cls, Estimator) else cls.__name__


def _made(cls: type, settings: Mapping[str, Any]) -> Any:
    known = inspect.signature(cls).parameters
    given = {name: value for name, value in settings.items() if name in known and value is not None}
    if not issubclass(cls, Estimator) and given.get("metric") == "euclidean":
        del given["metric"]  # which others may call by another name
    return cls(**given)


# --- does a method read what X holds?


def require_reading(model: Any, metric: Any) -> None:
    """Refuse a method that would take distances for rows, or rows for distances."""
    given = metric == "precomputed"
    params = model.get_params() if hasattr(model, "get_params") else {}
    reads = any(str(params.get(name, "")).startswith("precomputed") for name in _DISTANCES)
    if given and not reads:
        raise InputError(
            "X holds distances, which this method would read as rows: use a method with metric='precomputed', or pass "
            "the finished map."
        )
    if reads and not given:
        raise InputError("it reads X as distances, but X holds rows: pass the distances with metric='precomputed'.")


# --- finished maps


def _finished(name: str, Y: Any, X: Any, n: int) -> Floats:
    """Coordinates (n, p) in the order of the rows of X, NaN for rows that the map does not have."""
    places = read_places(Y)
    mine, theirs = _index(X), _index(Y)
    if theirs is None or (mine is not None and mine.equals(theirs)):
        return _in_order(name, places, n)
    if mine is None:
        if len(places) == n and theirs.dtype.kind in "iu" and sorted(theirs) == list(range(n)) != list(theirs):
            raise InputError(
                f"the index of the map '{name}' numbers its rows in another order, and X has no index to match: sort "
                "the map by its index, or pass its values (to_numpy)."
            )
        return _in_order(name, places, n)
    if len(places) == n and counts_rows(mine) != counts_rows(theirs):  # one of the tables was given no names of rows
        if not same_labels(mine, theirs):
            return _in_order(name, places, n)
        if counts_rows(theirs):
            raise InputError(
                f"the index of the map '{name}' counts its rows and that of X is another order of the same numbers, so "
                "it is not known which rows are the same: pass the values of the map (to_numpy) if row i is row i, or "
                "its rows in the order of X (.loc[X.index])."
            )
    if theirs.is_unique and mine.is_unique:
        where = mine.get_indexer(theirs)
        known = where >= 0
        if known.any():
            found = np.full((n, places.shape[1]), np.nan)
            found[where[known]] = places[known]
            return found
    if counts_rows(theirs):  # the map was made without names of rows
        return _in_order(name, places, n)
    why = "has no name of a row of X" if theirs.is_unique and mine.is_unique else "or that of X names a row twice"
    raise InputError(
        f"the index of the map '{name}' {why}, so rows cannot be matched: give both the same index, or pass the values "
        "of the map (to_numpy) in the order of the rows."
    )


def _in_order(name: str, places: Floats, n: int) -> Floats:
    if len(places) != n:
        raise InputError(
            f"X has {n} rows and the map '{name}' has {len(places)}, so they cannot be compared row by row: pass a map "
            "of the same rows, or tables with an index."
        )
    return places


def _index(table: Any) -> Any:
    """That of a table of pandas; None for any other."""
    return table.index if hasattr(table, "iloc") and hasattr(table, "index") else None
