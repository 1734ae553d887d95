"""Projection pursuit: directions along which the rows look least Gaussian.

    z = (x − mean) · W, white: mean 0, covariance I;    a = argmax of index(Z a) over |a| = 1 and a ⊥ those before
    y(x) = (x − mean) · W A, uncorrelated and of variance 1

The map is kernel PCA on its own Gram matrix Z A Aᵀ Zᵀ, whose eigenvalues are all n. Burges, section 1; Friedman, Tukey,
IEEE Transactions on Computers C-23 (1974); Huber, Annals of Statistics 13 (1985).
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import method, parameter
from gramfold.errors import InputError, NotConvergedWarning, RankWarning
from gramfold.kernels.linear import project
from gramfold.projective.direction_search import best_direction
from gramfold.projective.linear_projection import LinearProjection, Projection, warn_of_little
from gramfold.projective.principal_axes import principal_axes
from gramfold.projective.projection_index import IndexName, make_index
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats

# Directions of less variance than this share of the largest are rounding (of float32 rows too), which whitening would
# blow up to the size of everything else.
_RANK_CUT = 1e-10
_STARTS = 2  # per direction
_FEW = 5  # rows per direction: with fewer nearly any shape can be found, whether it is there or not


@method
class ProjectionPursuit(LinearProjection):
    """Projections that show structure which variance does not: clusters, gaps, heavy or cut-off tails.

    Attributes
    ----------
    index_values_ : ndarray of shape (n_components,)
        The index along each column of the map, largest first.
    n_iter_ : int
        Steps of the longest climb.

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

    _judged: ClassVar[bool] = True  # its direction may be that of a single row

    index: IndexName | Callable[[Floats], float] = parameter(
        default="negentropy",
        allowed=[StrOptions({"kurtosis", "negentropy", "friedman-tukey"}), callable],
        words="""What is interesting: "negentropy" (any shape but the Gaussian's, by bounded functions), "kurtosis"
        (tails; few rows decide), "friedman-tukey" (clusters), or a function of the values along a direction (mean 0,
        variance 1) that is larger where they are more interesting.""",
    )
    radius: float = parameter(
        default=0.5,
        allowed=[Interval(Real, 0, None, closed="neither")],
        words='How far the "friedman-tukey" index looks for near values, in standard deviations.',
    )
    n_starts: int | None = parameter(
        default=None,
        allowed=[Interval(Integral, 1, None, closed="left"), None],
        words="""Climbs for each component, half of them from random directions; None stands for twice as many as the
        rows have directions.""",
    )
    max_iter: int = parameter(
        default=300, allowed=[Interval(Integral, 1, None, closed="left")], words="Steps of a climb; a warning says so."
    )
    tol: float = parameter(
        default=1e-8,
        allowed=[Interval(Real, 0, None, closed="neither")],
        words="Slope of the index at which a climb is at its top.",
    )
    random_state: Any = parameter(default=0, allowed=["random_state"], words="Where climbs begin.")

    @property
    def _degree(self) -> int:
        return 0

    def _projection(self, rows: Any, stages: Stages) -> Projection:
        mean, whitener = self._whitening(rows)
        white = project(rows, mean, whitener)  # (n, r)
        index, rng = make_index(self.index, self.radius), check_random_state(self.random_state)
        n_starts = _STARTS * white.shape[1] if self.n_starts is None else self.n_starts
        turned, values, steps = np.empty((white.shape[1], 0)), [], []
        left = np.eye(white.shape[1])  # a basis of what is orthogonal to the directions found
        count = min(self.n_components, white.shape[1])
        for _ in stages.bar(range(count), count, "climbs"):
            found = best_direction(
                white @ left,
                index,
                n_starts=n_starts,
                max_iter=self.max_iter,
                tol=self.tol,
                rng=rng,
            )
            values.append(found.value)
            steps.append(found.steps)
            turned = np.column_stack([turned, left @ found.direction])
            left = np.linalg.svd(turned)[0][:, turned.shape[1] :]
        order = np.argsort(-np.array(values), kind="stable")
        self.index_values_ = np.pad(np.array(values)[order], (0, self.n_components - len(order)))
        self.n_iter_ = max([1, *steps])
        self._warn_unless_converged()
        directions = whitener @ turned[:, order]
        return Projection(mean, directions, f"L-BFGS from {n_starts} directions each", root=directions)

    def _warn_of_zeros(self, positive: int) -> None:
        warn_of_little(positive, self.n_components, np.sqrt(_RANK_CUT))

    def _whitening(self, rows: Any) -> tuple[Floats, Floats]:
        """The mean and W (d, r)."""
        n, d = rows.shape
        principal = principal_axes(rows, d, n_jobs=self.n_jobs, moments=self._moments)
        real = principal.variances > _RANK_CUT * principal.variances.max(initial=0.0)
        rank = int(real.sum())
        if rank == 0:
            raise InputError(
                f"all {n} rows are the same, so there is no direction to look along: pass rows that differ."
            )
        if n < _FEW * rank:
            warn(
                f"{n} rows vary along {rank} directions, so few that nearly any shape can be found among them by "
                f"chance: pass at least {_FEW * rank} rows, or reduce the columns first (PCA).",
                RankWarning,
            )
        return principal.mean, principal.axes[:, real] / np.sqrt(principal.variances[real])

    def _keeps_neighbors(self) -> bool:
        return False  # what it looks for may be where the rows vary least

    def _remedy(self) -> str:
        return "another index, or fewer columns (PCA first)"

    def _warn_unless_converged(self) -> None:
        if self.n_iter_ >= self.max_iter:
            warn(
                f"a climb was still rising after max_iter={self.max_iter} steps, so its direction may not be the best "
                "near by: raise max_iter, or tol.",
                NotConvergedWarning,
            )
