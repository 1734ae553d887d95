"""What a fitted model is, in a few lines: read from what the fit left, nothing is computed.

A part that the model does not hold (a file may be written without kernel, spectrum or training map) is left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from textwrap import wrap
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gramfold.embedding.changed import changed_parameters, parameters_in_words
from gramfold.embedding.made import known_verdict
from gramfold.embedding.model import Fitted
from gramfold.runtime.counting import counted
from gramfold.types import LeftOut, Spectrum

PRECOMPUTED = "precomputed values"
_WIDTH = 110  # letters of a line
_SHOWN = 5  # numbers in a line
_WARNED, _MOST_WARNINGS = "warned of", 3  # lines of warnings
_SMALL_GROUPS = 8  # clusters whose sizes are listed
_THOUSAND, _UNITS = 1000.0, ("bytes", "kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class GraphSummary:
    """The neighbour graph of a model.

    Attributes
    ----------
    neighbors : int or None
        Neighbours of a row that were asked for; None for a radius, or where edges were given.
    vertices, edges : int
        Distinct rows, and edges between them.
    components : int
        Connected components that were embedded.
    bridges : int
        Edges that were added to connect them.
    dropped : int
        Edges that were removed (`drop_edges`).
    """

    neighbors: int | None
    vertices: int
    edges: int
    components: int
    bridges: int
    dropped: int

    def __str__(self) -> str:
        k = "" if self.neighbors is None else f"{counted(self.neighbors, 'neighbour')} a row, "
        parts = f"{counted(self.edges, 'edge')} between {self.vertices:,} distinct rows, "
        also = [counted(self.bridges, "bridge")] * bool(self.bridges)
        also += [f"{counted(self.dropped, 'edge')} removed"] * bool(self.dropped)
        return k + parts + ", ".join([counted(self.components, "connected component"), *also])


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """A fitted model in a few lines: ``print(model.summary())``.

    Attributes
    ----------
    name : str
        The class of the model.
    rows : int
        Training rows.
    held : int
        Those that the model holds: fewer after a fit on rows in partitions.
    placed : int or None
        Those that have coordinates or a cluster; None where a compact model does not hold them.
    compact : bool
        Whether the model was saved with ``compact=True``.
    columns : int
        Columns of X.
    kind : str
        What X was: "rows", "sparse rows", "rows with categories" or "precomputed values".
    dimensions : int or None
        Of the map; None for clusters.
    parameters : dict
        Those that are not at their default, as they are now.
    graph : GraphSummary or None
        The neighbour graph.
    solver : str or None
        How the eigenvalues were computed.
    residual : float or None
        The largest residual of an eigenpair, relative to its eigenvalue.
    eigenvalues, shares : tuple of float
        Leading eigenvalues of the kernel, and shares of the variance where the fit found them.
    found : dict of str to str
        What only this method has: clusters, stress, a certificate.
    warnings : tuple of str
        What the fit warned of.
    stages : dict of str to float
        Seconds of each stage.
    memory : int
        Bytes of the model's arrays.
    verdict : Verdict or None
        If `verdict()` was called since the fit.
    """

    name: str
    rows: int
    held: int
    placed: int | None
    compact: bool
    columns: int
    kind: str
    dimensions: int | None
    parameters: dict[str, Any]
    graph: GraphSummary | None
    solver: str | None
    residual: float | None
    eigenvalues: tuple[float, ...]
    shares: tuple[float, ...]
    found: dict[str, str]
    warnings: tuple[str, ...]
    stages: dict[str, float]
    memory: int
    verdict: Any

    def lines(self) -> list[tuple[str, str]]:
        """What is said, as pairs of a word and a text."""
        told = [("data", self._data())]
        told += [("parameters", parameters_in_words(self.parameters) or "defaults")]
        told += [("graph", str(self.graph))] * (self.graph is not None)
        if self.solver is not None:
            misfit = "" if self.residual is None else f", largest residual {self.residual:.0e}"
            told.append(("solver", self.solver + misfit))
        if self.eigenvalues:
            told.append(("eigenvalues", _listed([f"{value:.4g}" for value in self.eigenvalues])))
        if self.shares:
            told.append(("variance", _listed([f"{share:.1%}" for share in self.shares])))
        told += self.found.items()
        told += [(_WARNED, text) for text in self.warnings[:_MOST_WARNINGS]]
        if len(self.warnings) > _MOST_WARNINGS:
            told[-1] = (_WARNED, f"{counted(len(self.warnings) - _MOST_WARNINGS + 1, 'more warning')}: see `warnings`")
        stages = ", ".join(f"{stage} {spent:.2f} s" for stage, spent in self.stages.items())
        told.append(("time", f"{sum(self.stages.values()):.2f} s: {stages}" if stages else "not known"))
        told.append(("memory", _size(self.memory)))
        if self.verdict is not None:
            faults = ", ".join(self.verdict.faults) or "none"
            told.append(("verdict", f"{self.verdict.kind} ({self.verdict.sure}); faults of the map: {faults}"))
        return told

    def _data(self) -> str:
        table = f"{self.kind} of {counted(self.columns, 'row' if self.kind == PRECOMPUTED else 'column')}"
        held = f"{self.rows:,} " if self.kind != PRECOMPUTED else ""
        some = "" if self.held == self.rows else f" in partitions, {self.held:,} of them held"
        some += "" if self.placed in {None, self.held} else f", {self.placed:,} of them placed"
        to = "" if self.dimensions is None else f", to {counted(self.dimensions, 'dimension')}"
        return held + table + some + to + ("; compact: without its map" if self.compact else "")

    def __str__(self) -> str:
        lines = self.lines()
        wide = max(len(word) for word, _ in lines) + 2
        room = _MOST_WARNINGS // max(1, sum(word == _WARNED for word, _ in lines))  # lines for each
        told = [self.name]
        for word, text in lines:
            most = room if word == _WARNED else 1
            first, *others = wrap(text, _WIDTH - wide - 2, max_lines=most, placeholder=" …")
            told += [f"  {word:<{wide}}{first}", *(" " * (wide + 2) + other for other in others)]
        return "\n".join(told)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><th style="text-align:left">{escape(word)}</th><td style="text-align:left">{escape(text)}</td></tr>'
            for word, text in self.lines()
        )
        return f"<table><caption>{escape(self.name)}</caption>{cells}</table>"


def summary_of(estimator: Any, model: Fitted) -> Summary:
    """The summary of an estimator and of what its fit left."""
    held = vars(model)
    embedding = _there(held.get("embedding", model.found.get("embedding_")))
    labels = _there(model.found.get("labels_"))
    lead = labels if embedding is None else embedding[:, 0] if embedding.shape[1] else None
    spectrum = _spectrum(model)
    shares = _there(model.found.get("explained_variance_ratio_"))
    return Summary(
        name=model.name,
        rows=model.n_rows,
        held=model.n_held,
        placed=None if lead is None else int((lead >= 0).sum() if labels is not None else (~np.isnan(lead)).sum()),
        compact=model.remains is not None,
        columns=int(model.columns.count),
        kind=_kind(model),
        dimensions=getattr(model, "dimensions", None),
        parameters=changed_parameters(estimator),
        graph=_graph(model),
        solver=None if spectrum is None else spectrum.solver,
        residual=float(spectrum.residuals.max()) if spectrum is not None and len(spectrum.residuals) else None,
        eigenvalues=() if spectrum is None else tuple(map(float, spectrum.eigenvalues)),
        shares=() if shares is None else tuple(map(float, shares)),
        found=dict(_own(model)),
        warnings=tuple(held.get("warned", ())),
        stages=dict(model.timings),
        memory=sum(_arrays(model)),
        verdict=known_verdict(estimator),
    )


def _kind(model: Fitted) -> str:
    if model.reads.precomputed:
        return PRECOMPUTED
    if model.reads.mixed:
        return "rows with categories"
    source = vars(model).get("source")
    return "sparse rows" if issparse(getattr(source, "rows", None)) else "rows"


def _there(value: Any) -> Any:
    """The value; None where a compact model has left it out."""
    return None if isinstance(value, LeftOut) else value


def _spectrum(model: Fitted) -> Spectrum | None:
    """Of the largest component."""
    parts = vars(model).get("parts")
    found = parts[0].spectrum if parts else model.found.get("spectrum_")
    return found if isinstance(found, Spectrum) and _there(found.residuals) is not None else None


def _graph(model: Fitted) -> GraphSummary | None:
    held = vars(model)
    source = held.get("source")
    source = getattr(source, "members", None) or source  # of a map that is a function of the columns
    components = getattr(source, "components", None)
    net: Any = held.get("net") if components is None else components.net
    single = held["edges"].graph if "edges" in held else getattr(source, "joined", None)
    graphs: tuple[Any, ...] = (single,) if components is None else components.graphs
    if any(graph is None or _there(graph) is None or _there(graph.lengths) is None for graph in graphs):
        return None
    joined = getattr(held.get("division"), "component", None)  # of clusters, whose graph may have several
    given = net is None or net.index.given or net.n_neighbors is None
    dropped = None if net is None else net.dropped
    return GraphSummary(
        neighbors=None if given else int(net.n_neighbors),
        vertices=sum(map(len, graphs)),
        edges=sum(int(graph.lengths.nnz) for graph in graphs) // 2,
        components=len(graphs) if joined is None else int(np.max(joined, initial=0)) + 1,
        bridges=sum(len(graph.bridges) for graph in graphs),
        dropped=0 if dropped is None else len(dropped),
    )


def _own(model: Fitted) -> Iterator[tuple[str, str]]:
    """What only some methods have."""
    found = {name: value for name, value in model.found.items() if _there(value) is not None}
    labels = found.get("labels_")
    if labels is not None:
        sizes = np.bincount(labels[labels >= 0])
        shown = ", ".join(f"{size:,}" for size in sizes[:_SMALL_GROUPS])
        some = f" and {len(sizes) - _SMALL_GROUPS} more" if len(sizes) > _SMALL_GROUPS else ""
        yield "clusters", f"{len(sizes)}, of {shown}{some} rows"
    if "stress_" in found:
        yield "stress", f"{found['stress_']:.4g} after {counted(found['n_iter_'], 'iteration')}"
    solution = found.get("solution_")
    if solution is not None:
        bound = f"within {solution.certificate.gap:.1e} of the optimum"
        ended = "" if solution.converged else ", not converged"
        yield "certificate", f"{bound} ({solution.solver}, {counted(len(solution.steps), 'iteration')}{ended})"
    likelihoods = found.get("log_likelihoods_")
    if likelihoods is not None and len(likelihoods):
        yield "likelihood", f"{likelihoods[-1]:.6g}, its logarithm"
    if found.get("landmarks_") is not None:
        yield "landmarks", f"{len(found['landmarks_']):,}"


def _listed(words: list[str]) -> str:
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    return ", ".join(words[:_SHOWN]) + more


def _size(count: float) -> str:
    for unit in _UNITS[:-1]:
        if count < _THOUSAND:
            return f"{count:.3g} {unit}"
        count /= _THOUSAND
    return f"{count:.3g} {_UNITS[-1]}"


def _arrays(model: Any) -> Iterator[int]:
    """Bytes of each array that the model holds, those that several of its parts share once."""
    seen: set[int] = set()
    left = [model]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            owner = one
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
            if owner is one or id(owner) not in seen:
                seen.add(id(owner))
                yield int(owner.nbytes)
        elif issparse(one):
            left += [part for part in vars(one).values() if isinstance(part, np.ndarray)]
        elif is_dataclass(one) and not isinstance(one, type):
            left += [vars(one).get(part.name) for part in fields(one)]
        elif isinstance(one, Mapping):
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
        elif hasattr(one, "__dict__") and type(one).__module__.startswith("gramfold."):
            left += vars(one).values()
