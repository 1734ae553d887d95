"""A table without some of its columns, as numbers where all others are: the first step of a plan."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramfold.advice.columns import as_mixed, read_columns
from gramfold.errors import InputError
from gramfold.neighbors.columns import require_table, types_of

_NAMED = 12  # columns in one sentence


class LeaveOut(TransformerMixin, BaseEstimator):
    """Leave columns out of a table, and convert the others to numbers.

    Columns that have names are found by them: rows that are transformed may have other columns too, in any order, and
    need not have those that are left out.

    Parameters
    ----------
    columns : sequence of str or int, default=()
        Names of columns of a DataFrame, or positions of columns.

    Examples
    --------
    >>> from gramfold.advice import LeaveOut
    >>> LeaveOut(columns=[0]).fit_transform([[1, 2.0, 3.5], [2, 4.0, None]])
    array([[2. , 3.5],
           [4. , nan]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"columns": ["array-like"]}

    def __init__(self, columns: Any = ()) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note the columns of X.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Table.
        y : ignored
            Not used, present for API consistency with scikit-learn.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        table = as_mixed(X)
        require_table(table, least_rows=1)
        width = int(table.shape[1])
        names = [name for name, _ in types_of(table)] or list(range(width))
        numbers = {name: j for j, name in enumerate(names)}
        absent = [one for one in self.columns if one not in numbers and one not in range(width)]
        if absent:
            raise InputError(f"X has no column {absent[0]!r} to leave out: pass names or positions of its columns.")
        self.n_features_in_ = width
        gone = {numbers.get(one, one) for one in self.columns}
        self.kept_ = [j for j in range(width) if j not in gone]
        if not self.kept_:
            raise InputError("every column of X is left out: keep at least one.")
        if all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """The other columns.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Table with the columns that `fit` kept, by name where both have names; else with all that it saw.

        Returns
        -------
        ndarray of shape (n_samples, n_kept)
            float64 with NaN at gaps; objects where a column holds text.
        """
        check_is_fitted(self)
        table = as_mixed(X)
        require_table(table, least_rows=1)
        names = [name for name, _ in types_of(table)]
        if names and hasattr(self, "feature_names_in_"):
            return read_columns(table, self._positions(names))
        if table.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {table.shape[1]} features, but LeaveOut is expecting {self.n_features_in_} features as input: "
                "pass the columns of the training table."
            )
        return read_columns(table, self.kept_)

    def _positions(self, names: list[Any]) -> list[int]:
        """Where a table with these columns has those that are kept."""
        wanted = [self.feature_names_in_[j] for j in self.kept_]
        where = {name: j for j, name in enumerate(names)}
        absent = [name for name in wanted if name not in where]
        if absent:
            shown = ", ".join(repr(str(name)) for name in absent[:_NAMED])
            more = f" and {len(absent) - _NAMED:,} more" if len(absent) > _NAMED else ""
            raise InputError(
                f"X has no column {shown}{more}, which the training table has: pass its {len(wanted)} columns that are "
                "not left out."
            )
        return [where[name] for name in wanted]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that are kept.

        Parameters
        ----------
        input_features : sequence of str, default=None
            Names of all columns; None: those that `fit` saw, or x0, x1, …

        Returns
        -------
        ndarray of str
            Their names.
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        names = known if input_features is None else input_features
        return np.array([names[j] for j in self.kept_], dtype=object)
