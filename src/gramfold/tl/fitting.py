"""A method fitted on the cells of an AnnData, and what is written there."""

import inspect
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from gramfold.embedding import Estimator, Model
from gramfold.errors import InputError
from gramfold.methods.names import find_estimator, in_small_letters
from gramfold.tl.cells import checked_key, require_cells, require_key
from gramfold.tl.given_graph import UseGraph, given_graph, graph_settings, neighbors_record, takes_affinity
from gramfold.tl.new_cells import Cells
from gramfold.tl.records import is_ours, plain, spectrum_record, texts, verdict_record, versions, write
from gramfold.tl.sources import Source, warn_of_counts

if TYPE_CHECKING:
    from anndata import AnnData

_BY_CELL = ("y", "sample_weight")  # arguments of fit that may name a column of obs
_SCANPYS = "pca"  # whose results scanpy writes under the same name


@dataclass(frozen=True, eq=False, repr=False)
class CellMap:
    """A method that was fitted on the cells of an AnnData.

    Attributes
    ----------
    estimator : estimator
        The fitted estimator of gramfold, with all that it has: `spectrum_`, `verdict()`, `inverse_transform` …
    key : str
        Where the coordinates are in `obsm` (for clusters: the column of `obs`), here and for new cells.
    cells : Cells or None
        How rows of new cells are read (`gramfold.tl.transform`); None where only a graph of the cells was read.
    """

    estimator: Any
    key: str
    cells: Cells | None

    def __repr__(self) -> str:
        read = "a given graph" if self.cells is None else self.cells.source.name
        return f"CellMap({self.estimator!r} of {read}, '{self.key}')"


@dataclass(frozen=True)
class Asked:
    """What is read of the cells, and where results go: the arguments that every method has here."""

    use_rep: str | None = None
    n_pcs: int | None = None
    layer: str | None = None
    use_graph: UseGraph | None = None
    neighbors_key: str | None = None
    key_added: str | None = None
    verdict: bool = False


def fit(
    adata: "AnnData",
    method: Any,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    use_graph: UseGraph | None = None,
    neighbors_key: str | None = None,
    key_added: str | None = None,
    verdict: bool = False,
    **parameters: Any,
) -> CellMap:
    """Fit a method on cells, write what the function of its name writes, and return the model for new cells.

    Parameters
    ----------
    adata : AnnData
        The cells. Coordinates go to ``obsm``, the record of the fit to ``uns``.
    method : str or estimator
        Name of a method ("isomap", "diffusion_map", …), or an estimator of gramfold, of which a copy is fitted.
    use_rep, n_pcs, layer, use_graph, neighbors_key, key_added, verdict
        As of every function of `gramfold.tl`: see ``help(gramfold.tl.isomap)``.
    **parameters
        Parameters of the method, and arguments of its ``fit``; `y` and `sample_weight` may name columns of ``obs``.

    Returns
    -------
    fitted : CellMap
        With `estimator`; `gramfold.tl.transform` places new cells by it.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import gramfold
    >>> cells = anndata.AnnData(np.random.default_rng(0).normal(size=(200, 5)))
    >>> known, new = cells[:150].copy(), cells[150:].copy()
    >>> fitted = gramfold.tl.fit(known, "isomap", n_neighbors=10)
    >>> known.obsm["X_isomap"].shape
    (150, 2)
    >>> gramfold.tl.transform(new, fitted)
    >>> new.obsm["X_isomap"].shape
    (50, 2)
    """
    asked = Asked(use_rep, n_pcs, layer, use_graph, neighbors_key, key_added, verdict)
    adata = require_cells(adata)
    estimator, extras = _estimator(method, parameters)
    return fitted(adata, estimator, extras, asked)


