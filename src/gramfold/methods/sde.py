"""Semidefinite embedding: the kernel of largest variance that keeps the distances between neighbours.

    max tr K   over   K ⪰ 0,  Σ K = 0,  and for each kept pair   K_ii + K_jj − 2 K_ij  ≤  d_ij²   (or =, or ≈)
    new point: y(x) = Σ_j w_j(x) y_j, with the weights that rebuild x from its neighbours

Weinberger, Sha, Saul, ICML 2004; Weinberger, Saul, CVPR 2004 (maximum variance unfolding).
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import BarycentricPlaces, method, parameter
from gramfold.embedding.all_or_nothing import all_or_nothing
from gramfold.errors import NotConvergedWarning, PinnedWarning
from gramfold.kernels.landmark import choose_landmarks
from gramfold.kernels.reconstruction import reconstruction_root, weight_matrix
from gramfold.kernels.semidefinite import FactorKernel, KeptPairs, angle_pairs, landmark_mixtures, neighbor_pairs
from gramfold.neighbors.index import VectorIndex
from gramfold.runtime.memory import fits
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.sdp.policy import Solver, least_memory, solve_problem
from gramfold.sdp.problem import Certificate, Isometry, Problem, Solution, Step
from gramfold.spectral.factored import factored_spectrum
from gramfold.types import Floats, Graph, Kernel, Spectrum

_PINNED = 1e-4  # relative: variance that was gained
_NEARLY_ALL, _UNMOVED = 0.9, 0.01  # so many of all pairs changed their distance by less


@method
class SDE(BarycentricPlaces):
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

    _attributes: ClassVar[str] = """
    certificate_ : Certificate
        `primal` (objective of the kernel), `upper_bound` (no kernel has more), `gap` = 1 − primal / upper_bound,
        `max_violation` (largest relative error of a kept distance), `primal_uncertainty` (exact form: what that is
        worth), `pairs` and `weights` (the multiplier of each kept pair). Pairs are of vertices of `graph_`:
        `graph_.rows[certificate_.pairs]` are data rows.
    solution_ : Solution
        How it was found: `solver`, `steps`, `seconds`, `converged`.
    n_iter_ : int
        Iterations of the solver.
    """

    @property
    def _degree(self) -> float | None:
        return self._degree_of_distances

    def _memory(self, n: int, itemsize: int) -> float:
        return self._memory_of(self.isometry, n, itemsize)

    def _memory_of(self, isometry: Isometry, n: int, itemsize: int) -> float:
        k = min(self.n_neighbors, n)
        kept = n * k if self.pairs == "neighbors" else n * k * (k + 1) // 2  # at most
        return super()._memory(n, itemsize) + least_memory(n, kept, isometry, self.solver)

    def _memory_advice(self, n: int, itemsize: int) -> list[str]:
        if self.isometry == "nonexpansive" or not fits(self._memory_of("nonexpansive", n, itemsize)):
            return []
        return ['or use isometry="nonexpansive", which is solved in far less']

    def _kernel(self, graph: Graph, stages: Stages) -> FactorKernel:
        kept = self._kept_pairs(graph)
        problem = Problem.of(
            kept.pairs,
            kept.distances,
            mass=graph.multiplicity,
            isometry=self.isometry,
            stiffness=self.stiffness,
            names=graph.rows,
        )
        solution = solve_problem(
            problem,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            start=self._start(problem),
            mixtures=None if self._index.given else lambda: self._mixtures(graph),
            known=self._as_they_lie(graph),
            listen=lambda step: stages.say(_words(step)),
        )
        self._warn(solution, problem, graph)
        self._solutions.append(solution)
        return FactorKernel.of(solution.coordinates, graph.multiplicity)

    def _kept_pairs(self, graph: Graph) -> KeptPairs:
        return neighbor_pairs(graph) if self.pairs == "neighbors" else angle_pairs(graph, self._index.distances_between)

    def _mixtures(self, graph: Graph) -> Floats:
        """Each vertex as a mixture of landmarks, spread as evenly as can be."""
        n = len(graph)
        chosen = choose_landmarks(
            "maxmin",
            lambda vertex: self._index.distances_from(int(graph.vertices[vertex]))[graph.vertices],
            n,
            min(n, self.landmarks),
            check_random_state(self.random_state),
            start=int(np.argmax(graph.neighbors.farthest)),  # the loneliest vertex, whatever the order of the rows
        )
        with self._definite(self._index.vertex_grams(graph.vertices), n) as grams:
            weights = weight_matrix(graph.neighbors, grams, self.reg, self.n_features_in_, self.n_jobs)
        return landmark_mixtures(reconstruction_root(weights, np.ones(n)), chosen)

    def _spectrum(self, kernel: Kernel, count: int) -> Spectrum:
        assert isinstance(kernel, FactorKernel)
        return factored_spectrum(kernel.factor, kernel.mass, count)

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "SDE":
        self._previous = getattr(self, "_solutions", []) if self.warm_start else []
        self._solutions: list[Solution] = []
        return super().fit(X, y)

    def _start(self, problem: Problem) -> Solution | None:
        number = len(self._solutions)
        if number >= len(self._previous):
            return None
        start = self._previous[number]
        alike = len(start.coordinates) == len(problem) and len(start.certificate.weights) == len(problem.pairs)
        return start if alike else None

    @property
    def solution_(self) -> Solution:
        """See the attributes."""
        return self._solutions[0]

    @property
    def certificate_(self) -> Certificate:
        """See the attributes."""
        return self.solution_.certificate

    @property
    def n_iter_(self) -> int:
        """See the attributes."""
        return len(self.solution_.steps)

    def _warn(self, solution: Solution, problem: Problem, graph: Graph) -> None:
        certificate = solution.certificate
        if not solution.converged:
            remedy = "more landmarks come nearer" if solution.solver == "landmarks" else "raise max_iter or time_limit"
            if solution.stalled:
                shortest, longest = np.sqrt([problem.squared.min(), problem.squared.max()])
                remedy = (
                    f"more iterations gain nothing (kept distances lie between {shortest:.1e} and {longest:.1e}); use "
                    "a larger tol, or leave out near-copies and outliers"
                )
            off = f", and distances off by up to {certificate.max_violation:.1e}" if self.isometry == "exact" else ""
            warn(
                f"the kernel has {certificate.primal:.6g} and at most {certificate.upper_bound:.6g} is possible, a gap "
                f"of {certificate.gap:.1e}{off} where tol={self.tol:g} was asked for: {remedy}.",
                NotConvergedWarning,
            )
        rows = self._as_they_lie(graph)
        if self.isometry == "exact" and rows is not None:
            unfolded = certificate.primal / problem.variance(problem.centered(rows))
            # far groups hold all of the variance, whatever is unfolded within them: there each pair counts alike
            moved = np.abs(pdist(solution.coordinates) / np.maximum(pdist(rows), np.finfo(float).tiny) - 1.0)
            if abs(unfolded - 1.0) < _PINNED and np.quantile(moved, _NEARLY_ALL) < _UNMOVED:
                warn(
                    f"the exact distances leave nothing to unfold: the kernel's variance is {unfolded:.4f} of that of "
                    'the rows as they lie. Use isometry="nonexpansive" or "slack", or fewer neighbours.',
                    PinnedWarning,
                )

    def _as_they_lie(self, graph: Graph) -> Floats | None:
        """The rows of the vertices, where their own distances are the ones that are kept."""
        if self.metric != "euclidean" or not isinstance(self._index, VectorIndex):
            return None
        return self._index.points[graph.vertices].astype(np.float64)


def _words(step: Step) -> str:
    return (
        f"iteration {step.iteration}, {step.seconds:.1f} s: {step.primal:.6g} of at most {step.upper_bound:.6g}, "
        f"gap {step.gap:.1e} ({step.words})"
    )


MaximumVarianceUnfolding = SDE  # the name that its authors gave it next
