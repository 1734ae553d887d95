"""Kernel Isomap: Isomap whose kernel is made a Mercer kernel, that is, positive semidefinite.

    D_ij = length of the shortest path from i to j along the graph;    K(A) = −½ H A H
    c* = the smallest c for which d~ = d + c (off the diagonal) is Euclidean
    K~ = K(D²) + 2c* K(D) + ½c*² H = −½ H D~² H
    new point: y(x) = −½ Λ^½ (Λ − ½c*²)^-1 Vᵀ (d~²(x, ·) − column means of D~²), with d~ = d + c*

Choi, Choi, Mercer kernel Isomap; Cailliez, Psychometrika 48 (1983). Errata of the paper: eq (4) repeats D~
where D is meant, eq (9) needs d~ instead of d, and eq (11) lacks the factor Λ^-½, without which training points would
not be mapped to their own coordinates. With Λ^-½ alone new points would be shrunk by ½c*²/λ, because D~ is 0 and not
c* between a training point and itself (kernels/mercer.py).
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
from gramfold.kernels.mercer import CLIP_MATRICES, Repair, check_streamed


@method
class KernelIsomap(Geodesics, Embedding):
    """Kernel Isomap: Isomap with a kernel that is repaired to be positive semidefinite.

    With landmarks, the kernel over the landmarks is repaired, and the other rows are embedded out-of-sample.

    Examples
    --------
    >>> from gramfold import KernelIsomap
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(500, random_state=0)
    >>> model = KernelIsomap(n_neighbors=8).fit(roll.points[:400])
    >>> bool(model.c_ > 0), model.negative_part().mass < 1e-9 < model.negative_part(before_repair=True).mass
    (True, True)
    >>> model.transform(roll.points[400:]).shape
    (100, 2)
    """

    repair: Repair | None = parameter(
        default="constant",
        allowed=[StrOptions({"constant", "shift", "clip"}), None],
        words="""How the kernel is made positive semidefinite. "constant": add a constant to the geodesic distances.
        "shift": add a constant to the squared geodesic distances. "clip": set negative eigenvalues to 0. None: not at
        all, which is Isomap.""",
    )

    c_ = attribute(
        "float",
        """The constant added to the geodesic distances (of the largest connected component). It is 0 unless `repair` is
        "constant".""",
    )

    def _build(self, fit: Fit) -> Model:
        memory = PathMemory(self, fit.X.shape[0], fit.X.dtype.itemsize, CLIP_MATRICES if self.repair == "clip" else 0)
        fit.forecast_graph(self, memory.beside, memory.advice)
        paths = memory.plan(fit.X.dtype, fit.n_jobs)
        if memory.streams:
            check_streamed(self.repair)
        graph = fit.graph(self, arrange=paths.arrange)

        def kernel(part: Component, fit: Fit) -> Built:
            walks = paths.squared(part, fit.rng, fit.stages)  # (n, n), or (n, landmarks)
            gram = path_gram(walks, part.graph.multiplicity, self.repair)
            return Built(gram, GeodesicPlacement(self.conformal), {"c_": gram.constant})

        power = 0.0 if self.conformal else 1.0  # conformal lengths are relative to those of other edges
        return judged(fit, fit.solve(graph, kernel, power=power), self)
