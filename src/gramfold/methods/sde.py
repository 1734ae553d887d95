"""Semidefinite embedding: the kernel of largest variance that keeps the distances between neighbours.

    max tr K   over   K ⪰ 0,  Σ K = 0,  and for each kept pair   K_ii + K_jj − 2 K_ij  ≤  d_ij²   (or =, or ≈)
    new point: y(x) = Σ_j w_j(x) y_j, with the weights that rebuild x from its neighbours

Weinberger, Sha, Saul, ICML 2004; Weinberger, Saul, CVPR 2004 (maximum variance unfolding).
"""

from dataclasses import replace
from numbers import Integral, Real
from typing import Literal

import numpy as np
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
from gramfold.runtime.memory import fits
from gramfold.sdp.policy import Solver, least_memory, solve_problem
from gramfold.sdp.problem import Isometry, Problem, Solution
from gramfold.sdp.telling import progress, warn_if_pinned, warn_of_gap
from gramfold.types import Floats, Integers


@method
class SDE(Rebuilding, GraphChoice, Embedding):
    """Semidefinite embedding, also known as maximum variance unfolding: a learned kernel, with its proof.

    Neighbours are pulled as far apart as their distances allow, which unfolds the sheet that they lie on. How many
    eigenvalues of the kernel are large tells the dimension of that sheet. The problem is convex, and
    `certificate_` says how far from its optimum the kernel can be at most.

    Examples
    --------
    >>> from gramfold import SDE
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(400, random_state=0)
    >>> model = SDE(n_neighbors=5).fit(roll.points[:300])
    >>> bool(model.certificate_.gap <= 1e-3)  # within a thousandth of the best kernel there is
    True
    >>> bool(model.spectrum_.eigenvalues.sum() > 0.9 * model.spectrum_.total)  # two dimensions
    True
    >>> model.transform(roll.points[300:]).shape
    (100, 2)
    """

    n_neighbors: int = parameter(
        default=4,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Neighbours of each row whose distances are kept; a number not below that of distinct rows is an error.",
        kw_only=False,
    )
    isometry: Isometry = parameter(
        default="nonexpansive",
        allowed=[StrOptions({"nonexpansive", "exact", "slack"})],
        words="""Whether a kept distance may become shorter but not longer, must stay, or should stay at a price
        (`stiffness`). The exact form may have nothing left to unfold: it then says so.""",
    )
    pairs: Literal["neighbors", "angles"] = parameter(
        default="neighbors",
        allowed=[StrOptions({"neighbors", "angles"})],
        words="""Which distances are kept: between neighbours, or also between rows that are neighbours of the same
        row, which keeps the angles there.""",
    )
    solver: Solver = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "dense", "low-rank", "landmarks"})],
        words="""Interior point methods on the whole matrix ("dense") or on a factor of it ("low-rank"), or the whole
        problem through a few landmarks; "auto" takes the one that is forecast to be quickest.""",
    )
    landmarks: int = parameter(
        default=100,
        allowed=[Interval(Integral, 3, None, closed="left")],
        words='How many landmarks solver="landmarks" has.',
    )
    stiffness: float = parameter(
        default=100.0,
        allowed=[Interval(Real, 0, None, closed="neither")],
        words="""C of isometry="slack": a pair under the tension w (`certificate_.weights`) changes its length by about
        w / 2C of it. Tensions grow with the number of rows, so that many rows want a larger C.""",
    )
    tol: float = parameter(
        default=1e-3,
        allowed=[Interval(Real, 0, 1, closed="neither")],
        words="The gap to prove: no kernel has more than 1 / (1 − tol) times the variance of this one.",
    )
    max_iter: int = parameter(
        default=100, allowed=[Interval(Integral, 1, None, closed="left")], words="Iterations at most."
    )
    time_limit: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="""Seconds after which the solver stops at the end of an iteration. What it has then is returned with its
        certificate and a warning, as at `max_iter`.""",
    )
    warm_start: bool = parameter(
        default=False,
        allowed=["boolean"],
        words="Begin at the kernel of the last fit where that has as many rows and pairs.",
    )

    solution_ = attribute("Solution", "How it was found: `solver`, `steps`, `seconds`, `converged`.")
    certificate_ = attribute(
        "Certificate",
        """`primal` (objective of the kernel), `upper_bound` (no kernel has more), `gap` = 1 − primal / upper_bound,
        `max_violation` (largest relative error of a kept distance), `primal_uncertainty` (exact form: what that is
        worth), `pairs` (data rows; the first of identical ones) and `weights` (the multiplier of each kept pair).""",
        lambda model: model.found["solution_"].certificate,
    )
    n_iter_ = attribute("int", "Iterations of the solver.", lambda model: len(model.found["solution_"].steps))

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
        return ['or use isometry="nonexpansive", which is solved in far less']

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
        """Each vertex as a mixture of landmarks, spread as evenly as can be."""
        lists, n = part.graph.neighbors, len(part)
        # the loneliest vertex comes first, whatever the order of the rows
        start = int(np.argmax(lists.farthest))
        chosen = choose_landmarks("maxmin", part.distances_from, n, min(n, self.landmarks), fit.rng, start=start)
        weights = rebuilding_weights(lists, part.grams, part.index, self.reg, fit.columns.count, fit.n_jobs)
        return landmark_mixtures(reconstruction_root(weights, np.ones(n)), chosen)

    def _as_they_lie(self, part: Component) -> Floats | None:
        """The rows of the vertices, where their own distances are the ones that are kept."""
        if self.metric != "euclidean" or not isinstance(part.index, VectorIndex):
            return None
        return part.index.points[part.graph.vertices].astype(np.float64)


def _over_rows(solution: Solution, rows: Integers) -> Solution:
    """With pairs of data rows, and not of vertices."""
    return replace(solution, certificate=replace(solution.certificate, pairs=rows[solution.certificate.pairs]))


def _alike(start: Solution | None, problem: Problem) -> Solution | None:
    """The solution of an earlier fit, where that has as many rows and pairs."""
    if start is None or len(start.coordinates) != len(problem):
        return None
    return start if len(start.certificate.weights) == len(problem.pairs) else None


MaximumVarianceUnfolding = SDE  # the name that its authors gave it next
