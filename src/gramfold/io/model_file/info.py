"""What is in a model file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from gramfold.embedding import Estimator
from gramfold.embedding.changed import changed_parameters, parameters_in_words
from gramfold.embedding.compact import training_rows_in
from gramfold.io.model_file.container import FORMAT, Container
from gramfold.io.model_file.files import decoded, models_in, readable

# What scikit-learn's transformers keep of single values; means and variances are of all rows.
_VALUES = {
    "_fit_X": "training rows",
    "categories_": "the categories of the columns",
    "quantiles_": "values of each column, in order",
    "bin_edges_": "values of each column, in order",
    "data_min_": "the least and the largest value of each column",
    "max_abs_": "the largest value of each column",
    "statistics_": "a value of each column",
    "center_": "the median of each column",
}


@dataclass(frozen=True)
class ModelInfo:
    """What a model file holds. Print it, or use its fields."""

    path: str
    bytes: int
    format: int
    method: str  # the class of the model
    steps: tuple[str, ...]  # the classes before it, where it is a pipeline
    parameters: Mapping[str, Any]  # of the model, other than the defaults
    rows: int  # that it was fitted on
    columns: int
    column_names: tuple[str, ...] | None
    left_out: tuple[str, ...]  # columns of these that the first step leaves out: transform does not need them
    dimensions: int | None  # of the map; None where it has none
    compact: bool
    training_rows: int  # as many of the training rows are in it
    training_data: str  # what it holds of the training rows, in words
    libraries: Mapping[str, str]  # that it was written with

    def __str__(self) -> str:
        """One fact a line."""
        names = self.column_names
        shown = "" if names is None else f": {', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
        if self.left_out:
            shown += f" (left out: {', '.join(self.left_out[:8])}{' …' if len(self.left_out) > 8 else ''})"
        whole = " -> ".join([*self.steps, self.method])
        facts = {
            "model": whole if self.dimensions is None else f"{whole}, {self.dimensions} dimensions",
            "parameters": parameters_in_words(self.parameters) or "defaults",
            "fitted on": f"{self.rows:,} rows of {self.columns:,} columns{shown}",
            "holds": self.training_data + ("" if not self.compact else " (compact: what transform needs)"),
            "size": _size(self.bytes),
            "written with": ", ".join(f"{name} {version}" for name, version in self.libraries.items()),
            "format": f"gramfold model file, format {self.format}",
        }
        return "\n".join(f"{name + ':':<14}{fact}" for name, fact in facts.items())


def model_info(path: str | os.PathLike[str]) -> ModelInfo:
    """Say what is in a model file: the model, its columns, and what it holds of the training rows.

    Parameters
    ----------
    path : str or path-like
        Model file. It is checked as `gramfold.load` checks it.

    Returns
    -------
    info : ModelInfo
        Print it, or use its fields.

    Examples
    --------
    >>> import gramfold, tempfile
    >>> from sklearn.datasets import load_iris
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gramfold.PCA(n_components=3).fit(load_iris().data).save(f"{folder}/iris.gramfold", compact=True)
    ...     info = gramfold.model_info(f"{folder}/iris.gramfold")
    >>> info.method, info.rows, info.training_data
    ('PCA', 150, 'no training rows')
    """
    opened = Container(path)
    model = decoded(opened, scan=True)
    with readable(opened):
        return _told_of(opened, model)


def _told_of(opened: Container, model: Any) -> ModelInfo:
    *_, last = models_in(model)
    fitted = last.model_
    first = next(models_in(model)).model_
    names = getattr(model, "feature_names_in_", None) if isinstance(model, Pipeline) else first.columns.names
    columns = getattr(model, "n_features_in_", first.columns.count)
    return ModelInfo(
        path=str(opened.path),
        bytes=opened.size,
        format=FORMAT,
        method=type(last).__name__,
        steps=tuple(type(step).__name__ for _, step in model.steps[:-1]) if isinstance(model, Pipeline) else (),
        parameters=changed_parameters(last),
        rows=fitted.n_rows,
        columns=columns,
        column_names=None if names is None else tuple(names),
        dimensions=getattr(fitted, "dimensions", None),
        compact=opened.told["compact"],
        training_data=_training_data(model),
        libraries=opened.told["libraries"],
        left_out=_left_out(model, names),
        training_rows=_training_rows(model),
    )


def _left_out(model: Any, names: Any) -> tuple[str, ...]:
    """Columns that a first step leaves out, which notes those that it keeps."""
    kept = getattr(model.steps[0][1], "kept_", None) if isinstance(model, Pipeline) else None
    return () if kept is None or names is None else tuple(name for j, name in enumerate(names) if j not in set(kept))


def _training_rows(model: Any) -> int:
    """The largest number of training rows that a step, or a part of one, holds."""
    if isinstance(model, Estimator):
        return training_rows_in(model.model_).rows
    if isinstance(model, Pipeline):
        held: list[Any] = [step for _, step in model.steps]
    else:
        held = [*vars(model).values(), *(one for _, one, *_ in getattr(model, "transformers_", ()))]
    own = len(model._fit_X) if hasattr(model, "_fit_X") else 0  # noqa: SLF001 - of an imputer: it has no other name
    return max([own, *(_training_rows(one) for one in held if isinstance(one, BaseEstimator))])


def _training_data(model: Any) -> str:
    """What the steps of a pipeline, or a model, hold of the training rows."""
    if not isinstance(model, Pipeline):
        return str(training_rows_in(model.model_))
    told = [(type(step).__name__, _of_step(step)) for _, step in model.steps]
    return "; ".join(f"{name}: {words}" for name, words in told if words)


def _of_step(step: Any) -> str:
    if isinstance(step, Estimator | Pipeline):
        return _training_data(step)
    held = [*vars(step).values(), *(one for _, one, *_ in getattr(step, "transformers_", ()))]
    inside = [_of_step(one) for one in held if isinstance(one, BaseEstimator)]
    own = [words for name, words in _VALUES.items() if getattr(step, name, None) is not None]
    return "; ".join(dict.fromkeys(word for word in [*own, *inside] if word))


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
