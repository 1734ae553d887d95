"""Modified locally linear embedding: several independent weight vectors reconstruct each point.

    G_i = V Λ Vᵀ, the local Gram matrix around x_i;   w_i = LLE's weights;   V_s = the eigenvectors of its s_i
    smallest eigenvalues;   α = |V_sᵀ 1|/√s;   H = 1 − 2hhᵀ, the reflection with H V_sᵀ 1 = α 1
    W_i = V_s H + (1 − α) w_i 1ᵀ, s_i weight vectors;   P = Σ_i Σ_l |y_i − Σ_j W_i(j, l) y_j|²
    s_i = the most with Σ(its s smallest λ) ≤ η Σ(the others), s ≤ k − d;   η = median of that ratio at s = k − d
    P y = λ y, smallest λ > 0;   new point: y(x) = Σ_j w_j(x) y_j

Zhang, Wang, NIPS 19 (2006).
"""

import numpy as np

from gramfold.embedding import (
    Built,
    Component,
    Embedding,
    Fit,
    Model,
    Neighborhood,
    Rebuilding,
    attribute,
    judged,
    method,
)
from gramfold.extension.barycentric import Barycentric
from gramfold.kernels.alignment import aligned_kernel
from gramfold.kernels.definite import DefiniteGrams, Grams
from gramfold.kernels.local import local_memory, solve_locally
from gramfold.kernels.reconstruction import ridges
from gramfold.types import Floats, Graph, Integers

# Eigenvalues of a local Gram matrix below this share of the largest are rounding.
_RANK_CUT = 1e-13
_NO_REFLECTION = 1e-12  # V_sᵀ 1 already points along 1


@method
class ModifiedLLE(Rebuilding, Neighborhood, Embedding):
    """Modified LLE: LLE with several reconstruction weight vectors for each neighbourhood.

    Notes
    -----
    The local dimension d is `n_components`, and a neighbourhood needs at least d + 1 neighbours. scikit-learn's
    ``method="modified"`` uses a ridge of 1e-3 whatever its `reg`, and lets s_i exceed k − d.

    Examples
    --------
    >>> from gramfold import ModifiedLLE
    >>> from gramfold.datasets import make_s_curve
    >>> curve = make_s_curve(500, random_state=0)
    >>> model = ModifiedLLE(n_neighbors=12).fit(curve.points[:400])
    >>> model.transform(curve.points[400:]).shape
    (100, 2)
    """

    eta_ = attribute(
        "float",
        """Threshold η on the variance outside of the tangent space, relative to that within it, which sets the number
        of weight vectors of each neighbourhood. It is the median over the neighbourhoods (of the largest connected
        component).""",
    )

    def _build(self, fit: Fit) -> Model:
        fit.forecast_graph(self, local_memory(self.n_neighbors))
        graph = fit.graph(self, least=self.n_components + 1)
        return judged(fit, fit.solve(graph, self._kernel), self)

    def _kernel(self, part: Component, fit: Fit) -> Built:
        d, width = self.n_components, fit.width
        patches = DefiniteGrams(part.grams, len(part), euclidean=part.index.euclidean)
        eta = typical_thickness(part.graph, patches, d, width, fit.n_jobs)
        kernel = aligned_kernel(
            part.graph, patches, lambda grams: many_weights(grams, d, self.reg, eta), width, fit.n_jobs
        )
        patches.warn_of_much()
        return Built(kernel, Barycentric(self.reg), {"eta_": eta})


def typical_thickness(graph: Graph, grams: Grams, d: int, width: int, n_jobs: int | None) -> float:
    """Median η over the rows of Σ(the k − d smallest) / Σ(the others) of the eigenvalues of their local Gram matrix."""
    ratios = np.empty(len(graph))

    def work(rows: Integers, places: Integers) -> None:
        values = np.linalg.eigvalsh(grams(rows, graph.neighbors.indices[places]))
        ratios[rows] = thickness(values)[:, -d]

    solve_locally(work, graph.neighbors, width, n_jobs)
    return weighted_median(ratios, graph.multiplicity)


def weighted_median(values: Floats, weights: Floats) -> float:
    """The median where each value counts as its weight says; the mean of two that have half of the weight each."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    half = 0.5 * below[-1]
    middle = [np.searchsorted(below, half, "left"), np.searchsorted(below, half, "right")]
    return float(values[order[np.minimum(middle, len(values) - 1)]].mean())


def thickness(values: Floats) -> Floats:
    """Σ(the s smallest) / Σ(the others) of ascending eigenvalues (b, k), for s = 1, …, k − 1; 0 where all are 0."""
    sums = np.cumsum(np.where(values > _RANK_CUT * values[:, -1:], values, 0.0), axis=1)
    smallest, others = sums[:, :-1], sums[:, -1:] - sums[:, :-1]
    return np.asarray(np.divide(smallest, others, out=np.zeros_like(others), where=others > 0))


def many_weights(grams: Floats, d: int, reg: float, eta: float) -> Floats:
    """Local penalty (b, k + 1, k + 1) on the residuals of the s_i reconstructions of a row; the row itself first."""
    k = grams.shape[1]
    values, vectors = np.linalg.eigh(grams)  # ascending
    ridge = ridges(values.sum(axis=1), reg)[:, None]
    w = (vectors @ (vectors.sum(axis=1) / (np.maximum(values, 0.0) + ridge))[:, :, None])[:, :, 0]
    w /= w.sum(axis=1, keepdims=True)
    s = np.maximum((thickness(values)[:, : k - d] <= eta).sum(axis=1), 1)
    taken = (np.arange(k) < s[:, None]).astype(np.float64)
    flat = vectors * taken[:, None, :]  # V_s, zeros for the other columns
    sums = flat.sum(axis=1)
    alpha = np.linalg.norm(sums, axis=1, keepdims=True) / np.sqrt(s)[:, None]
    h = alpha * taken - sums
    lengths = np.linalg.norm(h, axis=1, keepdims=True)
    h = np.where(lengths > _NO_REFLECTION, h / np.maximum(lengths, _NO_REFLECTION), 0.0)[:, None, :]
    weights = flat - 2.0 * (flat @ h.transpose(0, 2, 1)) * h + ((1.0 - alpha) * w)[:, :, None] * taken[:, None, :]
    misfit = np.concatenate([-taken[:, None, :], weights], axis=1)  # (b, k + 1, k)
    return np.asarray(misfit @ misfit.transpose(0, 2, 1))
