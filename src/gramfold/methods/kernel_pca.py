"""Kernel PCA: principal components in the feature space of a kernel function.

    K_ij = k(x_i, x_j);    H K H v = λ v;    y(x) = Λ^-½ Vᵀ k_c(x, ·)
    landmarks: the exact eigenvectors of K̂ = C A† Cᵀ (Nyström), without any n × n matrix

Schölkopf, Smola, Müller, Neural Computation 10 (1998); Ham et al., ICML 2004, eqs (4)–(7).
"""

from gramfold.embedding import (
    Built,
    Embedding,
    Fit,
    KernelFunctions,
    Model,
    Reads,
    Storage,
    Whole,
    function_map,
    method,
)
from gramfold.extension.function_placement import FunctionPlacement, nystrom_kernel
from gramfold.kernels.streamed import STREAM, stream_width, streams_rows
from gramfold.kernels.values import CarriedValues, Missed


@method
class KernelPCA(KernelFunctions, Storage, Embedding):
    """Kernel PCA: principal components in the feature space of a kernel function.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramfold import KernelPCA
    >>> X = load_iris().data
    >>> model = KernelPCA(kernel="rbf").fit(X[::2])
    >>> model.transform(X[1::2]).shape
    (75, 2)
    """

    def _reads(self) -> Reads:
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return Reads(precomputed, sparse=not precomputed)

    def _build(self, fit: Fit) -> Model:
        streams = streams_rows(self.storage, "kernel", fit.reads.precomputed)
        return function_map(fit, self, self._kernel, streams=streams)

    def _kernel(self, known: CarriedValues, _: Whole, fit: Fit) -> Built:
        if known.landmarks is not None:
            return nystrom_kernel(known, fit.stages)
        if self.storage == STREAM:
            gram = known.values.streamed(known.rows, stream_width(self.n_components), known.mass)
        else:
            gram = known.values.gram(known.rows, fit.stages, known.mass)  # (n, n)
        return Built(gram, FunctionPlacement(known.values, known.carriers), Missed().found)
