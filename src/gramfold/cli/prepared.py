"""A table on its way to a map: what is left out, filled in and scaled, by the same plan as `gramfold.embed`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gramfold.cli.table_columns import Frame

if TYPE_CHECKING:
    from gramfold.io import Columns

SCALES = {"auto": "auto", "standard": "standardise", "robust": "robust", "none": "none"}
_FILLED: dict[str, Any] = {"mean": "mean", "ppca": "ppca"}


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows as the method sees them, and the steps that made them."""

    pipeline: Any  # whose last step, the method, is not fitted yet
    raw: Any  # (m, d) what was measured, in the columns that are used
    rows: Any  # (m, d') the same filled in and scaled
    names: list[str]  # of the columns
    known: Any  # (n,) which rows of the table these are
    sentences: Sequence[str]  # what was decided, and why
    guesses: Sequence[str]

    @property
    def model(self) -> Any:
        """The method."""
        return self.pipeline[-1]


def prepare(
    found: "Columns",
    frame: Frame,
    method: Any,
    parameters: Mapping[str, Any],
    dim: int | None,
    how: Mapping[str, Any],
) -> Prepared:
    """The table made ready for a method, or for the one that is advised; `how` has scale, missing, seed, columns."""
    import numpy as np

    from gramfold.advice.columns import rows_of
    from gramfold.onecall.gaps import gaps_in_words, known_rows
    from gramfold.onecall.pipelines import Request, plan_for

    missing = how["missing"]
    asked = Request(
        method,
        parameters,
        dim,
        SCALES[how["scale"]],
        how["seed"],
        _FILLED.get(missing),
        tuple(how["columns"] or ()),
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
    return Prepared(plan.pipeline, raw, rows, names, known, [*plan.sentences, *notes], plan.guesses)


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
