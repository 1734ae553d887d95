"""Gaps filled in by probabilistic PCA: a step before a map."""

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from gramfold.errors import RankWarning, ScaleWarning
from gramfold.methods.probabilistic_pca import ProbabilisticPCA
from gramfold.types import Floats

_MOST = 10  # components: more fit the noise of the values that are known


class FillByPPCA(TransformerMixin, BaseEstimator):
    """Fill in missing values by their conditional mean, given the known values of the row, in probabilistic PCA.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None: half of the columns, at most ten.

    Attributes
    ----------
    model_ : ProbabilisticPCA
        The fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold.advice import FillByPPCA
    >>> along = np.linspace(0, 1, 50)
    >>> X = np.column_stack([along, 2 * along, 3 * along])
    >>> X[20, 1] = np.nan
    >>> filled = FillByPPCA().fit_transform(X)
    >>> bool(abs(filled[20, 1] - 2 * along[20]) < 1e-3)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None]
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the plane that rows lie around.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN at gaps.
        y : ignored
            Not used, present for API consistency with scikit-learn.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        rows, width = np.shape(X)
        half = min(_MOST, (width + 1) // 2, max(1, rows - 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)  # fewer directions than that are no fault here
            warnings.simplefilter("ignore", ScaleWarning)
            self.model_ = ProbabilisticPCA(self.n_components or half).fit(X)
        self.n_features_in_ = width
        return self

    def transform(self, X: Any) -> Floats:
        """The rows without gaps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, NaN at gaps.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Known values as they are. A row without any known value becomes the mean.
        """
        check_is_fitted(self)
        return self.model_.impute(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns, which stay as they are.

        Parameters
        ----------
        input_features : sequence of str, default=None
            Names of the columns; None: x0, x1, …

        Returns
        -------
        ndarray of str
            Their names.
        """
        names = [f"x{j}" for j in range(self.n_features_in_)] if input_features is None else input_features
        return np.asarray(names, dtype=object)
