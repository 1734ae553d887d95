"""`gramfold.embed`: one call that prepares a table, maps it, returns a DataFrame and draws it."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline

from gramfold.advice.columns import rows_of
from gramfold.errors import InputError, MissingExtraError
from gramfold.neighbors.columns import as_dense_or_sparse, as_table, require_table
from gramfold.onecall.colors import Color
from gramfold.onecall.frames import framed, keys_of, library_of, without_column
from gramfold.onecall.gaps import FEWEST, gaps_in_words, known_rows
from gramfold.onecall.pipelines import SCALES, Request, name_columns, plan_for
from gramfold.runtime.counting import counted
from gramfold.runtime.progress import Stages
from gramfold.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GAPS = ("fill", "mean", "ppca", "rows")
_COLORS = "it colours the map, and what colours a map must not be part of it"


def embed(
    table: Any,
    method: Any = "auto",
    *,
    color: Any = None,
    n_components: int | None = None,
    scale: Literal["auto", "standardise", "robust", "none"] = "auto",
    gaps: Literal["fill", "mean", "ppca", "rows"] = "fill",
    draw: bool | Literal["auto"] = "auto",
    ax: "Axes | None" = None,
    return_model: bool = False,
    random_state: int = 0,
    verbose: int = 1,
    **parameters: Any,
) -> Any:
    """Map a table, and draw the map: a DataFrame of coordinates with the index of the table.

    Columns that are no measurements (ids, dates, text, constants) are left out, and the others are
    scaled where their units differ, as `gramfold.advise` does. What was decided, and why, is told on standard error.

    Parameters
    ----------
    table : DataFrame of pandas or polars, Arrow table, array-like or sparse matrix of shape (n_rows, n_columns)
        The rows.
    method : str, class, estimator or Pipeline, default="auto"
        "auto": what `gramfold.advise` chooses for the table. Else the name of a method (``"isomap"``), a class, or an
        estimator with `fit_transform`, also of another package, for which the table is prepared in the same way; or a
        Pipeline, which gets the table as it is, without the column that colours. Estimators are cloned.
    color : str, int, tuple or array-like of shape (n_rows,), default=None
        The name of a column (of an array: its position), which is then left out of what is mapped, or a value for each
        row. A Series of pandas is matched by its index where the table is of pandas too; rows that it does not name
        have no colour.
    n_components : int, default=None
        Number of dimensions. None: what is advised, or the default of the method.
    scale : {"auto", "standardise", "robust", "none"}, default="auto"
        Whether columns of numbers are divided by their standard deviations, or by the distance of their quartiles
        ("robust"). "auto": where their units differ.
    gaps : {"fill", "mean", "ppca", "rows"}, default="fill"
        What is done about missing values. "fill": they are filled in from similar rows or by medians, or compared as
        gaps by Gower's distance, as `gramfold.advise` says, or left to a method that reads them; "mean", "ppca": they
        are filled in by the mean of the column, or by probabilistic PCA; "rows": rows that have some get no place
        (NaN).
    draw : bool or "auto", default="auto"
        Whether the map is drawn, the first two columns of a map of more than three. "auto": if matplotlib is installed.
        The figure is pyplot's current one: a notebook shows it below the cell, a script after ``plt.show()``.
    ax : matplotlib Axes, default=None
        Axes to draw in. None: a new figure.
    return_model : bool, default=False
        Whether the fitted Pipeline is returned too.
    random_state : int, default=0
        Seed, of the advice and of a method that is given by name.
    verbose : int, default=1
        Whether decisions are told; 0: they are not.
    **parameters
        Parameters of a method that is given by name or class: ``embed(table, "isomap", n_neighbors=8)``. Of "auto" only
        ``metric="gower"``, by which text is compared too.

    Returns
    -------
    places : DataFrame
        The coordinates of each row in columns such as ``isomap0`` and ``isomap1``, NaN for rows without a place, and
        the values of `color` in the last column. Of polars if the table is, else of pandas, with the index of the
        table. ``places.attrs["gramfold"]`` of pandas has the sentences that were told.
    model : Pipeline
        With ``return_model=True``: places new rows, ``model.transform(new)``, which need not have the columns that were
        left out; ``model[-1]`` is the method, with `verdict()` and `summary()`.

    See Also
    --------
    gramfold.advise : What ``method="auto"`` does, in full.
    gramfold.compare : Several methods on the same rows.

    Examples
    --------
    >>> import gramfold
    >>> import pandas as pd
    >>> roll = gramfold.datasets.make_swiss_roll(400, random_state=0)
    >>> table = pd.DataFrame(roll.points, columns=["x", "y", "z"]).assign(along=roll.truth[:, 0])
    >>> places, model = gramfold.embed(table, "isomap", n_neighbors=8, color="along", draw=False, return_model=True)
    >>> list(places.columns)
    ['isomap0', 'isomap1', 'along']
    >>> list(model.transform(table[["z", "y", "x"]].head(3)).columns)
    ['isomap0', 'isomap1']
    """
    _check_choices(scale, gaps, draw)
    library = library_of(table)
    given = as_table(table, "table")
    require_table(given, FEWEST, "table")
    keys_of(given)  # which refuses names that several columns have
    colored = None if color is None else Color.of(color, given)
    said = Stages(verbose, "embed")
    notes = _picture_notes(draw, ax)
    asked = Request(method, parameters, n_components, scale, random_state, gaps if gaps in ("mean", "ppca") else None)
    aside = {} if colored is None or colored.key is None else {colored.key: _COLORS}
    indexed, own = given, isinstance(method, Pipeline)
    sparse = issparse(given if own else as_dense_or_sparse(given))
    if colored is not None and aside and (sparse or own):  # what LeaveOut does not read, or the user's own
        given, aside = without_column(given, colored.key), {}
        notes.append(f"left out: column {_shown(colored.key)}: {_COLORS}")
    given = given if own else as_dense_or_sparse(given)  # scikit-learn makes neither frames of sparse columns
    plan = plan_for(given, asked, aside)
    if gaps != "fill" and not plan.prepared:
        raise InputError(f"gaps={gaps!r} was given with a Pipeline, which treats gaps by itself: leave it out.")
    known = known_rows(given, plan) if gaps == "rows" else np.ones(given.shape[0], dtype=bool)
    if not known.all():
        notes.append(gaps_in_words(known))
        plan = plan_for(rows_of(given, np.flatnonzero(known)), asked, aside)
    sentences = [*plan.sentences, *notes]
    for sentence in sentences:
        said.say(sentence)
    # named columns all the way: a sparse matrix has none, and distances go to the method as they are
    name_columns(plan, library, frames=not issparse(given))
    rows = given if known.all() else rows_of(given, np.flatnonzero(known))
    found = np.asarray(plan.pipeline.fit_transform(rows))
    places = np.full((given.shape[0], found.shape[1]), np.nan, dtype=found.dtype)
    places[known] = found
    names = _names(plan.pipeline[-1], found.shape[1])
    values = None if colored is None else (_free(colored.name, names), colored.values)
    frame = framed(places, names, indexed, library, values)
    if library == "pandas":
        frame.attrs["gramfold"] = sentences
    if _draws(draw, ax):
        _draw(places, colored, _title(plan.pipeline[-1], places), ax)
    return (frame, plan.pipeline) if return_model else frame


def _check_choices(scale: Any, gaps: Any, draw: Any) -> None:
    allowed = {"scale": (scale, SCALES), "gaps": (gaps, _GAPS), "draw": (draw, (True, False, "auto"))}
    for name, (value, known) in allowed.items():
        if value not in known:
            raise InputError(f"{name}={value!r} is not known: use {' or '.join(map(repr, known))}.")


def _shown(key: Any) -> str:
    return f"'{key}'" if isinstance(key, str) else str(key)


def _names(model: Any, count: int) -> list[str]:
    if hasattr(model, "get_feature_names_out"):
        return [str(name) for name in model.get_feature_names_out()]
    return [f"{type(model).__name__.lower()}{j}" for j in range(count)]


def _free(name: str, taken: list[str]) -> str:
    """A name for the colour that no coordinate has, as where an earlier map is mapped."""
    while name in taken:
        name = f"{name}_color"
    return name


# --- the picture


def _draws(draw: Any, ax: Any) -> bool:
    return draw is True or ax is not None or (draw == "auto" and _can_draw())


def _can_draw() -> bool:
    from gramfold.plotting.figure import require_matplotlib

    try:
        require_matplotlib()
    except MissingExtraError:
        return False
    return True


def _picture_notes(draw: Any, ax: Any) -> list[str]:
    """What is said of a picture that is not drawn; one that was asked for is refused before the fit."""
    from gramfold.plotting.figure import require_matplotlib

    if draw is True or ax is not None:
        require_matplotlib()
    if draw == "auto" and not _draws(draw, ax):
        return ['picture: none, since matplotlib is not installed (`pip install "gramfold[plot]"`)']
    return []


def _title(model: Any, places: Floats) -> str:
    return f"{type(model).__name__} of {counted(places.shape[0], 'row')}"


def _draw(places: Floats, color: Color | None, title: str, ax: Any) -> None:
    from gramfold.plotting import plot_map
    from gramfold.plotting.map import leading_columns

    shown, title = leading_columns(places, title)
    shades, label = (None, None) if color is None else color.shades
    plot_map(shown, color=shades, color_label=label, title=title, ax=ax)
