"""`gramfold embed --explain`: what the axes of a map mean, in words."""

import textwrap
from typing import Any

from gramfold.errors import InputError

_WIDTH = 100  # of a line
_INDENT = " " * 12


def check_explained(model: Any, explain: bool) -> None:
    """Refuse to explain a map of what has no columns of numbers, before it is computed."""
    given = (model.get_params().get(name) for name in ("metric", "kernel", "weights"))
    odd = next((one for one in given if isinstance(one, str) and one.lower() in {"precomputed", "gower"}), None)
    if explain and odd is not None:
        what = "INPUT holds no columns" if odd == "precomputed" else "columns of categories have no slopes"
        raise InputError(f"--explain names columns of numbers, but with {odd!r} {what}: leave --explain out.")


def explained_lines(model: Any, table: Any) -> list[str]:
    """Lines of words for each axis."""
    from gramfold.diagnostics import loadings
    from gramfold.embedding import Embedding

    whole = isinstance(model, Embedding)
    names = table.names or None  # a sparse file has none
    found = loadings(model, names=names) if whole else loadings(table.values, model.embedding_, names=names)
    lines = []
    for axis, words in enumerate(str(found).splitlines()):
        first, *others = textwrap.wrap(
            words, _WIDTH, initial_indent=f"axis {axis + 1:<5}", subsequent_indent=_INDENT[2:]
        )
        lines += [first, *others]
    return lines
