"""Kernel eigenmaps: a mixture of affine maps, the one that embeds the neighbour graph best.

    W_ij = 1/|x_i − x_j| on edges,  D = diag(W1)
    z(x) stacks p_k(x) · [x − μ_k; 1] over kernels k with centres μ_k, Σ_k p_k = 1
    Z W Zᵀ v = λ Z D Zᵀ v;    y(x) = vᵀ z(x) at every x;    the leading solution, the constant, is dropped

The eigenproblem has the size of z, not of the data. With a kernel on every row, too narrow to see another, it is
Laplacian eigenmaps; with one kernel it is an affine locality preserving projection.
Brand, IJCAI 2003.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding import ContinuousEmbedding, ContinuousPiece, Piece, method, parameter
from gramfold.errors import RankWarning
from gramfold.extension.judging import midway_misfits
from gramfold.kernels.basis import (
    Basis,
    MixtureBasis,
    in_line,
    nearest_centers,
    principal_axes_of,
    seen_axes,
    spacing_width,
)
from gramfold.kernels.sampling import kmeans_centers, uniform_rows
from gramfold.kernels.transformational import TransformationalMap, solving_memory
from gramfold.runtime.memory import GIGABYTE, fits
from gramfold.runtime.progress import Stages
from gramfold.runtime.warning import warn
from gramfold.types import Floats, Graph, Integers

_MOST_KERNELS = 200  # unless asked for
_ROWS_PER_FUNCTION = 4
_ADVISED_LOCAL_DIM = 3
# Midway between neighbours a continuous map is near the middle of their places. With enough rows for each function it
# was off by at most 0.6 of its spread on 99 of 100 edges, and held-out rows came back; off by 1 and more they did not.
_FAR_OFF, _EDGES_ALLOWED = 1.0, 0.01


@method
class KernelEigenmaps(ContinuousEmbedding):
    """Kernel eigenmaps: a continuous map of the whole data space.

    Examples
    --------
    >>> from gramfold import KernelEigenmaps
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(2000, height=60, random_state=0)
    >>> model = KernelEigenmaps(n_components=2, n_kernels=100).fit(roll.points[:1500])
    >>> model.transform(roll.points[1500:]).shape
    (500, 2)
    >>> model.kernel_.basis.size            # of the eigenproblem: 100 kernels, each an affine map of 3 columns
    400
    """

    n_neighbors: int = parameter(
        default=8,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Neighbours of each row in the graph; a number not below that of distinct rows is an error.",
    )
    n_kernels: int | None = parameter(
        default=None,
        allowed=[Interval(Integral, 1, None, closed="left"), None],
        words="""Kernels, at most one for each distinct row. None: 200, or fewer where that would leave less than 4 rows
        for each of their functions.""",
        kw_only=False,
    )
    centers: Literal["kmeans", "random"] = parameter(
        default="kmeans",
        allowed=[StrOptions({"kmeans", "random"})],
        words="Kernels sit at the centres of k-means, or at rows drawn at random.",
    )
    width: float | Literal["auto"] = parameter(
        default="auto",
        allowed=[Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        words="""σ of the kernels; "auto" is a quarter of the mean distance from a centre to the nearest other. Wider
        kernels reach across to neighbouring sheets, narrower ones have hard borders.""",
    )
    local_dim: int | None = parameter(
        default=None,
        allowed=[Interval(Integral, 0, None, closed="left"), None],
        words="""Principal axes of its own rows that each kernel sees; 0 leaves it a constant, None uses all columns.
        The eigenproblem has n_kernels · (local_dim + 1) unknowns.""",
    )
    random_state: Any = parameter(
        default=0,
        allowed=["random_state"],
        words="Chooses centres, and the sample on which approximate neighbours are judged.",
    )

    _attributes: ClassVar[str] = """
    centers_ : ndarray of shape (n_kernels, n_features)
        μ of the kernels (of the largest piece).
    width_ : float
        The σ used.
    midway_error_ : float
        Midway along 99 of 100 edges the map is no farther than this from the middle of their ends' places, in units
        of the map's spread (of the largest piece; without the bounds that `transform` keeps). Above 1 it cannot be
        trusted between the rows, and fit warns.
    """
    _invariant: ClassVar[bool] = False  # centres are drawn by row number

    def _basis(self, points: Floats, numbers: Integers) -> tuple[MixtureBasis, Integers]:
        n, d = len(numbers), points.shape[1]
        random_state, count = check_random_state(self.random_state), self._count(n, d)
        if self.centers == "random" or count == n:
            chosen = points[numbers[uniform_rows(n, count, random_state)]]
        else:
            chosen = kmeans_centers(points, numbers, count, random_state)
        chosen = chosen[in_line(chosen)].astype(np.float64)
        width = spacing_width(chosen) if self.width == "auto" else float(self.width) / self.unit_
        owner = nearest_centers(points, numbers, chosen)
        axes = None
        if self.local_dim is not None and self.local_dim < d:
            axes = principal_axes_of(points, numbers, chosen, owner, self.local_dim)
        basis = seen_axes(MixtureBasis(chosen, width, axes), points, numbers)
        return basis, np.argsort(owner, kind="stable")

    def _solve(self, source: Graph, rows: Integers, stages: Stages) -> Piece:
        piece = super()._solve(source, rows, stages)
        if len(source) > 1:
            self._judge_between(source, piece)
        return piece

    def _judge_between(self, source: Graph, piece: Piece) -> None:
        """With too few rows for its functions any graph can be embedded, by a map that swings between the rows."""
        numbers = self._first_rows[source.vertices]
        assert isinstance(piece, ContinuousPiece)
        assert piece.map is not None
        # zero columns of a map with fewer directions than asked for are right everywhere
        places = piece.coordinates[:, : piece.map.places.shape[1]]
        off = midway_misfits(source, self._points[numbers], places, piece.map.unbounded)
        if source is self.graph_:  # the largest piece
            self.midway_error_ = float(np.quantile(off, 1 - _EDGES_ALLOWED))
        share = float(np.mean(off > _FAR_OFF))
        if share > _EDGES_ALLOWED:
            count = piece.kernel.basis.size
            warn(
                f"midway along {share:.0%} of the edges the map is off the middle of their ends by more than its own "
                f"spread, so it cannot be trusted between the rows: {len(source)} distinct rows are few for the "
                f"{count} functions of the map; use fewer n_kernels, a smaller local_dim or centers='kmeans'.",
                RankWarning,
            )

    def _describe(self, basis: Basis, found: TransformationalMap) -> None:
        super()._describe(basis, found)
        assert isinstance(basis, MixtureBasis)
        self._mixture, self.centers_, self.width_ = basis, basis.centers, basis.width

    def _count(self, n: int, d: int) -> int:
        if self.n_kernels is not None:
            return min(n, self.n_kernels)
        fair = n // (_ROWS_PER_FUNCTION * self._functions(d))
        return min(n, max(self.n_components, min(_MOST_KERNELS, fair)))

    def _functions(self, d: int) -> int:
        """Of one kernel."""
        return 1 + (d if self.local_dim is None else min(self.local_dim, d))

    def _shares(self, way: str) -> Callable[[Floats], Any] | None:
        return self._mixture.responsibilities if way in {"auto", "mixture"} else None

    # --- memory

    def _size(self, n: int) -> int:
        d = int(getattr(self, "n_features_in_", 0))
        return self._count(n, d) * self._functions(d)

    def _memory_advice(self, n: int, itemsize: int) -> list[str]:
        d = self.n_features_in_
        if self._functions(d) <= 1 + _ADVISED_LOCAL_DIM:
            return []
        need = self._graph_memory(n) + solving_memory(n, self._count(n, d) * (1 + _ADVISED_LOCAL_DIM))
        words = f"or use local_dim={_ADVISED_LOCAL_DIM}, which needs {need / GIGABYTE:.1f} GB"
        return [words] if fits(need) else []
