"""Projection pursuit: directions along which the rows are least Gaussian.

    z = (x − mean) · W, white: mean 0, covariance I;    a = argmax of index(Z a) over |a| = 1 and a ⊥ the earlier a
    y(x) = (x − mean) · W A, uncorrelated and of variance 1

The map is kernel PCA on its own Gram matrix Z A Aᵀ Zᵀ, whose eigenvalues are all n. Burges 2005, section 1; Friedman,
Tukey, IEEE Transactions on Computers C-23 (1974); Huber, Annals of Statistics 13 (1985).
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

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
    refuse_weights,
)
from gramfold.embedding.degenerate import warn_of_degenerate_map
from gramfold.errors import InputError, NotConvergedWarning, RankWarning
from gramfold.extension.extrapolation import EUCLIDEAN
from gramfold.kernels.linear import project
from gramfold.kernels.plain_map import rows_by
from gramfold.kernels.principal_axes import principal_axes
from gramfold.kernels.projection import Projection, algebra_threads, projected_rows, vary_little
from gramfold.methods.projection_pursuit.direction_search import Climb, best_direction
from gramfold.methods.projection_pursuit.projection_index import IndexName, make_index
from gramfold.runtime.warning import warn
from gramfold.types import Floats

# Directions of less variance than this share of the largest are rounding (of float32 rows too), which whitening would
# amplify.
_RANK_CUT = 1e-10
_STARTS = 2  # per direction
_FEW = 5  # rows per direction: with fewer nearly any structure is found by chance
_REMEDY = "another index, or fewer columns (PCA first)"
_WITHOUT_WEIGHTS = "its projection index is a function of projected values, which have no weights"


@dataclass(frozen=True)
class _Whitening:
    """z = (x − mean) · whitener, of covariance I."""

    mean: Floats  # (d,)
    whitener: Floats  # (d, r)


@method
class ProjectionPursuit(LinearMap, Embedding):
    """Projection pursuit: linear projections that are as non-Gaussian as possible.

    They show structure that variance does not, such as clusters, outliers and skewed or heavy-tailed distributions.

    Examples
    --------
    >>> import numpy as np
    >>> from gramfold import ProjectionPursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((600, 5)) * [9, 7, 5, 3, 1]
    >>> X[:, 4] = rng.choice([-1.0, 1.0], 600) + 0.2 * rng.standard_normal(600)  # two clusters, the least variance
    >>> model = ProjectionPursuit(n_components=1).fit(X)
    >>> int(np.abs(model.components_ * X.std(axis=0)).argmax())
    4
    """

    unit_free = True  # rows are whitened first

    index: IndexName | Callable[[Floats], float] = parameter(
        default="negentropy",
        allowed=[StrOptions({"kurtosis", "negentropy", "friedman-tukey"}), callable],
        words="""Projection index that is maximised. "negentropy": any deviation from a Gaussian, robust to outliers.
        "kurtosis": heavy or light tails, sensitive to outliers. "friedman-tukey": clusters. A function: takes the
        values along a direction (mean 0, variance 1) and returns a number, larger where they are more interesting.""",
    )
    radius: float = parameter(
        default=0.5,
        allowed=[Interval(Real, 0, None, closed="neither")],
        words="""Radius of the "friedman-tukey" index, in standard deviations: values closer than this count as near.
        Not used by the other indices.""",
    )
    n_starts: int | None = parameter(
        default=None,
        allowed=[Interval(Integral, 1, None, closed="left"), None],
        words="""Number of directions from which the index is maximised for each component; half of them are random.
        None: twice the rank of X.""",
    )
    max_iter: int = parameter(
        default=300,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Maximum number of iterations from each start; reaching it gives a NotConvergedWarning.",
    )
    tol: float = parameter(
        default=1e-8,
        allowed=[Interval(Real, 0, None, closed="neither")],
        words="Convergence tolerance: iterations stop when the gradient of the index is below this.",
    )

    index_values_ = attribute(
        "ndarray of shape (n_components,)", "Projection index of each component, in descending order."
    )
    n_iter_ = attribute("int", "Largest number of iterations for a component.")

    def fit(self, X: Any, y: Any = None, **refused: Any) -> Self:  # type: ignore[override]
        """Find the directions of the largest projection index of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : ignored
            Not used, present for API consistency with scikit-learn.
        **refused : dict
            `sample_weight` is refused, and so is every other name.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if refused:
            refuse_weights(type(self).__name__, _WITHOUT_WEIGHTS, refused)
        return self._fit(X, y)

    def _reads(self) -> Reads:
        return Reads(checked=False)

    def _build(self, fit: Fit) -> Model:
        table, rng = first_look(fit), fit.rng
        with fit.stages("directions"), algebra_threads(fit.n_jobs, fit.X):
            white = _whitened(table, fit.n_jobs)
            rank = white.whitener.shape[1]
            n_starts = _STARTS * rank if self.n_starts is None else self.n_starts
            climbs, turned = self._climbs(project(table.rows, white.mean, white.whitener), n_starts, rng, fit)
            values = np.array([each.value for each in climbs])
            order = np.argsort(-values, kind="stable")
            n_iter = max([1, *(each.steps for each in climbs)])
            self._warn_unless_converged(n_iter)
            directions = white.whitener @ turned[:, order]
        solver = f"L-BFGS from {n_starts} directions each"
        projection = Projection(white.mean, directions, solver, root=directions)
        made = projected_rows(table.rows, projection, self.n_components, fit.stages, fit.n_jobs, _vary_little)
        values = np.pad(values[order], (0, self.n_components - len(order)))
        model = linear_model(fit, table, made, degree=0, found={"index_values_": values, "n_iter_": n_iter})
        # a direction may be that of a single row, and may be one along which the rows vary least
        warn_of_degenerate_map(model.embedding, rows_by(EUCLIDEAN, table.rows), _REMEDY, keeps_neighbors=False)
        return model

    def _climbs(self, white: Floats, n_starts: int, rng: Any, fit: Fit) -> tuple[list[Climb], Floats]:
        """The best maximum for each component, and the directions (r, p)."""
        rank = white.shape[1]
        index = make_index(self.index, self.radius)
        turned, climbs = np.empty((rank, 0)), []
        left = np.eye(rank)  # a basis of what is orthogonal to the directions found
        count = min(self.n_components, rank)
        for _ in fit.stages.bar(range(count), count, "components"):
            found = best_direction(
                white @ left, index, n_starts=n_starts, max_iter=self.max_iter, tol=self.tol, rng=rng
            )
            climbs.append(found)
            turned = np.column_stack([turned, left @ found.direction])
            left = np.linalg.svd(turned)[0][:, turned.shape[1] :]
        return climbs, turned

    def _warn_unless_converged(self, n_iter: int) -> None:
        if n_iter >= self.max_iter:
            warn(
                f"the projection index was still rising after max_iter={self.max_iter} iterations, so a direction may "
                "not be a local maximum: raise max_iter, or tol.",
                NotConvergedWarning,
            )


def _whitened(table: Table, n_jobs: int | None) -> _Whitening:
    n, d = table.rows.shape
    principal = principal_axes(table.rows, d, n_jobs=n_jobs, moments=table.moments)
    real = principal.variances > _RANK_CUT * principal.variances.max(initial=0.0)
    rank = int(real.sum())
    if rank == 0:
        raise InputError(f"all {n} rows are identical, so there is no direction to project on: pass rows that differ.")
    if n < _FEW * rank:
        warn(
            f"{n} rows vary along {rank} directions, and with so few rows almost any structure is found by chance: "
            f"pass at least {_FEW * rank} rows, or reduce the number of columns first (PCA).",
            RankWarning,
        )
    return _Whitening(principal.mean, principal.axes[:, real] / np.sqrt(principal.variances[real]))


def _vary_little(positive: int, asked: int) -> str:
    return vary_little(positive, asked, np.sqrt(_RANK_CUT))
