"""The picture of a map, coloured and labelled by columns of its table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gramfold.errors import InputError


def check_colored(picture: Path | None, color: str | None, label: str | None = None) -> None:
    """Raise an error for a colour or labels without a picture."""
    for option, column, does in (("--color", color, "colours"), ("--label", label, "is written on")):
        if column is not None and picture is None:
            raise InputError(f"{option} {column} {does} a picture, but none is drawn: add --picture FILE.")


def draw(
    coordinates: Any, title: str, picture: Path, color: Any, color_label: str | None, names: Sequence[str] | None
) -> None:
    """Draw the map, the first two columns of one with more than three; `names` are written on it."""
    import numpy as np

    from gramfold.plotting import blank_figure, plot_map, save_picture
    from gramfold.plotting.map import leading_columns

    shown, title = leading_columns(coordinates, title)
    if names is not None and shown.shape[1] != 2:
        raise InputError(f"--label writes on maps of two dimensions, but this has {shown.shape[1]}: use --dim 2.")
    figure = blank_figure()
    ax = figure.add_subplot(projection="3d" if shown.shape[1] == 3 else None)
    written = {} if names is None else {"names": np.array(names, dtype=object)}
    plot_map(shown, color=color, color_label=color_label, title=title, ax=ax, **written)
    save_picture(figure, picture)
