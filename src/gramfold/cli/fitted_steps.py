"""A model of a file, step by step: the columns that it reads, rows on their way to the map, and back."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramfold.cli.far_outside import outside_noted
from gramfold.cli.undoing import fills_gaps, names_after, undone
from gramfold.errors import InputError, MissingExtraError, ModelFileError

_NO_NAMES = "X does not have valid feature names"  # scikit-learn's warning: columns were matched here, by name


@dataclass(frozen=True, eq=False)
class Placed:
    """Where new rows are."""

    places: Any  # (n, p) NaN where a row has no place; of clusters (n,), -1
    known: Any  # (n,) whether a row has a place
    outside: Any  # (n,) how far outside of the training rows, NaN where it is not known; None where nothing was asked


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """Rows for coordinates."""

    rows: Any  # (n, d) numbers, or objects where some are categories
    names: list[str]  # of their columns
    outside: Any  # (n,) how far outside of the map the coordinates are; None where none is far


@dataclass(frozen=True, eq=False)
class FittedSteps:
    """The steps of a model, the last of which is gramfold's."""

    path: Path
    steps: tuple[Any, ...]  # without the first, if that only leaves columns out
    names: tuple[str, ...] | None  # columns that are read, in the order of the first step; None: by position
    every: tuple[str, ...]  # names of all columns of the training rows, also of those that are left out
    kept: tuple[int, ...]  # positions of the columns that are read, among all
    width: int  # number of all columns of the training rows

    @classmethod
    def load(cls, path: Path, usage: str, *, quiet: bool = False) -> "FittedSteps":
        """Of a model file, as `usage` has it; stages are reported on a terminal, unless `quiet`."""
        from sklearn.pipeline import Pipeline

        from gramfold.advice import LeaveOut
        from gramfold.io.model_file import load

        with told_of_tables(path, f"name a model first, as in `{usage}`"):
            model = load(path)
        steps = tuple(_flat(model)) if isinstance(model, Pipeline) else (model,)
        first = steps[0]
        width = int(first.n_features_in_)
        every = tuple(map(str, getattr(first, "feature_names_in_", ())))
        kept = tuple(range(width))
        if isinstance(first, LeaveOut):
            steps, kept = steps[1:], tuple(map(int, first.kept_))
        elif every:
            kept = _named_by(first, every)
        for step in steps:
            if hasattr(step, "set_output"):
                step.set_output(transform="default")  # arrays: what the user set was for Python
        if not quiet and sys.stderr is not None and sys.stderr.isatty():
            steps[-1].set_params(verbose=1)
        names = tuple(every[j] for j in kept) if every else None
        return cls(path, steps, names, every, kept, width)

    @property
    def last(self) -> Any:
        """The method."""
        return self.steps[-1]

    @property
    def method(self) -> str:
        """Its class."""
        return type(self.last).__name__

    @property
    def coordinates(self) -> list[str]:
        """Names of the columns of the map, or of the cluster."""
        return [str(name) for name in self.last.get_feature_names_out()] if self.maps else ["cluster"]

    @property
    def maps(self) -> bool:
        """Whether it is a map, and no clustering."""
        return not hasattr(self.last, "predict")

    @property
    def reads_text(self) -> bool:
        """Whether a column may hold text."""
        return any(_takes_text(step) for step in self.steps)

    def named(self, rows: Any) -> Any:
        """Rows as the first step reads them: a DataFrame for steps that find columns by name."""
        from sklearn.compose import ColumnTransformer

        first = self.steps[0]
        if not isinstance(first, ColumnTransformer) or not hasattr(first, "feature_names_in_"):
            return rows
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError(
                f"'{self.path}' begins with a ColumnTransformer, which needs pandas: run `pip install pandas`."
            ) from error
        return pd.DataFrame(rows, columns=list(self.names or ())).infer_objects()

    def place(self, rows: Any, *, ask: bool) -> Placed:
        """Rows of the columns that are read, (n, d); how far outside they lie is measured if asked, or if some do."""
        if not hasattr(self.last, "predict") and not hasattr(self.last, "transform"):
            raise InputError(
                f"'{self.path}' holds {self.method}, which has no out-of-sample formula: map the old rows and the new "
                "ones together with `gramfold embed`."
            )
        rows, known = self.prepared(rows)
        with _by_position():
            return self._placed(rows, known, ask)

    def prepared(self, rows: Any) -> tuple[Any, Any]:
        """Rows of the columns that are read as the method sees them, (m, d'); and which of all these are, (n,)."""
        import numpy as np

        known = np.ones(rows.shape[0], dtype=bool)
        with _by_position():
            for step in self.steps[:-1]:
                rows = step.transform(_without_gaps(rows, known, step))
        return _without_gaps(rows, known, self.last), known

    def _placed(self, rows: Any, known: Any, ask: bool) -> Placed:
        """Rows as the method reads them, those with a place."""
        import numpy as np

        n = len(known)
        if not self.maps:
            clusters = np.full(n, -1)
            if known.any():
                clusters[known] = self.last.predict(rows)
            return Placed(clusters, known, None)
        places = np.full((n, len(self.coordinates)), np.nan)
        outside = np.full(n, np.nan)
        far = False
        if known.any():
            with outside_noted() as noted:
                places[known] = self.last.transform(rows)
            far = bool(noted)
            if ask or far:
                outside[known] = self.last.extrapolation(rows, of="rows")
        return Placed(places, known, outside if ask or far else None)

    def rebuild(self, places: Any) -> "Rebuilt":
        """Rows in the columns and units of the table that the model was fitted on."""
        names = list(self.names) if self.names is not None else [f"x{j}" for j in self.kept]
        if not hasattr(self.last, "inverse_transform"):
            raise InputError(f"'{self.path}' holds {self.method}, which computes no rows for coordinates.")
        with _by_position():
            for step in self.steps[:-1]:
                names = names_after(step, names, self.path)
            with outside_noted() as noted:
                rows = self.last.inverse_transform(places)
            outside = self.last.extrapolation(places, of="coordinates") if noted else None
            for step in reversed(self.steps[:-1]):
                rows = undone(step, rows)
        return Rebuilt(rows.toarray() if hasattr(rows, "toarray") else rows, names, outside)


