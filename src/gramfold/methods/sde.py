"""Semidefinite embedding: the kernel of largest variance that keeps the distances between neighbours.

    max tr K   over   K ⪰ 0,  Σ K = 0,  and for each kept pair   K_ii + K_jj − 2 K_ij  ≤  d_ij²   (or =, or ≈)
    new point: y(x) = Σ_j w_j(x) y_j, with the weights that reconstruct x from its neighbours

Weinberger, Sha, Saul, ICML 2004; Weinberger, Saul, CVPR 2004 (maximum variance unfolding).
"""

from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import (
    Built,
    Component,
    Embedding,
    Fit,
    GraphChoice,
    Model,
    Rebuilding,
    attribute,
    judged,
    method,
    parameter,
)
from gramfold.extension.barycentric import Barycentric
from gramfold.graph.neighbor_graph import NeighborGraph, graph_memory
from gramfold.kernels.definite import rebuilding_weights
from gramfold.kernels.landmarks import choose_landmarks
from gramfold.kernels.reconstruction import reconstruction_root
from gramfold.kernels.semidefinite import (
    FactorKernel,
    KeptPairs,
    angle_pairs,
    factored_spectrum_of,
    landmark_mixtures,
    neighbor_pairs,
)
from gramfold.kernels.unfolding import MOST_NEIGHBORS, rigid_neighbors, sheet_dimension
from gramfold.neighbors.index import VectorIndex
from gramfold.neighbors.sparse_rows import isometric_rows
from gramfold.runtime.memory import fits
from gramfold.sdp import low_rank
from gramfold.sdp.policy import Solver, least_memory, solve_problem
from gramfold.sdp.problem import Isometry, Problem, Solution
from gramfold.sdp.telling import progress, warn_if_pinned, warn_of_gap
from gramfold.types import Floats, Integers

PAPER_NEIGHBORS = 4  # of Weinberger et al. 2004


