"""Semidefinite embedding: the kernel of largest variance that keeps the distances between neighbours.

    max tr K   over   K ⪰ 0,  Σ K = 0,  and for each kept pair   K_ii + K_jj − 2 K_ij  ≤  d_ij²   (or =, or ≈)
    new point: y(x) = Σ_j w_j(x) y_j, with the weights that reconstruct x from its neighbours

Weinberger, Sha, Saul, ICML 2004; Weinberger, Saul, CVPR 2004 (maximum variance unfolding).
"""

from dataclasses import replace
from numbers import Integral, Real
from typing import Literal

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
from gramfold.graph.neighbor_graph import graph_memory
from gramfold.kernels.definite import rebuilding_weights
from gramfold.kernels.landmarks import choose_landmarks
from gramfold.kernels.reconstruction import reconstruction_root
from gramfold.kernels.semidefinite import (
    FactorKernel,
    angle_pairs,
    factored_spectrum_of,
    landmark_mixtures,
    neighbor_pairs,
)
from gramfold.neighbors.index import VectorIndex
from gramfold.neighbors.sparse_rows import isometric_rows
from gramfold.runtime.memory import fits
from gramfold.sdp.policy import Solver, least_memory, solve_problem
from gramfold.sdp.problem import Isometry, Problem, Solution
from gramfold.sdp.telling import progress, warn_if_pinned, warn_of_gap
from gramfold.types import Floats, Integers


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
    >>> model = SDE(n_neighbors=5).fit(roll.points[:300])
    >>> bool(model.certificate_.gap <= 1e-3)  # within a thousandth of the optimum
    True
    >>> bool(model.spectrum_.eigenvalues.sum() > 0.9 * model.spectrum_.total)  # two dimensions
    True
    >>> model.transform(roll.points[300:]).shape
    (100, 2)
    """

    n_neighbors: int = parameter(
        default=4,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="""Number of neighbours of each row whose distances are kept. It must be smaller than the number of
        distinct rows.""",
        kw_only=False,
    )
    isometry: Isometry = parameter(
        default="nonexpansive",
        allowed=[StrOptions({"nonexpansive", "exact", "slack"})],
        words="""How strictly distances are kept. "nonexpansive": they may become shorter but not longer. "exact": they
        do not change. "slack": changes are penalised, with the weight `stiffness`. Exact distances may leave nothing to
        unfold, which gives a PinnedWarning.""",
    )
    pairs: Literal["neighbors", "angles"] = parameter(
        default="neighbors",
        allowed=[StrOptions({"neighbors", "angles"})],
        words="""Which distances are kept. "neighbors": those between neighbours. "angles": also those between rows that
        are neighbours of the same row, which keeps the angles there (Weinberger et al. 2004).""",
    )
    solver: Solver = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "dense", "low-rank", "landmarks"})],
        words="""How the semidefinite program is solved. "dense": interior-point method on the whole kernel matrix.
        "low-rank": interior-point method on a low-rank factor of it, only for isometry="nonexpansive". "landmarks":
        each row is a fixed mixture of landmarks, and only their kernel is learned; faster but less accurate, only for
        isometry="nonexpansive". "auto": chosen by the forecast time and memory.""",
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
        fit.forecast_graph(self, lambda n, _: self._memory(n), lambda: self._memory_advice(fit.X.shape[0]))
        graph = fit.graph(self)

        def kernel(part: Component, fit: Fit) -> Built:
            problem = self._problem(part)
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
            return Built(gram, Barycentric(self.reg), {"solution_": _over_rows(solution, part.graph.rows)})

        return judged(fit, fit.solve(graph, kernel, power=1.0, choose=factored_spectrum_of), self)

    def _memory(self, n: int, isometry: Isometry | None = None) -> float:
        k = min(self.n_neighbors, n)
        kept = n * k if self.pairs == "neighbors" else n * k * (k + 1) // 2  # at most
        return least_memory(n, kept, isometry or self.isometry, self.solver)

    def _memory_advice(self, n: int) -> list[str]:
        instead = graph_memory(n, self.n_neighbors) + self._memory(n, "nonexpansive")
        if self.isometry == "nonexpansive" or not fits(instead):
            return []
        return ['or use isometry="nonexpansive", which needs far less']

    def _problem(self, part: Component) -> Problem:
        graph = part.graph
        among = self.pairs == "neighbors"
        kept = neighbor_pairs(graph) if among else angle_pairs(graph, part.index.distances_between)
        return Problem.of(
            kept.pairs,
            kept.distances,
            mass=graph.multiplicity,
            isometry=self.isometry,
            stiffness=self.stiffness,
            names=graph.rows,
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


def _over_rows(solution: Solution, rows: Integers) -> Solution:
    """The solution with pairs of data rows instead of vertices."""
    return replace(solution, certificate=replace(solution.certificate, pairs=rows[solution.certificate.pairs]))


def _alike(start: Solution | None, problem: Problem) -> Solution | None:
    """The solution of an earlier fit, if it has the same number of rows and pairs; otherwise None."""
    if start is None or len(start.coordinates) != len(problem):
        return None
    return start if len(start.certificate.weights) == len(problem.pairs) else None


MaximumVarianceUnfolding = SDE  # the name that its authors gave it next
