"""Every method on the cells of an AnnData, in scanpy's words.

``gramfold.tl.isomap(adata)``, and so each method by its name, reads the cells as scanpy does, writes
``obsm["X_isomap"]`` and ``uns["isomap"]``, and returns None. `fit` does the same and returns the model, by which
`transform` places new cells. `judge` says how far a map can be believed, whoever made it.

The functions are made when they are first used; ``__init__.pyi`` lists them for tools.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "CellMap": "gramfold.tl.fitting",
    "fit": "gramfold.tl.fitting",
    "judge": "gramfold.tl.judging",
    "transform": "gramfold.tl.placing",
}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in (known := _classes()):
        import gramfold
        from gramfold.tl.tools import tool

        value = tool(name, getattr(gramfold, known[name]))
    else:
        raise AttributeError(f"module 'gramfold.tl' has no attribute {name!r}")
    globals()[name] = value  # the next look-up does not come here
    return value


def _classes() -> dict[str, str]:
    from gramfold.tl.tools import classes

    return classes()


def __dir__() -> list[str]:
    return sorted([*_classes(), *_HOMES])
