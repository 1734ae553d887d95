"""A plan: what to do with a table before and in a fit, each with its reason."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from gramfold.embedding.written import written

_WIDTH = 100
_NAMES = {"left_out": "left out", "n_components": "dimensions", "n_neighbors": "neighbours"}


@dataclass(frozen=True)
class Item:
    """One decision of a plan.

    Attributes
    ----------
    value : object
        What to do: a name, a number, a tuple of columns; None for nothing.
    reason : str
        Why, in one sentence.
    """

    value: Any
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Advice:
    """What to do with a table, and why. It prints as a short plan.

    Attributes
    ----------
    left_out : Item
        Names or positions of the columns that a map should not see.
    gaps : Item
        What to do about missing values: "none", "nearest" (imputed from similar rows), "median", or "metric", which
        takes them as they are; "mean", "ppca" or "method" where the user asked for it.
    scaling : Item
        "none", "standardise", "robust" (by the median and the quartiles), or "logarithm" (of counts, in rows of
        length 1).
    metric : Item
        Distance between rows.
    method : Item
        Name of a class of gramfold.
    n_components, n_neighbors : Item
        Parameters of the method; no neighbours (None) for a method without a graph.
    search : Item
        How neighbours are found; None for a method without a graph.
    landmarks : Item
        Number of landmarks; None: all rows.
    notes : tuple of str
        What else was seen: copies of rows, rows far from all others, a graph in several components, …
    estimator : object
        A scikit-learn estimator that does all this, not fitted: ``advice.estimator.fit_transform(X)``.
    """

    left_out: Item
    gaps: Item
    scaling: Item
    metric: Item
    method: Item
    n_components: Item
    n_neighbors: Item
    search: Item
    landmarks: Item
    notes: tuple[str, ...]
    estimator: Any
    n_rows: int
    n_columns: int
    supervised: bool = False  # whether the estimator is fitted with y
    guesses: tuple[str, ...] = ()  # on columns of numbers that are left out, which may be measurements all the same

    def __iter__(self) -> Iterator[tuple[str, Item]]:
        """Names and items of the plan, in order."""
        for field in fields(self):
            item = getattr(self, field.name)
            if isinstance(item, Item):
                yield field.name, item

    @property
    def code(self) -> str:
        """The Python code of the estimator, and of its fit to X."""
        return written(self.estimator, supervised=self.supervised)

    @property
    def summary(self) -> str:
        """Method, neighbours and scaling in a few words."""
        words = [str(self.method.value)]
        if self.n_neighbors.value is not None:
            words.append(f"k={self.n_neighbors.value}")
        if self.metric.value != "euclidean":
            words.append(f"metric={self.metric.value}")
        scaled = {"none": [], "standardise": ["standardised"]}.get(self.scaling.value, [str(self.scaling.value)])
        return ", ".join([" ".join(words), *scaled])

    def as_dict(self) -> dict[str, Any]:
        """Everything but the estimator as numbers, strings and lists, for JSON."""
        items = {name: {"value": _plain(item.value), "reason": item.reason} for name, item in self}
        return {"rows": self.n_rows, "columns": self.n_columns, **items, "notes": list(self.notes), "code": self.code}

    def __str__(self) -> str:
        return "\n".join([f"Advice for {self.n_rows:,} rows of {self.n_columns:,} columns", *self.lines()])

    def lines(self) -> list[str]:
        """The plan without its headline, a decision in each paragraph."""
        told: list[str] = []
        for name, item in self:
            if name in ("search", "landmarks", "n_neighbors", "gaps", "left_out") and item.value in (None, "none", ()):
                continue
            words = item.reason if name == "left_out" else f"{item.value}: {item.reason}"
            told += _paragraph(_NAMES.get(name, name), words)
        for note in self.notes:
            told += _paragraph("note", note)
        return told

    def __repr__(self) -> str:
        return f"Advice({self.summary})"


def _paragraph(name: str, words: str) -> list[str]:
    return textwrap.wrap(
        words, _WIDTH, initial_indent=f"  {name:<11} ", subsequent_indent=" " * 14, break_on_hyphens=False
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)
