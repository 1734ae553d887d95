"""What the methods on distorted rows share: they are fitted with the rows as they should be and as they come."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval

from gramfold.embedding import method, parameter
from gramfold.embedding.all_or_nothing import all_or_nothing
from gramfold.projective.linear_projection import LinearProjection
from gramfold.types import Floats


@method
class OrientedProjection(LinearProjection):
    """Engine of oriented PCA and its layers; not used by itself."""

    reg: float = parameter(
        default=1e-6,
        allowed=[Interval(Real, 0, 1, closed="left")],
        words="""Where noise is smaller than this share of the largest along any direction, it is raised to that: a
        noise that was never seen does not count as none.""",
    )

    _attributes: ClassVar[str] = """
    directions_ : ndarray of shape (n_components, n_features)
        `components_` made unit vectors. Scaling the signal or the noise leaves them alone.
    signal_to_noise_ : ndarray of shape (n_components,)
        q: variance of the signal along each direction over the mean square of the noise there.
    """

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, X_distorted: Any = None) -> Self:
        """Find the directions of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows as they should be: the signal.
        y : ignored
            Present for scikit-learn's sake.
        X_distorted : array-like of shape (n_samples, n_features) or (n_versions, n_samples, n_features)
            Each row again, distorted; or several such versions. None: white noise, which gives principal components.
            For layers a list may hold one such array, or None, for each layer from the lowest on.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._distorted: Any = X_distorted
        given = X_distorted if isinstance(X_distorted, list | tuple) else [X_distorted]
        self._knows_noise = any(one is not None for one in given)
        super().fit(X)
        del self._distorted  # as large as X, and of no more use
        return self

    def fit_transform(self, X: Any, y: Any = None, *, X_distorted: Any = None) -> Floats:
        """Find the directions of the rows of X and return their map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : ignored
            Present for scikit-learn's sake.
        X_distorted : array-like
            As for `fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        return self.fit(X, X_distorted=X_distorted).embedding_.copy()

    def _warn_of_outside(self, X: Any) -> Floats:
        if self._knows_noise:  # rows that are distorted are far from the clean ones, and what the map is for
            return np.full(X.shape[0], np.inf)
        return super()._warn_of_outside(X)

    @property
    def _degree(self) -> int:
        return 0 if self._knows_noise else 1  # in units of the noise

    @property
    def _given_noise(self) -> Any:
        return getattr(self, "_distorted", None)

    @property
    def directions_(self) -> Floats:
        """`components_` made unit vectors."""
        lengths = np.linalg.norm(self.components_, axis=1, keepdims=True)
        return np.asarray(self.components_ / np.where(lengths > 0, lengths, 1.0))
