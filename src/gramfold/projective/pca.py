"""Principal component analysis: the directions along which the rows vary most.

    C = (1/n) Σ (x − mean)(x − mean)ᵀ;    C e = λ e;    y(x) = Eᵀ (x − mean)

Its Gram matrix K = (X − 1 meanᵀ)(X − 1 meanᵀ)ᵀ has the eigenvalues nλ. Coordinates are uncorrelated; no other p
directions rebuild the rows with a smaller squared error, which is the sum of the λ left out; of Gaussian rows no other
p keep more information. Whitened, each coordinate is divided by its standard deviation √(nλ/(n − 1)).
Burges, section 1.1; Pearson, Philosophical Magazine 2 (1901).
"""

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from gramfold.embedding import Piece, method, parameter
from gramfold.errors import InputError
from gramfold.extension.project import RANK_CUT
from gramfold.projective.evidence import log_evidence
from gramfold.projective.linear_projection import LinearProjection, Projection, warn_of_little
from gramfold.projective.principal_axes import PrincipalAxes, Solver, axes_for_share, principal_axes
from gramfold.runtime.progress import Stages
from gramfold.types import Integers


@method
class PCA(LinearProjection):
    """Principal components of a table, dense or sparse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramfold import PCA
    >>> X = load_iris().data
    >>> model = PCA(n_components=2).fit(X)
    >>> model.explained_variance_ratio_.round(2)
    array([0.92, 0.05])
    >>> PCA(n_components=0.95).fit(X).n_components_  # as many as have 95% of the variance
    2
    """

    n_components: int | float | Literal["mle"] | None = parameter(  # type: ignore[assignment]
        default=2,
        allowed=[
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"mle"}),
            None,
        ],
        words="""Dimensions of the map; a share between 0 and 1 takes the fewest that have so much of the variance,
        "mle" the number for which Minka's evidence is largest, None all of them, min(n_samples, n_features).""",
        kw_only=False,
    )
    whiten: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="""Divide each coordinate by its standard deviation (by n − 1). `components_` stay unit vectors, and
        `inverse_transform` multiplies it back.""",
    )
    svd_solver: Solver = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "covariance_eigh", "full", "arpack", "gram"})],
        words="""Who finds the directions: the covariance matrix, scikit-learn's PCA by all singular vectors ("full") or
        by ARPACK, or the eigenvectors of the Gram matrix, where columns outnumber rows or are many.""",
    )

    _attributes: ClassVar[str] = """
    n_components_ : int
        Dimensions of the map.
    explained_variance_ : ndarray of shape (n_components_,)
        Variance of the rows along each direction, by n − 1; 0 or infinity where squares of the rows leave the range of
        floats.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Its share of the rows' variance.
    singular_values_ : ndarray of shape (n_components_,)
        Of the centred rows: the lengths of the columns of the map before whitening.
    noise_variance_ : float
        Mean variance along the other min(n_samples, n_features) − n_components_ directions, by n − 1; 0 without any.
    """

    @property
    def _accepts_sparse(self) -> bool:
        return True

    @property
    def _counts(self) -> bool:
        """Whether n_components is the number itself."""
        return isinstance(self.n_components, Integral)

    @property
    def _dimensions(self) -> int:
        return int(self.n_components) if self._counts else getattr(self, "n_components_", 1)  # type: ignore[arg-type]

    @property
    def _degree(self) -> int:
        return 0 if self.whiten else 1

    def _most_dimensions(self, n: int) -> int:
        return self._dimensions if self._counts else min(n, getattr(self, "n_features_in_", n))

    def _check_components(self, n: int) -> None:
        if self._counts:  # else never too many
            super()._check_components(n)

    def _projection(self, rows: Any, stages: Stages) -> Projection:
        found = self._axes(rows)
        self.n_components_ = self._dimensions if self._counts else max(1, self._number(found, rows))
        found = found.leading(self.n_components_)
        self._total, self._found = found.total, found.axes.shape[1]
        return Projection(
            found.mean,
            found.axes,
            found.solver,
            scatter=found.scatter,
            proved=found.proved and not self.whiten,
            white=self.whiten,
        )

    def _axes(self, rows: Any) -> PrincipalAxes:
        """The axes asked for, or enough of them to find out how many these are."""
        n, d = rows.shape
        if self.n_components == "mle" and n < d:
            raise InputError(
                f"n_components='mle' weighs the variances of all directions and {n} rows of {d} columns vary along "
                f"{n - 1} of {d}: use a number, a share of the variance, or at least {d} rows."
            )
        if isinstance(self.n_components, RealNotInt):
            return axes_for_share(rows, float(self.n_components), self.svd_solver, self.n_jobs, self._moments)
        count = self._dimensions if self._counts else d
        return principal_axes(rows, count, self.svd_solver, self.n_jobs, self._moments)

    def _number(self, found: PrincipalAxes, rows: Any) -> int:
        """How many dimensions, where that is left to the rows."""
        n, d = rows.shape
        if self.n_components is None:
            return int(min(n, d))
        if self.n_components == "mle":
            evidence = log_evidence(found.variances, n, d)
            return 1 + int(evidence.argmax()) if evidence.size else len(found.variances)
        return len(found.variances)

    def _warn_of_zeros(self, positive: int) -> None:
        if self.n_components is None and positive == self._found:
            return  # nobody asked for more
        if self.whiten:
            warn_of_little(positive, self.n_components_, np.sqrt(RANK_CUT))
        else:
            super()._warn_of_zeros(positive)

    def _solve(self, source: Any, rows: Integers, stages: Stages) -> Piece:
        piece = super()._solve(source, rows, stages)
        n, d = source.shape
        variances = np.square(self._deviations)
        total, left = self._total * n / (n - 1), min(n, d) - self.n_components_
        self.explained_variance_ = self._unit.outward(variances, 2)
        self.explained_variance_ratio_ = variances / (total or 1.0)
        self.singular_values_ = self._unit.outward(self._deviations * np.sqrt(n - 1))
        noise = max(total - float(variances.sum()), 0.0) / left if left > 0 else 0.0
        self.noise_variance_ = float(self._unit.outward(noise, 2))
        if self.whiten:
            self.components_ = (self._directions * self._deviations).T
        return piece
