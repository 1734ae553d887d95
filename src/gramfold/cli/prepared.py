"""A table made ready: what is left out, filled in and scaled, by the same plan as `gramfold.embed`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gramfold.cli.options import read_options
from gramfold.cli.table_columns import Frame
from gramfold.errors import GramfoldWarning, InputError

if TYPE_CHECKING:
    from gramfold.io import Columns

SCALES = {"auto": "auto", "standard": "standardise", "robust": "robust", "none": "none"}
_FILLED: dict[str, Any] = {"mean": "mean", "ppca": "ppca"}
_UNPREPARED = ("auto", "none", "error")  # what may be said of a matrix without columns


@dataclass(frozen=True)
class Preparing:
    """How a table is read and prepared, as the options of a command say."""

    columns: list[str] | None
    skip: list[str] | None
    scale: str
    missing: str
    seed: int
    written: dict[str, Any]  # how text files are
    model: Path | None = None  # a file whose steps prepare the rows

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """Taken out of the options."""
        own = {name: options.pop(name) for name in ("columns", "skip", "scale", "missing", "seed")}
        return cls(**own, written=read_options(options), model=options.pop("model_file", None))

    def refuse(self, source: Path) -> None:
        """Raise an error for options that prepare columns, of a matrix that has none."""
        for option, value in (("--scale", self.scale), ("--missing", self.missing)):
            if value not in _UNPREPARED:
                raise InputError(
                    f"'{source}' is a sparse matrix, or holds distances or weights of pairs, and no columns to "
                    f"prepare: leave out {option}."
                )

    def refuse_columns(self, source: Path, **named: Any) -> None:
        """Raise an error for options that name columns or read text, and those `named`, of a sparse matrix."""
        given = {**named, "columns": self.columns, "skip": self.skip, **self.written}
        option = next((name for name, value in given.items() if value is not None), None)
        if option is not None:
            raise InputError(f"'{source}' is a sparse matrix, which has no column names or text: leave out --{option}.")
        self.refuse(source)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows as the method sees them, and the steps that made them."""

    pipeline: Any  # whose last step, the method, is not fitted yet
    raw: Any  # (m, d) what was measured, in the columns that are used
    rows: Any  # (m, d') the same filled in and scaled
    names: list[str]  # of the columns
    known: Any  # (n,) which rows of the table these are
    sentences: Sequence[str]  # what was decided, and why

    @property
    def model(self) -> Any:
        """The method."""
        return self.pipeline[-1]


def prepare(
    found: "Columns",
    not_data: Sequence[str],
    method: Any,
    parameters: Mapping[str, Any],
    dim: int | None,
    how: Preparing,
    *,
    maps: bool = True,
    sample_of: int | None = None,
) -> Prepared:
    """The table made ready for a method, or for the one that is advised; columns `not_data` name or colour the rows.

    A method that makes no map is a clusterer. The table may be a sample of so many rows in partitions, which are rows
    of numbers: text is left out.
    """
    import numpy as np

    from gramfold.advice.columns import rows_of
    from gramfold.cli.table_columns import frame_of
    from gramfold.neighbors.metrics import reads_mixed
    from gramfold.onecall.gaps import gaps_in_words, known_rows
    from gramfold.onecall.pipelines import Request, plan_for
    from gramfold.runtime.warning import warn

    mixed = reads_mixed(parameters["metric"]) if "metric" in parameters else None
    mixed = mixed if sample_of is None else False
    frame = frame_of(found, how.columns, how.skip, not_data, mixed)
    missing = how.missing
    asked = Request(
        method,
        parameters,
        dim,
        SCALES[how.scale],
        how.seed,
        _FILLED.get(missing),
        tuple(how.columns or ()),
        maps,
        sample_of,
    )
    plan = plan_for(frame.table, asked, frame.aside)
    notes = []
    known = np.ones(found.n_rows, dtype=bool)
    table = frame.table
    if missing == "error":
        _refuse_gaps(found, frame, plan)
    elif missing == "drop":
        known = known_rows(table, plan)
        if not known.all():
            notes.append(gaps_in_words(known))
            table = rows_of(table, np.flatnonzero(known))
            plan = plan_for(table, asked, frame.aside)
    first, *steps, _ = [step for _, step in plan.pipeline.steps]
    raw = rows = first.fit_transform(table)
    for step in steps:
        rows = step.fit_transform(rows)
    names = [str(name) for name in first.get_feature_names_out()]
    _name_categories(plan.pipeline[-1], names)
    for guess in plan.guesses:
        warn(f"{guess[0].upper()}{guess[1:]}. It is left out; --columns with its name keeps it.", GramfoldWarning)
    return Prepared(plan.pipeline, raw, rows, names, known, [*plan.sentences, *notes])


@dataclass(frozen=True, eq=False)
class Measured:
    """Rows between which distances are measured, as a map of them would see them."""

    metric: dict[str, Any]  # and its parameters
    values: Any  # (m, d), or a sparse matrix
    names: list[str]  # of the columns; none of a sparse matrix
    rows: Any  # (m,) which rows of the file these are
    n_rows: int  # of the file
    labels: Any  # (m,) or None
    sentences: Sequence[str]  # what was decided, and why
    reading: Any

    def decided(self) -> list[str]:
        """Summary lines: how the file was read, where that is not as in most, and what was decided."""
        return decided(self.reading, self.sentences)