@method
class SDE(Rebuilding, GraphChoice, Embedding):
    """Semidefinite embedding (maximum variance unfolding): largest variance with neighbour distances kept.

    The learned kernel has the largest variance that the distances between neighbours allow, which unfolds the manifold.
    The number of its large eigenvalues shows the dimension of the manifold. The problem is convex, and `certificate_`
    bounds the distance of the kernel from the optimum.

    Examples
    --------
    >>> from gramfold import SDE
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(400, random_state=0)
    >>> model = SDE().fit(roll.points[:300])
    >>> bool(model.certificate_.gap <= 1e-3)  # within a thousandth of the optimum
    True
    >>> bool(model.spectrum_.eigenvalues.sum() > 0.9 * model.spectrum_.total)  # two dimensions
    True
    >>> model.transform(roll.points[300:]).shape
    (100, 2)
    """

    n_neighbors: Any = parameter(
        default="auto",
        allowed=[Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        words="""Number of neighbours of each row whose distances are kept. It must be smaller than the number of
        distinct rows. "auto": the smallest number, of at most 12, that makes the kept distances rigid: on a curve or
        sheet those between neighbours by themselves, otherwise those within neighbourhoods (`n_neighbors_` reports
        it); 4 for isometry="exact" and "slack".""",
        kw_only=False,
    )
    isometry: Isometry = parameter(
        default="nonexpansive",
        allowed=[StrOptions({"nonexpansive", "exact", "slack"})],
        words="""How strictly distances are kept. "nonexpansive": they may become shorter but not longer. "exact": they
        do not change. "slack": changes are penalised, with the weight `stiffness`. Exact distances may leave nothing to
        unfold, which gives a PinnedWarning.""",
    )
    pairs: Literal["auto", "neighbors", "angles"] = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "neighbors", "angles"})],
        words="""Which distances are kept. "neighbors": those between neighbours. "angles": also those between rows that
        are neighbours of the same row, which keeps the angles there (Weinberger et al. 2004). "auto": "angles" where
        rows lie on a curve or sheet (at least half of the neighbourhoods are flat) and memory allows it; otherwise,
        and for isometry="exact" and "slack", "neighbors". `pairs_` reports it.""",
    )
    solver: Solver = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "dense", "low-rank", "landmarks"})],
        words="""How the semidefinite program is solved. "dense": interior-point method on the whole kernel matrix.
        "low-rank": a low-rank factor of it, by an interior-point method, or for isometry="exact" and "slack" by
        Newton's method. "landmarks": each row is a fixed mixture of landmarks, and only their kernel is learned; faster
        but less accurate, only for isometry="nonexpansive". "auto": chosen by the forecast time and memory.""",
    )
    landmarks: int = parameter(
        default=100,
        allowed=[Interval(Integral, 3, None, closed="left")],
        words='Number of landmarks of solver="landmarks".',
    )
    stiffness: float = parameter(
        default=100.0,
        allowed=[Interval(Real, 0, None, closed="neither")],
        words="""Penalty weight C of changed distances for isometry="slack". A pair with the multiplier w
        (`certificate_.weights`) changes its distance by about w / (2C) of it. Multipliers grow with the number of
        rows, so that more rows need a larger C.""",
    )
    tol: float = parameter(
        default=1e-3,
        allowed=[Interval(Real, 0, 1, closed="neither")],
        words="""Convergence tolerance: the solver stops when `certificate_.gap` is at most this. No kernel then has
        more than 1 / (1 − tol) times the variance of the learned one.""",
    )
    max_iter: int = parameter(
        default=100,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Maximum number of iterations; reaching it gives a NotConvergedWarning.",
    )
    time_limit: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="""Time in seconds after which the solver stops, at the end of an iteration. The best kernel so far is
        returned, with its certificate and a NotConvergedWarning. None: no limit.""",
    )
    warm_start: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="Whether to start from the kernel of the previous fit, if it has the same number of rows and pairs.",
    )

    n_neighbors_ = attribute(
        "int or None",
        "Number of neighbours of each row; None where a radius was given, or the edges were.",
        lambda model: _number_of_neighbors(model.source.components.net),
    )
    pairs_ = attribute(
        "str", """Which distances were kept, "neighbors" or "angles", in the largest connected component."""
    )
    solution_ = attribute(
        "Solution",
        """How the kernel was computed: `solver`, `steps` (a report of each iteration), `seconds` and `converged`.""",
    )
    certificate_ = attribute(
        "Certificate",
        """Proved bounds on the optimum: `primal` (objective of the kernel), `upper_bound` (of the objective of any
        kernel), `gap` = 1 − primal / upper_bound, `max_violation` (largest relative error of a kept distance),
        `primal_uncertainty` (effect of these errors on the objective, for isometry="exact"), `pairs` (row indices of
        each kept pair; the first of duplicate rows) and `weights` (Lagrange multiplier of each kept pair).""",
        lambda model: model.found["solution_"].certificate,
    )
    n_iter_ = attribute("int", "Number of iterations.", lambda model: len(model.found["solution_"].steps))

    def _build(self, fit: Fit) -> Model:
        previous = fit.previous.parts if self.warm_start and fit.previous is not None else ()
        earlier = [part.found.get("solution_") for part in previous]
        fit.check_neighborhood(self)
        fit.check_components(fit.X.shape[0])
        fit.forecast(
            lambda n, _: graph_memory(n, self._most_neighbors) + self._memory(n),
            lambda: self._memory_advice(fit.X.shape[0]),
        )
        hood, net = self._settled(fit)
        graph = fit.graph(hood, net=net)

        def kernel(part: Component, fit: Fit) -> Built:
            kept, pairs = self._kept(part)
            problem = self._problem(part, kept)
            solution = solve_problem(
                problem,
                solver=self.solver,
                tol=self.tol,
                max_iter=self.max_iter,
                time_limit=self.time_limit,
                start=_alike(earlier.pop(0) if earlier else None, problem),
                mixtures=None if part.index.given else lambda: self._mixtures(part, fit),
                known=self._as_they_lie(part),
                listen=lambda step: fit.stages.say(progress(step)),
            )
            warn_of_gap(solution, problem, self.tol)
            warn_if_pinned(solution, problem, self._as_they_lie(part))
            gram = FactorKernel.of(solution.coordinates, part.graph.multiplicity)
            return Built(
                gram, Barycentric(self.reg), {"solution_": _over_rows(solution, part.graph.rows), "pairs_": pairs}
            )

        return judged(fit, fit.solve(graph, kernel, power=1.0, choose=factored_spectrum_of), hood)

    @property
    def _most_neighbors(self) -> int:
        """At most so many, before rows are seen."""
        if self.n_neighbors != "auto":
            return int(self.n_neighbors)
        return MOST_NEIGHBORS if self.isometry == "nonexpansive" else PAPER_NEIGHBORS

    def _settled(self, fit: Fit) -> tuple[Self, NeighborGraph | None]:
        """The same settings with a number of neighbours, and the neighbours where they were needed to choose it."""
        if self.n_neighbors != "auto":
            return self, None
        hood = copy(self)
        given = not isinstance(self.search, str) or (fit.reads.precomputed and issparse(fit.X))
        if given or self.radius is not None or self.isometry != "nonexpansive":
            hood.n_neighbors = PAPER_NEIGHBORS
            return hood, None
        hood.n_neighbors = 1  # which there always is, unless all rows are equal
        net = rigid_neighbors(fit.neighbors(hood))
        hood.n_neighbors = net.n_neighbors
        return hood, net

    def _memory(self, n: int, isometry: Isometry | None = None) -> float:
        k = min(self._most_neighbors, n)
        kept = n * k if self.pairs != "angles" else n * k * (k + 1) // 2  # at most
        return least_memory(n, kept, isometry or self.isometry, self.solver)

    def _memory_advice(self, n: int) -> list[str]:
        instead = graph_memory(n, self._most_neighbors) + self._memory(n, "nonexpansive")
        if self.isometry == "nonexpansive" or not fits(instead):
            return []
        return ['or use isometry="nonexpansive", which needs far less']

    def _kept(self, part: Component) -> tuple[KeptPairs, Literal["neighbors", "angles"]]:
        """The pairs whose distances are kept, and which they are."""
        graph = part.graph
        if self.pairs == "angles":
            return angle_pairs(graph, part.index.distances_between), "angles"
        if self.pairs == "auto" and self.isometry == "nonexpansive" and not part.index.given:
            sheet = sheet_dimension(graph.neighbors, part.grams) is not None
            kept = angle_pairs(graph, part.index.distances_between) if sheet else None
            if kept is not None and (self.solver == "landmarks" or self._fits(part, kept)):
                return kept, "angles"
        return neighbor_pairs(graph), "neighbors"

    def _fits(self, part: Component, kept: KeptPairs) -> bool:
        """Whether there is memory for these pairs and what fills in."""
        entries = low_rank.elimination_of(self._problem(part, kept)).entries
        return fits(low_rank.memory(len(part), len(kept.pairs), entries))

    def _problem(self, part: Component, kept: KeptPairs) -> Problem:
        return Problem.of(
            kept.pairs,
            kept.distances,
            mass=part.graph.multiplicity,
            isometry=self.isometry,
            stiffness=self.stiffness,
            names=part.graph.rows,
        )

    def _mixtures(self, part: Component, fit: Fit) -> Floats:
        """Each vertex as a mixture of landmarks, which are selected by farthest-point sampling."""
        lists, n = part.graph.neighbors, len(part)
        # the vertex with the most distant neighbours comes first, whatever the order of the rows
        start = int(np.argmax(lists.farthest))
        chosen = choose_landmarks("maxmin", part.distances_from, n, min(n, self.landmarks), fit.rng, start=start)
        weights = rebuilding_weights(lists, part.grams, part.index, self.reg, fit.width, fit.n_jobs)
        return landmark_mixtures(reconstruction_root(weights, np.ones(n)), chosen)

    def _as_they_lie(self, part: Component) -> Floats | None:
        """Rows of the vertices, if the kept distances are Euclidean; otherwise None."""
        if self.metric != "euclidean" or not isinstance(part.index, VectorIndex):
            return None
        points = part.index.points[part.graph.vertices]
        if not issparse(points):
            return np.asarray(points, dtype=np.float64)
        # no more columns than rows: turned, they are as far apart
        return isometric_rows(points)


def _number_of_neighbors(net: NeighborGraph) -> int | None:
    return None if net.radius is not None or net.index.given else net.n_neighbors


def _over_rows(solution: Solution, rows: Integers) -> Solution:
    """The solution with pairs of data rows instead of vertices."""
    return replace(solution, certificate=replace(solution.certificate, pairs=rows[solution.certificate.pairs]))


def _alike(start: Solution | None, problem: Problem) -> Solution | None:
    """The solution of an earlier fit, if it has the same number of rows and pairs; otherwise None."""
    if start is None or len(start.coordinates) != len(problem):
        return None
    return start if len(start.certificate.weights) == len(problem.pairs) else None


MaximumVarianceUnfolding = SDE  # the name that its authors gave it next
