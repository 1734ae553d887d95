"""The picture of a map, coloured and labelled by columns of its table."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.cli.mapped import Mapped
    from gramfold.io import Columns

_FEW_DATES = 20  # that a legend lists, as it does whole numbers; more are a scale of days


def check_colored(
    picture: Path | None, color: str | None, label: str | None = None, report: Path | None = None
) -> None:
    """Raise an error for a colour or labels without a picture."""
    for option, column, does in (("--color", color, "colours"), ("--label", label, "is written on")):
        if column is not None and picture is None and report is None:
            raise InputError(f"{option} {column} {does} a picture, but none is drawn: add --picture FILE.")


@dataclass(frozen=True, eq=False)
class Shown:
    """What a picture shows of each row beside its place."""

    color: Any = None  # (n,) as a plot takes it
    name: str | None = None  # of the colour
    words: list[str] | None = None  # that are written on the map

    @classmethod
    def of(cls, found: "Columns | None", color: str | None, label: str | None) -> Self:
        """By the columns of these names."""
        if found is None:
            return cls()
        shades, name = (None, None) if color is None else _shades(found, color)
        return cls(shades, name, None if label is None else found.words(label))

    def or_classes(self, mapped: "Mapped", labels: str | None) -> "Shown":
        """The same, coloured by the classes that the method used where no other colour was asked for."""
        classes = mapped.ready.table.labels
        if self.color is not None or classes is None or mapped.ready.known is not None:
            return self
        return replace(self, color=classes, name=labels)

    def draw(self, places: Any, title: str, picture: Path) -> None:
        """Draw the map, the first two columns of one with more than three."""
        import numpy as np

        from gramfold.plotting import blank_figure, plot_map, save_picture
        from gramfold.plotting.map import leading_columns

        shown, title = leading_columns(places, title)
        if self.words is not None and shown.shape[1] != 2:
            raise InputError(f"--label writes on maps of two dimensions, but this has {shown.shape[1]}: use --dim 2.")
        names = False if self.words is None else np.array(self.words, dtype=object)
        figure = blank_figure()
        ax = figure.add_subplot(projection="3d" if shown.shape[1] == 3 else None)
        plot_map(shown, color=self.color, color_label=self.name, title=title, ax=ax, names=names)
        save_picture(figure, picture)


def _shades(found: "Columns", name: str) -> tuple[Any, str]:
    """The values of a column as a plot takes them, and what they are called there."""
    import numpy as np

    from gramfold.onecall.colors import Color

    values = found.column(name)
    if values.dtype.kind == "M" and len(np.unique(values)) <= _FEW_DATES:
        return np.array([word or None for word in found.words(name)], dtype=object), name
    if values.dtype.kind == "f" and np.isfinite(values).all() and (values == np.round(values)).all():
        values = values.astype(np.int64)
    return Color(name, values).shades
