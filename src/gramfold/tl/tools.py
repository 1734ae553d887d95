"""One function for each method, all made of `fitted`: signature and documentation come from the estimator."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_type_hints

import gramfold
from gramfold.methods.names import in_small_letters
from gramfold.tl.cells import require_cells
from gramfold.tl.fitting import Asked, fit_arguments, fitted, made
from gramfold.tl.given_graph import takes_graph

if TYPE_CHECKING:
    from anndata import AnnData

Tool = Callable[..., "AnnData | None"]

_WORDS = {
    "adata": """adata : AnnData
    The cells. {written}""",
    "use_rep": """use_rep : str, default=None
    The rows of the method: ``"X"`` or a key of ``obsm``. None: ``obsm["X_pca"]`` if it is there, else ``X``. A sparse
    ``X`` is never made dense.""",
    "n_pcs": """n_pcs : int, default=None
    Number of columns of ``X_pca``, or of `use_rep`, that are taken. None: all; 0: ``X``.""",
    "layer": """layer : str, default=None
    Key of ``layers`` that is read in the place of ``X``.""",
    "use_graph": """use_graph : {{"distances", "connectivities"}}, default=None
    Take the graph of ``sc.pp.neighbors`` in the place of rows. "distances": lengths of edges, read as
    ``metric="precomputed"``; "connectivities": weights, read as ``weights="precomputed"`` or as the affinity. Not every
    method takes both. New cells cannot be placed by a graph.""",
    "neighbors_key": """neighbors_key : str, default=None
    The ``key_added`` of ``sc.pp.neighbors``, where it was given.""",
    "key_added": """key_added : str, default=None
    Name of the results, in the place of {target} and ``uns["{name}"]``.""",
    "verdict": """verdict : bool, default=False
    Whether to judge the map (`gramfold.diagnostics.verdict`) and write what is found to ``uns``.""",
    "copy": """copy : bool, default=False
    Whether to leave `adata` as it is, and to return a copy with the results.""",
}
_MAP = """Coordinates are written to ``obsm["X_{name}"]`` (NaN for cells without a place), the record of the fit to
    ``uns["{name}"]``."""
_CLUSTERS = 'Clusters are written to ``obs["{name}"]`` as categories, the record of the fit to ``uns["{name}"]``.'
_BY_CELL = """{names} : {kind}, default=None
    {arguments} of ``fit``. `y` and `sample_weight` may be names of columns of ``obs``."""
_REST = """Returns
-------
AnnData or None
    The copy; None unless `copy`.

See Also
--------
gramfold.{cls} : The estimator, on any table.
gramfold.tl.fit : The same, and returns the fitted estimator, by which `gramfold.tl.transform` places new cells.
gramfold.tl.judge : How far any map of the cells can be believed.
"""


def classes() -> dict[str, str]:
    """The name of each function, and that of its estimator."""
    return {in_small_letters(name): name for name in gramfold.__all__ if name[0].isupper()}


def tool(name: str, cls: type) -> Tool:
    """The function of this name, which fits this estimator."""
    signature = tool_signature(cls)
    own = {one.name: one.default for one in signature.parameters.values()}
    asked_for = [one.name for one in fields(Asked) if one.name in own]

    def run(adata: "AnnData", **given: Any) -> "AnnData | None":
        adata = require_cells(adata)
        copy = given.pop("copy", False)
        asked = Asked(**{one: given.pop(one) for one in asked_for if one in given})
        estimator, extras = made(cls, given)
        target = adata.copy() if copy else adata
        fitted(target, estimator, extras, asked, kept=False)
        return target if copy else None

    run.__name__ = run.__qualname__ = name
    run.__module__ = "gramfold.tl"
    run.__doc__ = _documented(name, cls, list(own))
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def tool_signature(cls: type) -> inspect.Signature:
    """Keywords of AnnData first, then the parameters of the estimator, then the arguments of its fit."""
    absent = set() if takes_graph(cls) else {"use_graph", "neighbors_key"}
    if not hasattr(cls, "fit_transform"):
        absent.add("verdict")
    hints = get_type_hints(Asked)
    keyword = inspect.Parameter.KEYWORD_ONLY
    found = [inspect.Parameter("adata", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="AnnData")]
    found += [
        inspect.Parameter(one.name, keyword, default=one.default, annotation=hints[one.name])
        for one in fields(Asked)
        if one.name not in absent
    ]
    found.append(inspect.Parameter("copy", keyword, default=False, annotation=bool))
    of_class = [one.replace(kind=keyword) for one in inspect.signature(cls).parameters.values()]
    of_fit = [inspect.Parameter(one, keyword, default=None, annotation=Any) for one in fit_arguments(cls)]
    return inspect.Signature([*found, *of_class, *of_fit], return_annotation="AnnData | None")


def _documented(name: str, cls: type, own: list[str]) -> str:
    doc = inspect.cleandoc(cls.__doc__ or "")
    summary = doc.split("\n", 1)[0]
    parameters = doc.split("Parameters\n----------\n")[1].split("\n\nAttributes\n")[0]
    clusters = not hasattr(cls, "fit_transform")
    filled = {
        "name": name,
        "target": f'``obs["{name}"]``' if clusters else f'``obsm["X_{name}"]``',
        "written": (_CLUSTERS if clusters else _MAP).format(name=name),
    }
    shared = "\n".join(words.format(**filled) for one, words in _WORDS.items() if one in own)
    arguments = fit_arguments(cls)
    of_fit = _BY_CELL.format(
        names=", ".join(arguments), kind="str or array-like", arguments=f"Argument{'s' * (len(arguments) > 1)}"
    )
    return f"{summary}\n\nParameters\n----------\n{shared}\n{parameters}\n{of_fit}\n\n{_REST.format(cls=cls.__name__)}"