def fitted(adata: "AnnData", estimator: Any, extras: Mapping[str, Any], asked: Asked, *, kept: bool = True) -> CellMap:
    """The model of these cells, after all about it was written. `kept`: whether it will meet new cells."""
    target = Target.of(type(estimator), adata, asked.key_added)
    if asked.verdict and target.clusters:
        raise InputError(f"verdict=True is about a map, but {type(estimator).__name__} makes none: leave it out.")
    arguments = _arguments(adata, extras)
    table = _read(adata, estimator, asked)
    if table.affinity is not None:
        arguments["affinity"] = table.affinity
    with heard() as told:
        if table.source is not None and table.source.from_genes and getattr(estimator, "metric", None) != "cosine":
            warn_of_counts(table.rows, table.source.name)
        model = table.estimator.fit(table.rows, **arguments)
        judged = _verdict(adata, model, table, asked) if asked.verdict else None
    record = {
        "params": plain({"method": type(model).__name__, **table.settings, **model.get_params(deep=False)}),
        "rows": table.words,
        "spectrum": spectrum_record(model),
        "versions": versions(),
        "warnings": texts(told),
        "verdict": None if judged is None else verdict_record(judged),
    }
    cells = Cells.of(adata, table.source, table.rows) if kept and table.source is not None else None
    target.write(adata, model.labels_ if target.clusters else model.embedding_.copy(), record)
    return CellMap(model, target.key, cells)


@dataclass(frozen=True)
class Target:
    """Where the results of a method go."""

    key: str  # in obsm, or obs for clusters
    record: str  # in uns
    clusters: bool

    @classmethod
    def of(cls, method: type, adata: "AnnData", key_added: str | None) -> "Target":
        """By scanpy's rule: ``key_added`` names both, else X_name and name."""
        clusters = not hasattr(method, "fit_transform")
        if key_added is not None:
            return cls(checked_key(key_added), key_added, clusters)
        name = in_small_letters(method.__name__)
        target = cls(name if clusters else f"X_{name}", name, clusters)
        foreign = name in adata.uns or name == _SCANPYS
        if target.key in (adata.obs if clusters else adata.obsm) and foreign and not is_ours(adata.uns.get(name)):
            raise InputError(
                f"adata.{'obs' if clusters else 'obsm'}['{target.key}'] is there and was not written by gramfold: pass "
                f"key_added= with another name to keep it, or key_added='{target.key}' to replace it."
            )
        return target

    def write(self, adata: "AnnData", found: Any, record: Mapping[str, Any]) -> None:
        """The results and their record."""
        uns = {self.record: plain(record)}
        if self.clusters:
            write(adata, uns=uns, obsm={}, obs={self.key: _categories(found)})
        else:
            write(adata, uns=uns, obsm={self.key: np.asarray(found)}, obs={})


def _categories(labels: Any) -> Any:
    """Clusters as scanpy writes them: categories '0', '1' …; none for a cell in no cluster."""
    import pandas as pd

    names = pd.Index([str(label) for label in range(int(labels.max()) + 1)], dtype=object)
    return pd.Categorical.from_codes(labels, names)


# --- what is fitted


