"""A new point on a map of geodesics: it steps to its neighbours, walks the fitted graph, and is projected."""

from dataclasses import dataclass

from gramfold.extension.placement import NewRows, Part
from gramfold.extension.walk import walk_and_project
from gramfold.graph.conformal import conformal_steps
from gramfold.types import Floats


@dataclass(frozen=True)
class GeodesicPlacement:
    """d(x, j) = min over the neighbours i of x of |x − x_i| + D_ij, conformal lengths where the graph has them."""

    conformal: bool

    def place(self, new: NewRows, part: Part, n_jobs: int | None) -> Floats:
        """Coordinates (m, q)."""
        met = conformal_steps(new.met, new.graph) if self.conformal else new.met
        return walk_and_project(met, part.kernel, part.spectrum, n_jobs)
