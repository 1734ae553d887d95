"""Kernel Isomap: Isomap whose kernel is made a Mercer kernel, so that it is the Gram matrix of real points.

    D_ij = shortest path from i to j along the graph;    K(A) = −½ H A H
    c* = the smallest c for which d~ = d + c (off the diagonal) is Euclidean
    K~ = K(D²) + 2c* K(D) + ½c*² H = −½ H D~² H
    new point: y(x) = −½ Λ^½ (Λ − ½c*²)^-1 Vᵀ (d~²(x, ·) − column means of D~²), with d~ = d + c*

Choi, Choi, Mercer kernel Isomap; Cailliez, Psychometrika 48 (1983). The paper's eq (4) repeats D~ where D is meant,
its eq (9) needs d~ in the place of d and its eq (11) the factor Λ^-½, or training points would not return. With Λ^-½
alone new points would be drawn in by ½c*²/λ, for D~ is 0 and not c* between a training point and itself (mercer.py).
"""

from dataclasses import replace

import numpy as np
from sklearn.utils._param_validation import StrOptions

from gramfold.embedding import GraphEmbedding, NewRows, Piece, method, parameter
from gramfold.extension.walk import walk_and_project
from gramfold.graph.geodesic import all_pairs, arranged
from gramfold.kernels.gram import GramKernel, square_in_place
from gramfold.kernels.mercer import CLIP_MATRICES, Repair, mercer_gram, repaired_spectrum
from gramfold.runtime.progress import Stages
from gramfold.types import Floats, Graph, Integers


@method
class KernelIsomap(GraphEmbedding):
    """Isomap with a positive semidefinite kernel.

    Attributes
    ----------
    c_ : float
        The constant added to every geodesic (of the largest piece); 0 under the other repairs.

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

    @property
    def _degree(self) -> float | None:
        return self._degree_of_distances

    def _memory(self, n: int, itemsize: int) -> float:
        dense = CLIP_MATRICES * 8.0 * n**2 if self.repair == "clip" else 0.0
        return float(n) ** 2 * itemsize + dense + super()._memory(n, itemsize)

    def _arranged(self, graph: Graph) -> Graph:
        return arranged(graph, n_jobs=self.n_jobs)

    def _kernel(self, graph: Graph, stages: Stages) -> GramKernel:
        walks = all_pairs(graph, self._dtype, self.n_jobs, stages)  # (n, n)
        # kept squared: one n × n matrix serves kernel, constant and new points
        return mercer_gram(square_in_place(walks), self.repair, mass=graph.multiplicity)

    def _solve(self, source: Graph, rows: Integers, stages: Stages) -> Piece:
        piece = super()._solve(source, rows, stages)
        return (
            piece if piece.kernel is None else replace(piece, spectrum=repaired_spectrum(piece.spectrum, piece.kernel))
        )

    def _place(self, piece: Piece, new: NewRows) -> Floats:
        places = np.zeros((len(new.met), self.n_components))
        found = walk_and_project(new.met, piece.kernel, piece.spectrum, self.n_jobs)
        places[:, : found.shape[1]] = found
        return places

    @property
    def c_(self) -> float:
        return float(getattr(self.kernel_, "constant", 0.0))
