"""How chosen rows differ from the rest: the columns by the size of their effect, with intervals for all together."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, issparse

from gramfold.diagnostics.effects import Dominance, deviate, dominance, dominance_interval, share_interval
from gramfold.diagnostics.placed_rows import names_of
from gramfold.errors import InputError
from gramfold.neighbors.columns import numeric_table, require_one_order, types_of
from gramfold.neighbors.mixed import MixedTable
from gramfold.runtime.counting import counted
from gramfold.types import Floats

_SHOWN = 10
_FEWEST = 2  # known values of a column in each group
_UNKNOWN = Dominance(float("nan"), float("nan"))
_MOST_CATEGORIES = 50  # of a column; the commonest are looked at


@dataclass(frozen=True, eq=False, repr=False)
class Differences:
    """How chosen rows differ from the rest. All arrays have one entry for each column, the largest effect first.

    Columns whose interval does not hold 0 (`clear`) come before the others. A column of categories has an entry for
    each of its 50 commonest categories, "colour = red", and for one of two.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    effects : ndarray of float
        Cliff's delta: the share of pairs of a chosen row and another in which the chosen one has the larger value, less
        the share in which it has the smaller. From −1 to 1; 0 is no difference. For a category the difference of its
        shares. NaN where a group has fewer than two known values.
    lower, upper : ndarray of float
        Limits of the effects, which all hold together with the confidence `level` (Bonferroni's correction).
    chosen, rest : ndarray of float
        Medians of both groups; the share of the rows for a category.
    chosen_means, rest_means : ndarray of float
        Means of both groups; the share of the rows for a category.
    known : ndarray of int of shape (n_entries, 2)
        Number of rows with a value in each group.
    categories : ndarray of bool
        Which entries are categories.
    level : float
        Confidence of all intervals together.
    n_chosen, n_rest : int
        Number of rows.
    """

    names: tuple[str, ...]
    effects: Floats
    lower: Floats
    upper: Floats
    chosen: Floats
    rest: Floats
    chosen_means: Floats
    rest_means: Floats
    known: NDArray[np.integer]
    categories: NDArray[np.bool_]
    level: float
    n_chosen: int
    n_rest: int

    def __len__(self) -> int:
        return len(self.names)

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Whether the interval of each entry does not hold 0."""
        return np.asarray((self.lower > 0) | (self.upper < 0))

    def to_pandas(self) -> Any:
        """All of it as a table.

        Returns
        -------
        table : pandas.DataFrame
            A row for each entry, with the column names as index.
        """
        import pandas as pd

        told = {name: getattr(self, name) for name in ("effects", "lower", "upper", "clear")}
        told |= {name: getattr(self, name) for name in ("chosen", "rest", "chosen_means", "rest_means", "categories")}
        known = {"known_chosen": self.known[:, 0], "known_rest": self.known[:, 1]}
        return pd.DataFrame({**told, **known}, index=pd.Index(self.names, name="column")).rename(
            columns={"effects": "effect", "categories": "category"}
        )

    def __str__(self) -> str:
        first = [j for j in range(len(self)) if np.isfinite(self.effects[j])][:_SHOWN]
        what = counted(len(self), "column") + " and categories" * bool(self.categories.any())
        found = f"{int(self.clear.sum()):,} of {what} differ"
        sure = f"all intervals hold together with {self.level:.0%} confidence"
        lines = [f"{counted(self.n_chosen, 'chosen row')} against {self.n_rest:,} others: {found} ({sure})"]
        width = max((len(self.names[j]) for j in first), default=0)
        lines += [f"  {self.names[j]:<{width}}  {self._entry(j)}" for j in first]
        if len(self) > len(first):
            lines.append(f"  and {len(self) - len(first):,} more")
        return "\n".join(lines)

    def _entry(self, j: int) -> str:
        effect = f"effect {self.effects[j]:+.2f} ({self.lower[j]:+.2f} to {self.upper[j]:+.2f})"
        if self.categories[j]:
            return f"{effect}  {self.chosen[j]:.0%} against {self.rest[j]:.0%}"
        if self.chosen[j] != self.rest[j]:
            return f"{effect}  median {self.chosen[j]:.4g} against {self.rest[j]:.4g}"
        return f"{effect}  mean {self.chosen_means[j]:.4g} against {self.rest_means[j]:.4g}"

    def __repr__(self) -> str:
        first = ", ".join(self.names[:3])
        return f"Differences({self.n_chosen:,} rows against {self.n_rest:,}: {first})"


def differences(X: Any, chosen: Any, *, names: Sequence[str] | None = None, level: float = 0.95) -> Differences:
    """Find out how chosen rows, a cluster or a part of a map say, differ from the rest of a table.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_rows, n_columns)
        The data: numbers, and in dense tables categories and gaps (NaN) too.
    chosen : array-like of bool of shape (n_rows,), or of int
        Which rows are chosen: a mask of booleans, or their numbers, each once. A mask of 0 and 1 is refused: pass
        ``chosen == 1``.
    names : sequence of str, optional
        Names of the columns. By default those of the DataFrame, or "column 0", "column 1", …
    level : float, default=0.95
        Confidence with which the intervals of all columns hold together.

    Returns
    -------
    differences : Differences
        Effects with intervals, the largest first; ``print(differences)`` shows the first ten.

    Notes
    -----
    The effect is Cliff's delta, which neither units nor outliers change, and which for a category is the difference of
    its shares. Intervals take the groups as given. Rows that were chosen on a map made of the same columns differ in
    some of them by the choice itself: then effects describe the choice, and do not prove that there are two groups.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramfold.diagnostics import differences
    >>> wine = load_wine(as_frame=True)
    >>> found = differences(wine.data, wine.target == 0)
    >>> found.names[:2], found.effects[:2].round(2).tolist()
    (('proline', 'flavanoids'), [0.97, 0.86])
    """
    _check_level(level)
    require_one_order(X, chosen, ("X", "chosen"))  # of a mask; row numbers are fewer, with an index of their own
    own = _own_names(X)
    if issparse(X) or hasattr(X, "sparse"):  # the latter a DataFrame whose columns are all sparse
        rows = numeric_table(X if issparse(X) else X.sparse.to_coo(), least_rows=2)
        mask, shown = _mask(chosen, rows.shape[0]), names_of(names, own, rows.shape[1])
        entries = list(_sparse_entries(csc_array(rows), mask, shown))
    else:
        table = MixedTable.of(X, None, 2, "differences")
        mask = _mask(chosen, len(table.columns[0]))
        named = zip(table.columns, names_of(names, own, len(table.columns)), strict=True)
        entries = [one for column, name in named for one in _entries(column, mask, name)]
    if not entries:
        raise InputError("no column of X holds numbers, or categories that occur twice: there is nothing to compare.")
    return _ranked(entries, mask, level)


def _check_level(level: Any) -> None:
    if not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise InputError(f"level={level!r} is not a confidence: pass a number between 0 and 1, such as 0.95.")


@dataclass(frozen=True)
class _Entry:
    name: str
    effect: Dominance
    medians: tuple[float, float]
    means: tuple[float, float]
    known: tuple[int, int]
    category: bool = False


def _own_names(X: Any) -> list[str] | None:
    """Of a DataFrame or Arrow table; None where it has none, or numbers its columns."""
    names = [name for name, _ in types_of(X)]
    if not names or names == list(range(len(names))):
        return None
    return [", ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in names]


def _mask(chosen: Any, n: int) -> NDArray[np.bool_]:
    given = np.asarray(chosen)
    given = given.astype(np.intp) if given.shape == (0,) else given
    if given.ndim != 1 or given.dtype.kind not in "biu":
        raise InputError(
            f"chosen has shape {given.shape} and dtype {given.dtype}: pass a mask of {n} booleans, or the numbers of "
            "the chosen rows."
        )
    if given.dtype.kind == "b":
        if len(given) != n:
            raise InputError(f"chosen is a mask of {len(given)} rows, but X has {n}: pass one boolean for each row.")
        mask = given
    else:
        if len(given) == n or len(np.unique(given)) < len(given):
            found = f"{n} integers, one for each row" if len(given) == n else "the same number more than once"
            raise InputError(
                f"chosen holds {found}, so these are no numbers of chosen rows: pass a mask of booleans, chosen == 1 "
                "say, or each number once."
            )
        if len(given) and (given.min() < 0 or given.max() >= n):
            raise InputError(
                f"chosen holds row {int(given.max())}, but X has {n} rows: pass numbers from 0 to {n - 1}."
            )
        mask = np.zeros(n, dtype=bool)
        mask[given] = True
    count = int(mask.sum())
    if not _FEWEST <= count <= n - _FEWEST:
        raise InputError(
            f"{count} of {n} rows are chosen, but a difference needs at least {_FEWEST} chosen rows and {_FEWEST} "
            "others: choose other rows."
        )
    return mask


def _entries(column: NDArray[Any], mask: NDArray[np.bool_], name: str) -> Iterator[_Entry]:
    """Of a column of numbers, or each of the categories of a column."""
    if column.dtype == np.float64:
        there = ~np.isnan(column)
        _require_finite(column[there], np.flatnonzero(there), name)
        yield _of_numbers(column[mask & there], column[~mask & there], name)
        return
    there = np.array([value is not None for value in column])
    m, n = int((mask & there).sum()), int((~mask & there).sum())
    common = Counter(column[there]).most_common(_MOST_CATEGORIES)
    values = [value for value, count in common if count >= _FEWEST]  # names that occur once tell no groups apart
    for value in values if len(values) != 2 else values[:1]:  # the other of two differs by as much
        has = np.array([one == value for one in column])
        shares = tuple(
            float(has[group & there].mean()) if count else np.nan for group, count in ((mask, m), (~mask, n))
        )
        effect = Dominance(shares[0] - shares[1], 0.0) if min(m, n) >= _FEWEST else _UNKNOWN
        yield _Entry(f"{name} = {value}", effect, shares, shares, (m, n), category=True)  # type: ignore[arg-type]


def _require_finite(values: Floats, rows: NDArray[np.integer], name: str) -> None:
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    what, first = "NaN" if np.isnan(values[bad][0]) else "infinity", int(rows[bad].min())
    such = f"{int(bad.sum()):,} such value{'s' * (int(bad.sum()) > 1)} in all"
    raise InputError(
        f"X contains {what} in row {first} of {_shown(name)} ({such}), which has no mean then: correct the value, or "
        "leave the row out."
    )


def _shown(name: str) -> str:
    return name if name.startswith("column ") else f"column '{name}'"


def _of_numbers(a: Floats, b: Floats, name: str) -> _Entry:
    known = len(a), len(b)
    medians, means = (tuple(float(f(v)) if len(v) else np.nan for v in (a, b)) for f in (np.median, np.mean))
    effect = dominance(a, b) if min(known) >= _FEWEST else _UNKNOWN
    return _Entry(name, effect, medians, means, known)  # type: ignore[arg-type]


def _sparse_entries(X: csc_array, mask: NDArray[np.bool_], names: Sequence[str]) -> Iterator[_Entry]:
    m = int(mask.sum())
    n = len(mask) - m
    for j, name in enumerate(names):
        part = slice(X.indptr[j], X.indptr[j + 1])
        values, inside = X.data[part].astype(np.float64), mask[X.indices[part]]
        _require_finite(values, X.indices[part], name)
        a, b = values[inside], values[~inside]
        zeros = m - len(a), n - len(b)
        medians = _median(a, m), _median(b, n)
        yield _Entry(name, dominance(a, b, zeros), medians, (a.sum() / m, b.sum() / n), (m, n))


def _median(values: Floats, count: int) -> float:
    """Of these values and zeros, so many in all."""
    if 2 * len(values) < count:
        return 0.0
    return float(np.median(np.concatenate([values, np.zeros(count - len(values))])))


def _ranked(entries: list[_Entry], mask: NDArray[np.bool_], level: float) -> Differences:
    effects, variances = np.array([(one.effect.delta, one.effect.variance) for one in entries]).T
    known = np.array([one.known for one in entries])
    categories = np.array([one.category for one in entries])
    judged = np.isfinite(effects)
    lower, upper = np.full((2, len(entries)), np.nan)
    z, m, n = deviate(level, int(judged.sum())), known[:, 0].astype(float), known[:, 1].astype(float)
    means = np.array([one.means for one in entries])
    some = np.flatnonzero(judged & ~categories)
    lower[some], upper[some] = dominance_interval(effects[some], variances[some], m[some], n[some], z)
    some = np.flatnonzero(judged & categories)
    lower[some], upper[some] = share_interval(means[some, 0], m[some], means[some, 1], n[some], z)
    clear = (lower > 0) | (upper < 0)
    order = np.lexsort((-np.abs(np.where(judged, effects, 0.0)), ~clear, ~judged))
    medians = np.array([one.medians for one in entries])[order]
    return Differences(
        names=tuple(entries[j].name for j in order),
        effects=effects[order],
        lower=lower[order],
        upper=upper[order],
        chosen=medians[:, 0],
        rest=medians[:, 1],
        chosen_means=means[order, 0],
        rest_means=means[order, 1],
        known=known[order],
        categories=categories[order],
        level=level,
        n_chosen=int(mask.sum()),
        n_rest=int((~mask).sum()),
    )
