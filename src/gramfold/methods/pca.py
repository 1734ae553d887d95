"""Principal component analysis: the directions along which the rows vary most.

    C = (1/n) Σ (x − mean)(x − mean)ᵀ;    C e = λ e;    y(x) = Eᵀ (x − mean)

Its Gram matrix K = (X − 1 meanᵀ)(X − 1 meanᵀ)ᵀ has the eigenvalues nλ. Coordinates are uncorrelated. No other p
directions reconstruct the rows with a smaller mean squared error, which is the sum of the remaining λ; for Gaussian
rows no other p keep more information. Whitening divides each coordinate by its standard deviation √(nλ/(n − 1)).
Burges 2005, section 1.1; Pearson, Philosophical Magazine 2 (1901).
"""

from numbers import Integral
from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from gramfold.embedding import (
    Embedding,
    Fit,
    LinearMap,
    Model,
    Reads,
    Table,
    attribute,
    first_look,
    linear_model,
    method,
    parameter,
)
from gramfold.errors import InputError
from gramfold.kernels.evidence import log_evidence
from gramfold.kernels.principal_axes import PrincipalAxes, Solver, axes_for_share, principal_axes
from gramfold.kernels.projection import (
    RANK_CUT,
    ProjectedRows,
    algebra_threads,
    onto,
    projected_rows,
    vary_along,
    vary_little,
)


@method
class PCA(LinearMap, Embedding):
    """Principal component analysis (PCA): projection on the directions of largest variance.

    X may be dense or sparse.

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
        words="""Number of components. A float between 0 and 1: the smallest number that explains this share of the
        variance. "mle": the number with the largest Bayesian evidence (Minka 2001). None: min(n_samples,
        n_features).""",
        kw_only=False,
    )
    whiten: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="""Whether each coordinate is divided by its standard deviation (with n − 1 in the denominator).
        `components_` remain unit vectors, and `inverse_transform` reverses the scaling.""",
    )
    svd_solver: Solver = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "covariance_eigh", "full", "arpack", "gram"})],
        words="""How components are computed. "auto": chosen by the shape of X. "covariance_eigh": eigenvectors of the
        covariance matrix. "gram": eigenvectors of the Gram matrix of the rows, for tables with many columns. "full":
        full SVD by scikit-learn's PCA. "arpack": truncated SVD by scikit-learn's PCA.""",
    )

    n_components_ = attribute("int", "Number of components.")
    explained_variance_ = attribute(
        "ndarray of shape (n_components_,)",
        """Variance of the rows along each component, with n − 1 in the denominator. It is 0 or infinite where squares
        of the values underflow or overflow.""",
    )
    explained_variance_ratio_ = attribute(
        "ndarray of shape (n_components_,)", "Share of the total variance that each component explains."
    )
    singular_values_ = attribute(
        "ndarray of shape (n_components_,)",
        "Singular values of the centred rows: the norms of the columns of the embedding before whitening.",
    )
    noise_variance_ = attribute(
        "float",
        """Mean variance along the remaining min(n_samples, n_features) − n_components_ directions, with n − 1 in the
        denominator; 0 if there are none.""",
    )

    def _reads(self) -> Reads:
        return Reads(sparse=True, checked=False)

    def _build(self, fit: Fit) -> Model:
        table = first_look(fit)
        with fit.stages("directions"), algebra_threads(fit.n_jobs, fit.X):
            every = self._axes(table, fit)
            count = _number(every, fit.n_components, fit.total, *fit.X.shape)
            axes = every.leading(count)

        def few(positive: int, asked: int) -> str:
            if self.n_components is None and positive == axes.axes.shape[1]:
                return ""  # no more were asked for
            return vary_little(positive, asked, np.sqrt(RANK_CUT)) if self.whiten else vary_along(positive, asked)

        made = projected_rows(
            table.rows, onto(axes, white=self.whiten), count, fit.stages, fit.n_jobs, few, fit.sample_weight
        )
        found = self._variances(table, made, axes.total, fit.total)
        return linear_model(fit, table, made, degree=0 if self.whiten else 1, found=found)

    def _axes(self, table: Table, fit: Fit) -> PrincipalAxes:
        """The axes asked for, or enough of them to determine their number."""
        (n, d), asked, mass = table.rows.shape, fit.n_components, fit.sample_weight
        if asked == "mle" and n < d:
            raise InputError(
                f"n_components='mle' needs the variance along all {d} directions, but {n} rows vary along at most "
                f"{n - 1}: use a number, a share of the variance, or at least {d} rows."
            )
        if isinstance(asked, RealNotInt):
            return axes_for_share(table.rows, float(asked), self.svd_solver, fit.n_jobs, table.moments, mass)
        count = int(asked) if isinstance(asked, Integral) else d
        return principal_axes(table.rows, count, self.svd_solver, fit.n_jobs, table.moments, mass)

    def _variances(self, table: Table, made: ProjectedRows, total: float, n: float) -> dict[str, Any]:
        """Variances of the rows, n by their weights, along the directions; `total` is their mean square."""
        d, unit, deviations = table.rows.shape[1], table.unit, made.deviations
        variances, total, left = np.square(deviations), total * n / (n - 1), min(n, d) - len(deviations)
        noise = max(total - float(variances.sum()), 0.0) / left if left > 0 else 0.0
        found = {
            "n_components_": len(deviations),
            "explained_variance_": unit.outward(variances, 2),
            "explained_variance_ratio_": variances / (total or 1.0),
            "singular_values_": unit.outward(deviations * np.sqrt(n - 1)),
            "noise_variance_": float(unit.outward(noise, 2)),
        }
        if self.whiten:  # unit vectors nevertheless
            found["components_"] = (made.directions * deviations).T
        return found


def _number(found: PrincipalAxes, asked: Any, total: float, n: int, d: int) -> int:
    """Number of components of the map; the evidence is that of rows which are n by their weights, `total`."""
    if isinstance(asked, Integral):
        return int(asked)
    if asked is None:
        return min(n, d)
    number = len(found.variances)
    if asked == "mle":
        evidence = log_evidence(found.variances, total, d)
        number = 1 + int(evidence.argmax()) if evidence.size else number
    return max(1, number)
