"""Kernel PCA: principal components in the feature space of a kernel function.

    K_ij = k(x_i, x_j);    H K H v = λ v;    y(x) = Λ^-½ Vᵀ k_c(x, ·)

Schölkopf, Smola, Müller, Neural Computation 10 (1998); Ham et al., ICML 2004, eqs (4)–(7).
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import KernelEmbedding, Piece, method, parameter
from gramfold.extension.project import project
from gramfold.kernels.functions import (
    NAMES,
    SYNONYMS,
    KernelFunction,
    RowKernel,
    check_kernel,
    default_gamma,
)
from gramfold.kernels.gram import GramKernel, centered_gram
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks
from gramfold.types import Floats

_ENTRIES_PER_BLOCK = 4_000_000


@method
class KernelPCA(KernelEmbedding):
    """Kernel PCA with a kernel function of the rows.

    Attributes
    ----------
    gamma_ : float or None
        The γ used.
    width_ : float or None
        σ of the Gaussian, γ = 1/(2σ²).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramfold import KernelPCA
    >>> X = load_iris().data
    >>> model = KernelPCA(kernel="rbf").fit(X[:100])
    >>> model.transform(X[100:]).shape
    (50, 2)
    """

    kernel: KernelFunction = parameter(
        default="rbf",
        allowed=[StrOptions({*NAMES, *SYNONYMS, "precomputed"}), callable],
        words=""""linear", "poly", "rbf", "sigmoid", "cosine", "precomputed" or a function of two rows;
        "gaussian" and "polynomial" are other words for "rbf" and "poly".""",
    )
    gamma: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="""γ in the Gaussian exp(−γ|x−y|²), polynomial (γ⟨x,y⟩ + coef0)^degree and sigmoid kernels. None stands
        for 1/(2σ²) with σ² the total variance of the rows, half their mean squared distance (Gaussian), or for
        1/n_features (the others).""",
    )
    degree: float = parameter(
        default=3, allowed=[Interval(Real, 0, None, closed="neither")], words="Of the polynomial kernel."
    )
    coef0: float = parameter(
        default=1.0,
        allowed=[Interval(Real, None, None, closed="neither")],
        words="Of the polynomial and sigmoid kernels.",
    )
    kernel_params: Mapping[str, Any] | None = parameter(
        default=None, allowed=[dict, None], words="Passed to a function."
    )

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _accepts_sparse(self) -> bool:
        return not self._precomputed

    def _kernel(self, rows: Any, stages: Stages) -> GramKernel:
        self.gamma_, self.width_ = None, None
        if self._precomputed:
            check_kernel(rows)
            return centered_gram(rows)
        name = SYNONYMS.get(self.kernel, self.kernel) if isinstance(self.kernel, str) else self.kernel
        self.gamma_ = default_gamma(name, rows) if self.gamma is None else self.gamma
        if name == "rbf" and self.gamma_ is not None:
            self.width_ = float((2.0 * self.gamma_) ** -0.5)
        self._function = RowKernel(name, self.gamma_, self.degree, self.coef0, self.kernel_params or {})
        n = rows.shape[0]
        values = np.empty((n, n), dtype=rows.dtype)
        for part in stages.bar(parts := blocks(n, max(1, _ENTRIES_PER_BLOCK // n)), len(parts), "kernel"):
            values[part] = self._function(rows[part], rows)
        if callable(name):
            check_kernel(values)
        return centered_gram(values)

    def _place(self, piece: Piece, new: Any) -> Floats:
        n = piece.kernel.shape[0]
        places = np.empty((new.shape[0], self.n_components))
        for part in blocks(new.shape[0], max(1, _ENTRIES_PER_BLOCK // n)):
            fresh = new[part] if self._precomputed else self._function(new[part], piece.source)
            places[part] = project(piece.kernel.cross(fresh), piece.kernel, piece.spectrum)
        return places
