"""A neighbour graph of the rows, and how a new row meets it: what maps and clusterings of graphs share."""

from collections.abc import Mapping
from dataclasses import fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from gramfold.embedding.parameters import method, parameter
from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning, InputError
from gramfold.graph.connect import OnDisconnected
from gramfold.neighbors.duplicates import Collapse
from gramfold.neighbors.metrics import MetricName, degree
from gramfold.neighbors.precomputed import check_distances
from gramfold.neighbors.search import build_index
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Neighbors


@method
class NeighborGraph:
    """Parameters of a neighbour graph, its search index and its rule for new rows."""

    n_neighbors: int = parameter(
        default=8,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Neighbours of each row in the graph; a number not below that of distinct rows is an error.",
        kw_only=False,
    )
    radius: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="""If given, all rows within this distance are neighbours, and `n_neighbors` is left at its default, which
        is not used then: another number beside a radius is an error, for only one of them can count.""",
    )
    metric: MetricName = parameter(
        default="euclidean",
        allowed=[str, callable],
        words="""A metric of scipy.spatial.distance, a function of two rows, or ``"precomputed"``: dense distances, or
        a sparse graph whose stored entries are the edges.""",
    )
    metric_params: Mapping[str, Any] | None = parameter(
        default=None, allowed=[dict, None], words="More arguments of the metric."
    )
    neighbors: Any = parameter(
        default="auto",
        allowed=[StrOptions({"auto", "exact", "approximate"}), HasMethods(["fit", "transform"])],
        words="""How neighbours are searched: "auto", "exact", "approximate", or a scikit-learn neighbours transformer.
        "auto" is exact unless that would take far longer than everything else, and then warns.""",
    )
    on_disconnected: OnDisconnected = parameter(
        default="bridge",
        allowed=[StrOptions({"bridge", "largest", "separate", "error"})],
        words="""What to do when the graph falls into pieces: join them by their shortest gaps, embed only the largest
        (the other rows NaN), embed each by itself and lay them side by side, or refuse.""",
    )
    random_state: Any = parameter(
        default=None, allowed=["random_state"], words="Chooses the sample on which approximate neighbours are judged."
    )

    _attributes: ClassVar[str] = """
    neighbors_ : Neighbors
        Whom each distinct row chose, numbered by first occurrence; `recall` where the search was approximate.
    """

    def _validate_params(self) -> None:
        super()._validate_params()  # type: ignore[misc]
        default = next(one.default for one in fields(self) if one.name == "n_neighbors")
        # the default given in so many words looks the same, and does no harm
        if self.radius is not None and self.n_neighbors != default:
            raise InputError(
                f"n_neighbors={self.n_neighbors} and radius={self.radius:g} were both given, and only one of them can "
                f"say who is a neighbour: drop radius, or leave n_neighbors at its default ({default})."
            )

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _accepts_sparse(self) -> bool:
        return self._precomputed  # a neighbour graph

    unit_ = 1.0  # that rows are measured in; a fit has its own

    @property
    def _degree_of_distances(self) -> int | None:
        """The power of the rows' unit that distances come in; None where nobody knows, or a transformer finds them."""
        return degree(self.metric, self.metric_params) if isinstance(self.neighbors, str) else None

    @property
    def _unit_of_distances(self) -> float:
        """What a distance of the user's is divided by."""
        return self.unit_ ** (self._degree_of_distances or 0)

    @property
    def _radius(self) -> float | None:
        return None if self.radius is None else float(self.radius) / self._unit_of_distances

    def _memory(self, n: int, itemsize: int) -> float:
        # Lists both ways, their graph, and its factor, which at most is full: 200 to 470 bytes a neighbour on rolls of
        # 20,000 and 100,000 rows, 115 where all of 3,000 rows are neighbours.
        neighbors = float(n) * min(self.n_neighbors, n)
        return 150.0 * neighbors + min(350.0 * neighbors, 24.0 * float(n) ** 2)

    def _build_index(self, X: Any, n_jobs: int | None) -> Collapse:
        """The search index over the distinct rows; returns which rows are the same."""
        if self._precomputed:
            check_distances(X)
        self._index, collapse = build_index(
            X,
            metric=self.metric,
            metric_params=self.metric_params,
            neighbors=self.neighbors,
            n_neighbors=self.n_neighbors,
            radius=self._radius,
            n_jobs=n_jobs,
            random_state=check_random_state(self.random_state),
        )
        return collapse

    def _find_neighbors(self, stages: Stages) -> None:
        self.neighbors_ = replace(self._index.own(self.n_neighbors, self._radius, stages), recall=self._index.recall)

    def _reach(self) -> Floats | None:
        if self._index.given:
            return None
        if self._radius is not None:
            return np.full(self._index.size, self._radius)
        return self.neighbors_.farthest

    # --- new points

    def _meet(self, X: Any) -> Neighbors:
        """The vertices that a new row meets: its nearest, or those within the radius."""
        if self._radius is not None and not self._index.given:
            reach = np.full(X.shape[0], self._radius)
            return self._index.within(X, reach, np.zeros(self._index.size))
        return self._index.nearest(X, self.n_neighbors)

    def _meet_by_rule(self, X: Any) -> Neighbors:
        """The vertices that would share an edge with a new row if it were one more row of the graph."""
        if self._radius is not None or self._index.given:
            return NeighborGraph._meet(self, X)
        return self._index.joined(X, self.n_neighbors, self.neighbors_)

    def _reach_of(self, met: Neighbors) -> Floats | None:
        """How far new rows look that meet these vertices by the rule; None where their edges were given."""
        if self._index.given:
            return None
        if self._radius is not None:
            return np.full(len(met), self._radius)
        last = np.minimum(met.indptr[:-1] + self.n_neighbors, met.indptr[1:]) - 1
        return np.where(met.counts > 0, met.distances[last], 0.0)

    def _reach_out(self, X: Any, met: Neighbors) -> Neighbors:
        """Rows that meet nobody are handled as a piece of the graph is: joined, left out or refused."""
        alone = np.flatnonzero(met.counts == 0)
        if not alone.size:
            return met
        found = f"{alone.size} of {len(met)} new rows (first: row {alone[0]}) have no training row within reach"
        if self.on_disconnected == "error" or self._index.given:
            raise DisconnectedGraphError(f"{found}, so they have no place: use a larger radius or leave them out.")
        if self.on_disconnected == "largest":
            return met
        warn(
            f"{found}; each was joined to its nearest one, so its place is rough: a larger radius may help.",
            DisconnectedGraphWarning,
        )
        nearest = self._index.nearest(X[alone], 1)
        return Neighbors.from_pairs(
            np.concatenate([met.rows, alone[nearest.rows]]),
            np.concatenate([met.indices, nearest.indices]),
            np.concatenate([met.distances, nearest.distances]),
            (len(met), met.n_vertices),
        )
