"""Principal component analysis: the directions along which the rows vary most.

    C = (1/n) Σ (x − mean)(x − mean)ᵀ;    C e = λ e;    y(x) = Eᵀ (x − mean)

Its Gram matrix K = (X − 1 meanᵀ)(X − 1 meanᵀ)ᵀ has the eigenvalues nλ. Coordinates are uncorrelated; no other p
directions rebuild the rows with a smaller squared error, which is the sum of the λ left out; of Gaussian rows no other
p keep more information. Burges, section 1.1; Pearson, Philosophical Magazine 2 (1901).
"""

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import method, parameter
from gramfold.projective.linear_projection import LinearProjection, Projection
from gramfold.projective.principal_axes import Solver, principal_axes
from gramfold.runtime.progress import Stages


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
    """

    svd_solver: Solver = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "covariance_eigh", "full", "arpack", "gram"})],
        words="""Who finds the directions: the covariance matrix, scikit-learn's PCA by all singular vectors ("full") or
        by ARPACK, or the eigenvectors of the Gram matrix, where columns outnumber rows or are many.""",
    )

    _attributes: ClassVar[str] = """
    explained_variance_ratio_ : ndarray of shape (n_found,)
        Share of the rows' variance along each direction.
    """

    @property
    def _accepts_sparse(self) -> bool:
        return True

    def _projection(self, rows: Any, stages: Stages) -> Projection:
        found = principal_axes(rows, self.n_components, self.svd_solver, self.n_jobs, self._moments)
        self.explained_variance_ratio_ = found.shares
        return Projection(found.mean, found.axes, found.solver, scatter=found.scatter)
