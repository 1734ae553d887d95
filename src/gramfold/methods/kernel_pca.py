"""Kernel PCA: principal components in the feature space of a kernel function.

    K_ij = k(x_i, x_j);    H K H v = λ v;    y(x) = Λ^-½ Vᵀ k_c(x, ·)

Schölkopf, Smola, Müller, Neural Computation 10 (1998); Ham et al., ICML 2004, eqs (4)–(7).
"""

from gramfold.embedding import FunctionEmbedding, method


@method
class KernelPCA(FunctionEmbedding):
    """Kernel PCA with a kernel function of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramfold import KernelPCA
    >>> X = load_iris().data
    >>> model = KernelPCA(kernel="rbf").fit(X[::2])
    >>> model.transform(X[1::2]).shape
    (75, 2)
    """
