"""Create figures without a window, and save figures."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError, MissingExtraError
from gramfold.io import check_folder, replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

PICTURE_DPI = 150


def require_matplotlib() -> Any:
    """Import matplotlib, or raise an error with the command that installs it."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtraError(
            'Plotting needs matplotlib, which is not installed: run `pip install "gramfold[plot]"`.'
        ) from error
    return mpl


def blank_figure(width: float = 6.4, height: float = 4.8) -> "Figure":
    """Create a figure without a window, for plots that are only saved.

    Parameters
    ----------
    width, height : float, default=6.4 and 4.8
        Size in inches.

    Returns
    -------
    matplotlib.figure.Figure
        Empty figure.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_picture(figure: "Figure | SubFigure", path: str | os.PathLike[str]) -> Path:
    """Save a figure to a file; the ending of the file name sets the format (png, pdf, svg, …).

    Parameters
    ----------
    figure : Figure or SubFigure
        Figure to save.
    path : str or path-like
        File to write. It appears whole or not at all.

    Returns
    -------
    Path
        Absolute path of the file.
    """
    check_picture_destination(path)
    with replacing(path) as draft:
        figure.figure.savefig(draft, dpi=PICTURE_DPI)
    return Path(path).resolve()


def check_picture_destination(path: str | os.PathLike[str]) -> None:
    """Raise an error if `save_picture` cannot write this file; call it before a long computation.

    Parameters
    ----------
    path : str or path-like
        File that will be written.
    """
    require_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    if Path(path).suffix.lower().removeprefix(".") not in kinds:
        raise InputError(f"'{path}' does not have the ending of an image file: use one of .{', .'.join(kinds)}.")
    check_folder(path)
