"""How the edges of a neighbour graph are weighed: what maps and clusterings on its Laplacian share."""

from numbers import Real
from typing import ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding.parameters import method, parameter
from gramfold.errors import InputError
from gramfold.graph.affinity import Weights, Width, default_width, local_widths
from gramfold.types import Floats, Graph, Neighbors


@method
class EdgeWeights:
    """Parameters of the weights."""

    weights: Weights = parameter(
        default="binary", allowed=[StrOptions({"binary", "gaussian"})], words="Every edge weighs 1, or exp(−d²/2σ²)."
    )
    width: float | Literal["self-tuning"] | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), StrOptions({"self-tuning"}), None],
        words="""σ of Gaussian weights. None stands for the root mean square edge length; "self-tuning" puts σ_i σ_j in
        the place of σ², with σ_i the distance of a row to its 7th neighbour.""",
    )

    _attributes: ClassVar[str] = """
    width_ : float, ndarray or None
        The σ used; under "self-tuning" that of each distinct row.
    """

    def _validate_params(self) -> None:
        super()._validate_params()  # type: ignore[misc]
        if self.weights == "binary" and self.width is not None:
            raise InputError(
                f"width={self.width!r} is that of Gaussian weights and weights='binary' has none: use "
                "weights='gaussian', or leave width out."
            )

    def _width_of(self, graphs: list[Graph], n_vertices: int, unit: float) -> Width:
        """σ of graphs on some of this many vertices, in a unit: by the largest graph (the first), or of each."""
        if self.weights == "binary":
            return None
        if self.width != "self-tuning":
            return default_width(graphs[0]) if self.width is None else float(self.width) / unit
        widths = np.full(n_vertices, np.nan)
        for graph in graphs:
            widths[graph.vertices] = local_widths(graph.neighbors, graph.reach)
        return widths

    def _width_of_new(self, met: Neighbors, reach: Floats | None) -> Floats | None:
        """σ of new rows that meet these vertices and look as far as this, where each row has its own."""
        return local_widths(met, reach) if self.width == "self-tuning" else None
