"""Figures that need no window, and pictures written whole."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError, MissingExtraError
from gramfold.io import check_folder, replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

PICTURE_DPI = 150


def require_matplotlib() -> Any:
    """The matplotlib module, or one sentence on how to get it."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError(
            'Pictures need matplotlib, which is not installed: run `pip install "gramfold[plot]"`.'
        ) from error
    return mpl


def blank_figure(width: float = 6.4, height: float = 4.8) -> "Figure":
    """A figure that belongs to no window: for pictures that are only saved.

    Parameters
    ----------
    width, height : float
        In inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_picture(figure: "Figure | SubFigure", path: str | os.PathLike[str]) -> Path:
    """Write a figure to a file; the ending says which kind (png, pdf, svg, …).

    Parameters
    ----------
    figure : Figure
        What to write.
    path : str or path
        Where to. The file appears whole or not at all.

    Returns
    -------
    Path
        The absolute path of the picture.
    """
    check_picture_destination(path)
    with replacing(path) as draft:
        figure.figure.savefig(draft, dpi=PICTURE_DPI)
    return Path(path).resolve()


def check_picture_destination(path: str | os.PathLike[str]) -> None:
    """Refuse a file that could not become a picture: callable before the work that the picture will show.

    Parameters
    ----------
    path : str or path
        The file to be written.
    """
    require_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    if Path(path).suffix.lower().removeprefix(".") not in kinds:
        raise InputError(f"'{path}' does not end as a picture does: use one of .{', .'.join(kinds)}.")
    check_folder(path)