def _estimator(method: Any, parameters: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """An estimator that is not fitted, and arguments of its fit."""
    if isinstance(method, str):
        return made(find_estimator(method), parameters)
    if not isinstance(method, Estimator):
        what = method.__name__ if isinstance(method, type) else type(method).__name__
        raise InputError(
            f"method is {what}, but gramfold.tl.fit takes the name of a method, as 'isomap', or an estimator of "
            "gramfold, as gramfold.Isomap()."
        )
    settings, extras = _divided(type(method), parameters)
    return clone(method).set_params(**settings), extras


def made(cls: type, parameters: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The estimator with these parameters, and those of them that are arguments of its fit."""
    settings, extras = _divided(cls, parameters)
    return cls(**settings), extras


def _divided(cls: type, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    known, of_fit = list(inspect.signature(cls).parameters), fit_arguments(cls)
    for name in parameters:
        if name not in known and name not in of_fit:
            names = [*known, *of_fit, *Asked.__dataclass_fields__, "copy"]
            close = get_close_matches(name, names, n=1)
            instead = f"did you mean '{close[0]}'?" if close else f"it has {', '.join([*known, *of_fit])}."
            raise InputError(f"{cls.__name__} has no parameter '{name}': {instead}")
    settings = {name: value for name, value in parameters.items() if name in known}
    extras = {name: value for name, value in parameters.items() if name in of_fit and value is not None}
    return settings, extras


def fit_arguments(cls: type) -> list[str]:
    """Names of what its fit takes beside the rows."""
    named = inspect.signature(cls.fit).parameters.values()  # type: ignore[attr-defined]
    return [one.name for one in named if one.name not in ("self", "X") and one.kind is not one.VAR_KEYWORD]


def _arguments(adata: "AnnData", extras: Mapping[str, Any]) -> dict[str, Any]:
    """Those of fit, columns of obs by their names."""
    arguments = dict(extras)
    for name in _BY_CELL:
        if isinstance(arguments.get(name), str):
            key = require_key(arguments[name], adata.obs.columns, "obs", f"{name} names a column, or is an array")
            arguments[name] = adata.obs[key].to_numpy()
    return arguments


# --- what it is fitted on


@dataclass(frozen=True, eq=False)
class _Table:
    """Rows or a graph, and the estimator that reads them."""

    estimator: Any
    rows: Any
    source: Source | None  # None: the rows were not read
    affinity: Any
    words: str
    settings: dict[str, Any]  # for the record


def _read(adata: "AnnData", estimator: Any, asked: Asked) -> _Table:
    cls = type(estimator)
    if asked.use_graph is None:
        if asked.neighbors_key is not None:
            raise InputError("neighbors_key= is of a graph, but use_graph= was not given: give both or none.")
        return _of_rows(adata, estimator, asked, None)
    graph = given_graph(adata, asked.use_graph, asked.neighbors_key)
    if takes_affinity(cls) and asked.use_graph == "connectivities":
        return _of_rows(adata, estimator, asked, graph)
    for name in ("use_rep", "n_pcs", "layer"):
        if getattr(asked, name) is not None:
            raise InputError(
                f"{name}= was given with use_graph=, but {cls.__name__} reads the graph and no rows: leave one out."
            )
    settings = graph_settings(cls, asked.use_graph)
    ((name, value),) = settings.items()
    if getattr(estimator, name) not in (inspect.signature(cls).parameters[name].default, value):
        raise InputError(
            f"{name}={getattr(estimator, name)!r} was given with use_graph='{asked.use_graph}', which is read as "
            f"{name}='precomputed': leave one out."
        )
    words = f"obsp, the {asked.use_graph} of {asked.neighbors_key or 'neighbors'}, {graph.nnz:,} entries"
    record = {"use_graph": asked.use_graph, "neighbors_key": asked.neighbors_key}
    return _Table(estimator.set_params(**settings), graph, None, None, words, record)


def _of_rows(adata: "AnnData", estimator: Any, asked: Asked, affinity: Any) -> _Table:
    source = Source.of(adata, asked.use_rep, asked.layer, asked.n_pcs)
    rows = source.read(adata)
    record = {
        "use_rep": source.use_rep,
        "layer": source.layer,
        "n_pcs": source.n_columns,
        "use_graph": asked.use_graph,
        "neighbors_key": asked.neighbors_key,
    }
    return _Table(estimator, rows, source, affinity, source.words(rows), record)


def _verdict(adata: "AnnData", model: Any, table: _Table, asked: Asked) -> Any:
    from gramfold.diagnostics import verdict

    if table.source is not None and isinstance(model.model_, Model) and model.model_.source.rows is not None:
        return model.verdict()
    rows = table.rows
    if table.source is None:  # those of which scanpy made the graph
        about = dict((neighbors_record(adata, asked.neighbors_key) or {}).get("params", {}))
        rows = Source.of(adata, about.get("use_rep"), None, about.get("n_pcs")).read(adata)
    return verdict(rows, model.embedding_)


@contextmanager
def heard() -> Iterator[list[str]]:
    """What was warned of in the block, which is warned of again at its end."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield told
    for one in caught:
        told.append(f"{one.category.__name__}: {one.message}")
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
