"""The engine of the methods whose kernel is a function of the graph's Laplacian.

They share the weights of the edges, the choice among the eigenvectors, and the rule for a new point: it gets edges
as the fitted graph has them, and the place that balances them (extension/average.py).
"""

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding.edge_weights import EdgeWeights
from gramfold.embedding.graph_embedding import GraphEmbedding, NewRows
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece
from gramfold.errors import PrecomputedInputError, RepeatedDirectionWarning
from gramfold.extension.average import average
from gramfold.graph.affinity import Width
from gramfold.kernels.diffusion import LaplacianKernel
from gramfold.kernels.sampling import kmeans_rows, uniform_rows
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.spectral.independent import NEW_DIRECTION, REPEATED, Directions, new_directions
from gramfold.types import Floats, Graph, Integers, Kernel, Neighbors, Spectrum

# Where the leading eigenvectors do not do, "independent" looks among this many, then twice as many, and at last.
_FIRST_LOOK, _LAST_LOOK = 16, 64
_LOOK_PER_COMPONENT = 4  # or this many for each component, if more


@method
class LaplacianEmbedding(EdgeWeights, GraphEmbedding):
    """Engine of Laplacian eigenmaps and its kin; not used by itself."""

    coordinates: Literal["leading", "independent"] = parameter(
        default="leading",
        allowed=[StrOptions({"leading", "independent"})],
        words="""The leading eigenvectors, with a warning where one is a function of those before it, or
        ("independent") the leading ones that are not.""",
    )

    landmarks: int | None = parameter(
        default=None,
        allowed=[Interval(Integral, 2, None, closed="left"), None],
        words="""If given, the graph has this many of the rows, and the others are placed on its map as new rows are
        (Nyström's formula for a graph: Bengio et al. 2004). None uses all rows.""",
    )
    landmark_choice: Literal["uniform", "kmeans"] = parameter(
        default="uniform",
        allowed=[StrOptions({"uniform", "kmeans"})],
        words="Landmarks are rows at random, or the rows nearest the centres of k-means.",
    )
    random_state: Any = parameter(
        default=None,
        allowed=["random_state"],
        words="Chooses landmarks, and the sample on which approximate neighbours are judged.",
    )

    _attributes: ClassVar[str] = """
    landmarks_ : ndarray of int or None
        Data rows that the graph has; None where it has all.
    """

    @abstractmethod
    def _kernel_of_weights(self, graph: Graph, width: Width) -> LaplacianKernel:
        """The kernel of a connected graph whose edges are weighed with this width."""

    def _memory(self, n: int, itemsize: int) -> float:
        # Lanczos holds twice as many vectors as it is asked for
        vertices = n if self.landmarks is None else min(n, self.landmarks)
        looked = 0 if self.coordinates == "leading" else 2 * self._last_look(vertices)
        return super()._memory(vertices, itemsize) + 8.0 * vertices * looked

    def _subset(self, X: Any) -> Integers | None:
        self.landmarks_ = None
        if self.landmarks is None or self.landmarks >= X.shape[0]:
            return None
        if self._precomputed:
            raise PrecomputedInputError(
                f"landmarks={self.landmarks} would place the other rows as new ones, and with metric='precomputed' "
                "their distances are not looked up: fit on the landmarks' own matrix and transform() the others."
            )
        random_state = check_random_state(self.random_state)
        if self.landmark_choice == "uniform":
            self.landmarks_ = uniform_rows(X.shape[0], self.landmarks, random_state)
        else:
            self.landmarks_ = kmeans_rows(X, self.landmarks, random_state)
        return self.landmarks_

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        graphs, rows_of = super()._sources(X, stages)
        self.width_ = self._width_of(graphs, self._index.size, self._unit_of_distances)
        return graphs, rows_of

    def _kernel(self, graph: Graph, stages: Stages) -> LaplacianKernel:
        width = self.width_
        return self._kernel_of_weights(graph, width[graph.vertices] if isinstance(width, np.ndarray) else width)

    # --- which eigenvectors

    def _spectrum(self, kernel: Kernel, count: int) -> Spectrum:
        spectrum = super()._spectrum(kernel, count)
        found = self._directions(kernel, spectrum, count)
        if self.coordinates == "leading":
            spectrum = replace(spectrum, novelty=found.novelty)
            self._warn_of_repeats(spectrum)
            return spectrum
        last, look = self._last_look(len(kernel.mass) - kernel.null.shape[1]), count
        while len(found.taken) < count and look < last:  # some repeat others: look further
            look = min(last, max(2 * look, _FIRST_LOOK, _LOOK_PER_COMPONENT * count))
            spectrum = super()._spectrum(kernel, look)
            found = self._directions(kernel, spectrum, count)
        if len(found.taken) < count:
            self._warn_of_few(len(found.taken), look)
        return replace(spectrum, novelty=found.novelty).take(found.taken)

    def _directions(self, kernel: Kernel, spectrum: Spectrum, count: int) -> Directions:
        penalty = kernel.penalty  # type: ignore[attr-defined]
        return new_directions(spectrum.eigenvectors, count, penalty)

    def _last_look(self, n: int) -> int:
        return min(n, max(_LAST_LOOK, _LOOK_PER_COMPONENT * self.n_components))

    def _warn_of_repeats(self, spectrum: Spectrum) -> None:
        assert spectrum.novelty is not None
        repeats = np.flatnonzero(spectrum.novelty < REPEATED)
        if repeats.size:
            told = ", ".join(f"coordinate {i + 1} ({1 - spectrum.novelty[i] ** 2:.0%})" for i in repeats)
            warn(
                f"{told} of the map repeats directions of those before it, which predict the given share of its "
                "variance: coordinates='independent' skips such eigenvectors.",
                RepeatedDirectionWarning,
            )

    def _keeps_neighbors(self) -> bool:
        novelty = self.spectrum_.novelty  # where coordinates repeat themselves, that was told, and is why
        return novelty is None or not bool((novelty < NEW_DIRECTION).any())

    def _warn_of_few(self, found: int, looked: int) -> None:
        warn(
            f"{found} of the first {looked} eigenvectors are independent and n_components={self.n_components} were "
            f"asked for: the last {self.n_components - found} columns of the map are zero; ask for fewer, or for "
            "coordinates='leading'.",
            RepeatedDirectionWarning,
        )

    # --- new points

    def _meet(self, X: Any) -> Neighbors:
        return self._meet_by_rule(X)

    def _place(self, piece: Piece, new: NewRows) -> Floats:
        places = np.zeros((len(new.met), self.n_components))
        count = len(piece.spectrum)
        places[:, :count] = average(
            new.met,
            piece.source,
            piece.coordinates[:, :count],
            width=piece.kernel.width,
            pull=piece.kernel.pull,
            penalties=piece.spectrum.penalties,
            normalized=piece.kernel.normalized,
            new_width=self._width_of_new(new.met, self._reach_of(new.met)),
        )
        return places
