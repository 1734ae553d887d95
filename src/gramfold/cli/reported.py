"""`--report` of `embed`, `judge` and `compare`: a page with the map, and all columns of the table."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.cli.wishes import Wishes

if TYPE_CHECKING:
    from gramfold.cli.mapped import Mapped
    from gramfold.cli.matching import MappedTable
    from gramfold.cli.prepared import Measured, Preparing
    from gramfold.comparison import Comparison
    from gramfold.diagnostics import Judged
    from gramfold.io import Columns
    from gramfold.runtime.progress import Stages

_MOST_COLUMNS = 200  # of a file: of more only those that are no data, since the page chooses among the others


def report_embedded(wishes: Wishes, mapped: "Mapped", found: "Columns | None") -> "Judged | None":
    """Write the page of a map of `gramfold embed`; by which the map was judged."""
    import numpy as np
    from sklearn.pipeline import Pipeline

    from gramfold.report.given import Asked, subject_of
    from gramfold.report.writing import write_subject
    from gramfold.runtime.threads import at_work

    assert wishes.report is not None
    ready, model = mapped.ready, mapped.aligned
    rows = None if ready.known is None else np.flatnonzero(ready.known)
    named = [one for one in (wishes.ids, wishes.color, wishes.label, wishes.labels) if one is not None]
    table = None if found is None else columns_shown(found, [*named, *_kept(found, wishes.keep)], rows)
    decisions = list(ready.sentences)
    if rows is not None and len(rows) < len(ready.known):
        decisions.append(f"rows: {len(ready.known) - len(rows):,} of {len(ready.known):,} have no place on this page")
    pipeline = Pipeline([*ready.pipeline.steps[:-1], ("method", model)])
    title = f"{type(model).__name__}: {wishes.source.name}"
    stages = _stages(wishes.silent)
    with at_work(None):
        subject = subject_of(pipeline, None, None, Asked(title, seed=wishes.seed, decisions=decisions), stages)
        write_subject(
            wishes.report,
            subject,
            stages,
            table=table or None,
            color=_among(table, wishes.color or wishes.labels),
            label=_among(table, wishes.label or wishes.ids),
            pictures=None if found is None or wishes.columns or wishes.skip else found.picture,
        )
    return subject.judged


def report_judged(
    report: Path,
    pair: "MappedTable",
    judged: "Judged",
    source: Path,
    placed: Path,
    labels: str | None,
    how: "Preparing",
) -> None:
    """Write the page of a map that anybody made."""
    import pyarrow as pa
    from scipy.sparse import issparse

    from gramfold.report.given import Asked, subject_of
    from gramfold.report.writing import write_subject
    from gramfold.runtime.threads import at_work

    named = [] if labels is None else [labels]
    table: dict[str, Any] | None = None
    if not issparse(pair.values):
        table = columns_shown(_read(source, how.written), named, pair.rows)
    label = None
    if pair.ids is not None and table is not None:
        label = pair.ids.name
        table[label] = pa.array([pair.ids.values[row] for row in pair.rows])
    title = f"{placed.name}, a map of {source.name}"
    decisions = [*pair.table.sentences, *(" ".join(line.split()) for line in pair.account())]
    stages = _stages(False)
    with at_work(None):
        metric = pair.table.metric
        asked = Asked(title, **metric, seed=how.seed, decisions=decisions, judged=judged)
        values = _named(pair.values, pair.columns) if metric["metric"] != "precomputed" else pair.values
        subject = subject_of(values, _named(pair.places, list(pair.read.coordinates)), None, asked, stages)
        write_subject(report, subject, stages, table=table, color=_among(table, labels), label=label)


def report_compared(
    report: Path,
    found: "Comparison",
    table: "Measured",
    source: Path,
    by: str | None,
    labels: str | None,
    written: dict[str, Any],
) -> None:
    """Write the page of several maps."""
    from scipy.sparse import issparse

    named = [one for one in (by, labels) if one is not None]
    columns = None if issparse(table.values) else columns_shown(_read(source, written), named, table.rows)
    color, label = _among(columns, labels), _among(columns, by)
    found.report(report, table=columns, color=color, label=label, title=f"Maps of {source.name}")


def columns_shown(found: "Columns", named: Sequence[str], rows: Any) -> dict[str, Any]:
    """Columns of a file with the types that they have there, of all rows or of some."""
    from gramfold.cli.table_columns import kept_beside

    aside = set(found.aside)
    names = found.names if len(found.names) <= _MOST_COLUMNS else [one for one in found.names if one in aside]
    names = [name for name in dict.fromkeys([*names, *named]) if found.names.count(name) == 1]
    dates = {name for name in names if found.kind(found.place(name)) == "date"}
    values = kept_beside(found, [name for name in names if name not in dates], None)
    shown = {name: found.column(name) if name in dates else values[name] for name in names}
    return shown if rows is None else {name: column[rows] for name, column in shown.items()}


def _kept(found: "Columns", keep: list[str] | None) -> list[str]:
    return [] if keep is None or keep == ["all"] else [name for name in keep if name in found.names]


def _among(table: dict[str, Any] | None, name: str | None) -> str | None:
    return name if table is not None and name in table else None


def _named(values: Any, names: list[str]) -> Any:
    """Rows with the names of their columns, where they have some."""
    import pyarrow as pa
    from scipy.sparse import issparse

    if issparse(values) or len(names) != values.shape[1] or len(set(names)) < len(names):
        return values
    return pa.table({name: pa.array(values[:, j]) for j, name in enumerate(names)})


def _read(source: Path, written: dict[str, Any]) -> "Columns":
    from gramfold.cli.map_file import how_read
    from gramfold.io import read_columns

    return read_columns(source, **how_read(source, written))


def _stages(silent: bool) -> "Stages":
    """Told where somebody looks on."""
    from gramfold.runtime.progress import Stages

    return Stages(not silent and sys.stderr is not None and sys.stderr.isatty(), "report")
