"""How the edges of a neighbour graph are weighed: what maps and clusterings on its Laplacian share."""

from numbers import Real
from typing import ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding.parameters import method, parameter
from gramfold.errors import InputError
from gramfold.graph.affinity import Weights, Width, default_width, local_widths
from gramfold.types import Graph


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

    def _width_of(self, graphs: list[Graph], n_vertices: int) -> Width:
        """σ of graphs on some of this many vertices, by the largest of them (the first) or for each vertex."""
        if self.weights == "binary":
            return None
        if self.width != "self-tuning":
            return default_width(graphs[0]) if self.width is None else float(self.width)
        widths = np.full(n_vertices, np.nan)
        for graph in graphs:
            widths[graph.vertices] = local_widths(graph)
        return widths
