"""Write src/gramfold/tl/__init__.pyi: the functions that gramfold.tl makes at run time, as type checkers see them.

Run `python tools/write_tl_stub.py` and `ruff format src/gramfold/tl/__init__.pyi` after a parameter has changed.
"""

import inspect
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import gramfold.tl
from gramfold.tl.tools import classes
from gramfold.types import Floats

STUB = Path(gramfold.tl.__file__).with_suffix(".pyi")
HEAD = """# Written by tools/write_tl_stub.py, which takes the parameters from the estimators.
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Literal

from anndata import AnnData

from gramfold.tl.fitting import CellMap as CellMap
from gramfold.tl.fitting import fit as fit
from gramfold.tl.judging import judge as judge
from gramfold.tl.placing import transform as transform
from gramfold.types import Floats

"""


def stub() -> str:
    """The text of the stub."""
    return HEAD + "\n".join(_line(name) for name in sorted(classes())) + "\n"


def _line(name: str) -> str:
    adata, *others = inspect.signature(getattr(gramfold.tl, name)).parameters.values()
    shown = [f"{one.name}: {_shown(one.annotation)} = {one.default!r}" for one in others]
    return f"def {name}({adata.name}: AnnData, *, {', '.join(shown)}) -> AnnData | None: ..."


def _shown(hint: Any) -> str:
    if hint is NoneType:
        return "None"
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(_shown(one) for one in get_args(hint))
    text = inspect.formatannotation(hint)
    for long, short in {
        inspect.formatannotation(Floats): "Floats",
        "collections.abc.": "",
        "typing.": "",
        "os.": "",
    }.items():
        text = text.replace(long, short)
    return text.replace("numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.floating]]", "Floats")


if __name__ == "__main__":
    STUB.write_text(stub(), "utf8")