@contextmanager
def told_of_tables(path: Path, instead: str) -> Iterator[None]:
    """Say of a table, or a folder of mapped files, in the place of a model what it is, and what to do instead."""
    if path.is_dir():
        from gramfold.distributed.ledger import MODEL

        if (path / MODEL).is_file():
            raise InputError(f"'{path}' is a folder of mapped files: pass its model, '{path / MODEL}'.")
    try:
        yield
    except ModelFileError as error:
        if not _is_table(path):
            raise
        raise InputError(f"'{path}' is a table and no model file: {instead}.") from error


def _is_table(path: Path) -> bool:
    from gramfold.io.content import PACKED_ENDINGS
    from gramfold.io.table import READERS

    inner = Path(path.stem) if path.suffix.lower() in PACKED_ENDINGS else path
    return inner.suffix.lower() in READERS


def _flat(pipeline: Any) -> Iterator[Any]:
    from sklearn.pipeline import Pipeline

    for _, step in pipeline.steps:
        if isinstance(step, Pipeline):
            yield from _flat(step)
        elif step is not None and step != "passthrough":
            yield step


def _named_by(first: Any, every: tuple[str, ...]) -> tuple[int, ...]:
    """Positions of the columns that a first step reads: a ColumnTransformer need not read all."""
    from sklearn.compose import ColumnTransformer

    if not isinstance(first, ColumnTransformer):
        return tuple(range(len(every)))
    used = {name for _, step, names in first.transformers_ if step != "drop" for name in _strings(names, every)}
    return tuple(j for j, name in enumerate(every) if name in used)


def _strings(names: Any, every: tuple[str, ...]) -> list[str]:
    import numpy as np

    if isinstance(names, str):
        return [names]
    if isinstance(names, slice) or all(isinstance(name, str) for name in names):
        return [str(name) for name in (every[names] if isinstance(names, slice) else names)]
    return [every[j] for j in np.arange(len(every))[np.asarray(names)]]


def _takes_text(step: Any) -> bool:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion
    from sklearn.utils import get_tags

    from gramfold.embedding import Estimator

    if isinstance(step, Estimator):
        return bool(step.model_.reads.mixed)
    return isinstance(step, ColumnTransformer | FeatureUnion) or bool(get_tags(step).input_tags.categorical)


def _without_gaps(rows: Any, known: Any, step: Any) -> Any:
    """The rows that a step can read; `known` is changed where it cannot."""
    import numpy as np

    if getattr(rows, "dtype", None) not in (np.float64, np.float32) or not hasattr(rows, "ndim"):
        return rows
    if hasattr(rows, "nnz") or _reads_gaps(step):
        return rows
    whole = ~np.isnan(rows).any(axis=1)
    known[known] = whole
    return rows[whole]


def _reads_gaps(step: Any) -> bool:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.utils import get_tags

    from gramfold.embedding import Estimator

    if isinstance(step, Estimator):
        return bool(step.model_.reads.missing)
    if isinstance(step, FunctionTransformer):
        return not step.validate
    return (
        fills_gaps(step)
        or isinstance(step, ColumnTransformer | FeatureUnion)
        or bool(get_tags(step).input_tags.allow_nan)
    )


@contextmanager
def _by_position() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_NO_NAMES, category=UserWarning)
        yield
