"""Kernel Isomap: Isomap whose kernel is made a Mercer kernel, so that it is the Gram matrix of real points.

    D_ij = shortest path from i to j along the graph;    K(A) = −½ H A H
    c* = the smallest c for which d~ = d + c (off the diagonal) is Euclidean
    K~ = K(D²) + 2c* K(D) + ½c*² H = −½ H D~² H
    new point: y(x) = −½ Λ^½ (Λ − ½c*²)^-1 Vᵀ (d~²(x, ·) − column means of D~²), with d~ = d + c*

Choi, Choi, Mercer kernel Isomap; Cailliez, Psychometrika 48 (1983). The paper's eq (4) repeats D~ where D is meant,
its eq (9) needs d~ in the place of d and its eq (11) the factor Λ^-½, or training points would not return. With Λ^-½
alone new points would be drawn in by ½c*²/λ, for D~ is 0 and not c* between a training point and itself (mercer.py).
"""

from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import (
    Built,
    Component,
    Embedding,
    Fit,
    Geodesics,
    Model,
    attribute,
    judged,
    method,
    parameter,
)
from gramfold.extension.geodesic_placement import GeodesicPlacement
from gramfold.kernels.geodesic import PathMemory, path_gram
from gramfold.kernels.mercer import CLIP_MATRICES, Repair, repaired_spectrum


@method
class KernelIsomap(Geodesics, Embedding):
    """Isomap with a positive semidefinite kernel.

    With landmarks the kernel over them is repaired, and everybody else is placed as a new point.

    Examples
    --------
    >>> from gramfold import KernelIsomap
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(500, random_state=0)
    >>> model = KernelIsomap(n_neighbors=8).fit(roll.points[:400])
    >>> bool(model.c_ > 0), model.spectrum_.negative_mass < 1e-9 < model.spectrum_.negative_mass_before
    (True, True)
    >>> model.transform(roll.points[400:]).shape
    (100, 2)
    """

    repair: Repair | None = parameter(
        default="constant",
        allowed=[StrOptions({"constant", "shift", "clip"}), None],
        words="""How the kernel loses its negative part: a constant added to the geodesics, one added to their squares
        ("shift"), the negative part dropped ("clip"), or not at all (None, plain Isomap).""",
    )

    c_ = attribute("float", "The constant added to every geodesic (of the largest piece); 0 under the other repairs.")

    def _build(self, fit: Fit) -> Model:
        memory = PathMemory(self, fit.X.shape[0], fit.X.dtype.itemsize, CLIP_MATRICES if self.repair == "clip" else 0)
        fit.forecast_graph(self, memory.beside, memory.advice)
        paths = memory.plan(fit.X.dtype, fit.n_jobs)
        graph = fit.graph(self, arrange=paths.arrange)

        def kernel(part: Component, fit: Fit) -> Built:
            walks = paths.squared(part, fit.rng, fit.stages)  # (n, n), or (n, landmarks)
            gram = path_gram(walks, part.graph.multiplicity, self.repair)
            return Built(gram, GeodesicPlacement(self.conformal), {"c_": gram.constant})

        power = 0.0 if self.conformal else 1.0  # conformal lengths are relative to those of other edges
        return judged(fit, fit.solve(graph, kernel, power=power, choose=repaired_spectrum), self)
