"""Write the report of a map: one HTML file, which needs no network."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramfold.diagnostics.judged import check_neighbors
from gramfold.errors import InputError, NoPreimageError, PrecomputedInputError
from gramfold.io import replacing
from gramfold.neighbors.columns import require_one_order
from gramfold.neighbors.metrics import MetricName
from gramfold.report.arrows import axes_of
from gramfold.report.choice import candidates, read
from gramfold.report.edges import around
from gramfold.report.given import NEIGHBORS, Asked, subject_of
from gramfold.report.markup import clean
from gramfold.report.page import assemble
from gramfold.report.payload import payload_of, shown_axes
from gramfold.report.pictures import are_pixels, pictures_of
from gramfold.report.sections import believed
from gramfold.report.still import still_figure
from gramfold.report.subject import Subject
from gramfold.report.thinning import thinned
from gramfold.runtime.destinations import check_page
from gramfold.runtime.progress import Progress, Stages
from gramfold.runtime.threads import at_work

MOST = 200_000  # rows that are drawn


def write_report(
    path: str | os.PathLike[str],
    X: Any,
    Y: Any = None,
    *,
    rows: Any = None,
    table: Any = None,
    color: Any = None,
    label: Any = None,
    pictures: Any = None,
    title: str | None = None,
    stability: bool = False,
    dimension: bool = True,
    most: int = MOST,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_neighbors: int = NEIGHBORS,
    notes: str | Sequence[str] = (),
    random_state: int = 0,
    verbose: int = 0,
    progress: Progress | None = None,
) -> Path:
    """Write one HTML file that shows a map and whether to believe it; it opens from disk, without a network.

    Parameters
    ----------
    path : str or path-like
        File to write or replace, at once; it ends in .html.
    X : fitted estimator or Pipeline, or {array-like, sparse matrix, DataFrame} of shape (n_rows, n_columns)
        A fitted method of gramfold, a pipeline that ends in one, such as that of ``gramfold.embed(...,
        return_model=True)``, or the rows that a map was made of.
    Y : array-like of shape (n_rows, n_components), optional
        The coordinates, however they were made, where X are rows; NaN for rows without a place. Also a fitted estimator
        of any package with ``embedding_``.
    rows : array-like, optional
        The rows that a model was fitted on, or their distances, where it does not keep them, as after
        ``metric="precomputed"``. Without them its map is shown, not judged.
    table : DataFrame, Arrow table, dict of columns, or array, optional
        Columns that are shown of each row, in the same order, of any kind: numbers, texts, categories, dates. By
        default those that the map was made of.
    color : str, or array-like of shape (n_rows,), optional
        The column that colours the map at first, or a value for each row.
    label : str, or array-like of shape (n_rows,), optional
        The column with the names of rows: shown first where the mouse is, and searched.
    pictures : tuple of int, or array-like of shape (n_rows, height, width) or (n_rows, height, width, 3), optional
        Where rows are pictures their shape, (height, width) or (height, width, 3); or a picture for each row.
    title : str, optional
        Title of the page.
    stability : bool, default=False
        Whether the model is fitted again on parts of the rows, 20 times, to see how far each row moves.
    dimension : bool, default=True
        Whether the intrinsic dimension is estimated.
    most : int, default=200,000
        Number of rows that are drawn. Of more a random part is, and the page says so.
    metric, metric_params : optional
        Distance between rows, where X are rows; of a model its own is taken.
    n_neighbors : int, default=10
        Number of neighbours by which the map is judged; at most a third of the rows.
    notes : str or sequence of str, optional
        Sentences on how the table was prepared, such as ``places.attrs["gramfold"]`` of `gramfold.embed`.
    random_state : int, default=0
        Seed of what is drawn.
    verbose : int, default=0
        Report each stage on standard error.
    progress : callable, optional
        As of every method: called as ``progress(stage, done, total)``.

    Returns
    -------
    path : Path
        The file.

    See Also
    --------
    gramfold.compare : Its result has a `report` too, for several maps of the same rows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.decomposition import PCA
    >>> from gramfold.report import write_report
    >>> wine = load_wine(as_frame=True)
    >>> places = PCA(2).fit_transform(wine.data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(Path(folder) / "wine.html", wine.data, places, color=wine.target)
    ...     page.name, "<svg" in page.read_text()
    ('wine.html', True)
    """
    path = checked(path)
    most = checked_most(most)
    k, said = check_neighbors(n_neighbors), checked_notes(notes)
    asked = Asked(checked_title(title), stability, dimension, metric, metric_params, k, random_state, said)
    stages = Stages(verbose, "report", progress)
    _check_order(X, table, color, label)
    with at_work(getattr(X, "n_jobs", None)):
        subject = subject_of(X, Y, rows, asked, stages)
        return write_subject(path, subject, stages, table=table, color=color, label=label, pictures=pictures, most=most)


def write_subject(
    path: str | os.PathLike[str],
    subject: Subject,
    stages: Stages,
    *,
    table: Any = None,
    color: Any = None,
    label: Any = None,
    pictures: Any = None,
    most: int = MOST,
) -> Path:
    """The same of what is known already."""
    html = page_of(subject, stages, table=table, color=color, label=label, pictures=pictures, most=most)
    with replacing(path) as draft:
        draft.write_text(html, encoding="utf-8", errors="backslashreplace")
    return Path(path)


def page_of(
    subject: Subject,
    stages: Stages,
    *,
    table: Any = None,
    color: Any = None,
    label: Any = None,
    pictures: Any = None,
    most: int = MOST,
) -> str:
    """The whole page."""
    n = len(subject.Y)
    with stages("axes"):
        axes = axes_of(subject)
    among = candidates(subject, axes, table, color, label)
    with stages("columns"):
        colored = None if among.color is None else among.raws[among.color].read().as_classes()
        looked_at = None if subject.judged is None else subject.judged.kept[subject.judged.rows]
        drawn = thinned(n, most, colored, looked_at, subject.seed)
        shown = pictures_of(pictures, subject, drawn, table)
        labels = getattr(subject.model, "labels_", None)
        pixels = shown is not None and are_pixels(pictures, subject.X)
        choice = read(among, drawn, None if labels is None else np.asarray(labels), colored, few=pixels)
    with stages("words"):
        sections = believed(subject, stages)
    with stages("rows"):
        near = around(subject)
        notes = tuple(note for note in (drawn.note, choice.note, "" if shown is None else shown.note) if note)
        payload = payload_of(subject, choice, drawn, near, shown, axes, notes, _has_inverse(subject))
    with stages("page"):
        first = None if choice.color is None else choice.columns[choice.color]
        still = still_figure(drawn.take(subject.Y), subject.axes, first, shown_axes(subject))
        return assemble(sections, payload, still + _said(notes))


def _check_order(X: Any, table: Any, color: Any, label: Any) -> None:
    """Refuse tables of pandas with the same rows in another order."""
    first, name = (X, "X") if table is None else (table, "table")
    if table is not None:
        require_one_order(X, table, ("X", "table"))
    for values, what in ((color, "color"), (label, "label")):
        require_one_order(first, values, (name, what))


def _said(notes: Sequence[str]) -> str:
    return f'<div id="map-notes">{"".join(f"<p>{clean(note)}</p>" for note in notes)}</div>' if notes else ""


def _has_inverse(subject: Subject) -> bool:
    """Whether rows along a path can be rebuilt."""
    model = subject.model
    if model is None or not hasattr(model, "inverse_transform") or not hasattr(model.model_, "require_rows"):
        return False
    try:
        model.model_.require_rows()
    except (NoPreimageError, PrecomputedInputError):
        return False
    return True


def checked(path: str | os.PathLike[str]) -> Path:
    """Raise an error for a file that cannot be written, or is no page."""
    check_page(path)
    return Path(path)


def checked_title(title: Any) -> str | None:
    """A title in words, or none."""
    if title is not None and not isinstance(title, str):
        raise InputError(f"title={title!r} is a {type(title).__name__}, not a title: pass a str, or leave it out.")
    return title


def checked_notes(notes: Any) -> tuple[str, ...]:
    """Sentences; one of them may stand alone."""
    found = (notes,) if isinstance(notes, str) else tuple(notes) if isinstance(notes, list | tuple) else (notes,)
    if not all(isinstance(one, str) for one in found):
        raise InputError(f"notes is a {type(notes).__name__}, not sentences: pass a str, or a list of them.")
    return found


def checked_most(most: Any) -> int:
    """A number of rows to draw, at least 1."""
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise InputError(f"most={most!r} is not a number of rows: pass an integer of at least 1.")
    return int(most)