def measured(
    source: Path,
    metric: str | None,
    labels: str | None,
    not_data: Sequence[str],
    how: Preparing,
    *,
    matrix: Any = None,
    found: "Columns | None" = None,
) -> Measured:
    """A table as a method of neighbours with this metric, or a model file, sees it; distances and sparse rows as is.

    Where `matrix`, or the columns that were `found`, have been read already, the file is not.
    """
    import numpy as np

    from gramfold import Isomap
    from gramfold.cli.map_file import how_read
    from gramfold.cli.table_columns import classes_of
    from gramfold.io import read_columns, read_table

    chosen = {"metric": metric or "euclidean"}
    if matrix is not None:
        return Measured(chosen, matrix, [], np.arange(matrix.shape[0]), matrix.shape[0], None, (), None)
    written = how_read(source, how.written)
    if metric == "precomputed":
        how.refuse(source)
        skip = [*(how.skip or []), *(name for name in not_data if name != labels)] or None
        table = read_table(source, columns=how.columns, skip=skip, labels=labels, **written)
        n = len(table.values)
        return Measured(chosen, table.values, table.names, np.arange(n), n, table.labels, (), table.reading)
    found = read_columns(source, **written) if found is None else found
    classes = classes_of(found, labels)
    if how.model is not None:
        rows, names, known, sentences, own = _by_model(found, how, not_data)
        chosen = own if metric is None else chosen
    else:
        made = prepare(found, not_data, Isomap, chosen, None, how)
        rows, names, known = made.rows, made.names, made.known
        sentences = [one for one in made.sentences if not one.startswith("method: ")]
    return Measured(
        chosen,
        rows,
        names if rows.shape[1] == len(names) else [],
        np.flatnonzero(known),
        found.n_rows,
        None if classes is None else classes[known],
        sentences,
        found.reading,
    )


def _by_model(
    found: "Columns", how: Preparing, not_data: Sequence[str]
) -> tuple[Any, list[str], Any, list[str], dict[str, Any]]:
    """Rows by the steps of a model file, the names of their columns, which they are, what is said, and the metric."""
    from gramfold.cli.fitted_steps import FittedSteps
    from gramfold.cli.model_columns import matched_columns, values_of
    from gramfold.onecall.gaps import gaps_in_words

    assert how.model is not None
    given = next((name for name in ("scale", "missing") if getattr(how, name) != "auto"), None)
    if given is not None:
        raise InputError(f"--model prepares the table as it prepared its own: leave out --{given}.")
    fitted = FittedSteps.load(how.model, "gramfold judge TABLE MAP --model MODEL", quiet=True)
    parameters = fitted.last.get_params()
    if "precomputed" in (str(parameters.get(name)) for name in ("metric", "kernel", "weights")):
        raise InputError(f"'{how.model}' was fitted on a matrix of pairs, and prepares no table: leave out --model.")
    match = matched_columns(found, fitted, how.columns, how.skip, not_data)
    rows, known = fitted.prepared(fitted.named(values_of(found, match, text=fitted.reads_text)))
    said = [f"prepared: by the steps of '{how.model}'", *([] if known.all() else [gaps_in_words(known)])]
    own = {"metric": parameters.get("metric") or "euclidean", "metric_params": parameters.get("metric_params")}
    return rows, list(fitted.names or ()), known, said, own


def decided(reading: Any, sentences: Sequence[str], *, method: bool = False) -> list[str]:
    """Summary lines: how a file was read, where that is unusual, and what was decided; with the `method` or not."""
    unusual = reading is not None and (
        reading.unusual or reading.compression is not None or reading.separator not in (None, ",")
    )
    lines = [f"read      {reading}"] if unusual else []
    for sentence in sentences:
        name, _, words = sentence.partition(": ")
        if name == "method" and not method:
            continue
        words += " (--scale none keeps the units)" if name == "scaling" else ""
        lines.append(f"{name:<9} {words}")
    return lines


def _refuse_gaps(found: "Columns", frame: Frame, plan: Any) -> None:
    """Raise an error for missing values in columns that are used, with the place of the first."""
    from gramfold.io.selection import require_finite

    used = [j for j in frame.places if found.names[j] not in plan.left_out and found.kind(j) in ("number", "flag")]
    lines = found.lines
    where = None if lines is None else lambda row, k: lines.where(row, used[k])
    require_finite(found.table_of(used), [found.names[j] for j in used], f"'{found.source}'", where=where)


def _name_categories(model: Any, names: list[str]) -> None:
    """Set columns of categories by their positions: the rows that the method sees have no names."""
    params = model.get_params().get("metric_params") or {}
    given = params.get("categorical")
    if isinstance(given, list | tuple):
        places = [names.index(one) if one in names else one for one in given]
        model.set_params(metric_params={**params, "categorical": places})
