"""What the fit of a linear map takes of memory, known before it begins."""

from collections.abc import Callable
from dataclasses import dataclass

from gramfold.kernels.principal_axes import SMALL_SIDE
from gramfold.runtime.memory import fits

Beside = Callable[[int, int], float]  # bytes that so many rows of that itemsize need beside what all linear maps do


@dataclass(frozen=True)
class ProjectionMemory:
    """Bytes that the fit of a linear map needs beyond the rows."""

    columns: int
    dense: bool
    dimensions: int  # of the map, as far as they are known
    open_ended: bool  # whether it may have as many as rows and columns allow
    itemsize: int
    beside: Beside | None

    def need(self, n: int, itemsize: int) -> float:
        """Of n rows."""
        # the rows once more, centred and in float64; eigenvectors and places, and what they are made from; the smaller
        # of covariance and Gram matrix, a product to be added to it and its triangle; the directions, three times
        count = min(n, self.columns) if self.open_ended else self.dimensions
        small = min(n, self.columns, SMALL_SIDE)
        rows = 8.0 * n * (self.columns * self.dense + 6 * count)
        more = 0.0 if self.beside is None else self.beside(n, itemsize)
        return rows + 3 * 8.0 * (small**2 + self.columns * count) + more

    def advice(self) -> list[str]:
        """What else would fit: where a few rows do not, their columns are too many."""
        if fits(self.need(self.dimensions + 1, self.itemsize)):
            return []
        return ["or use fewer columns: reduce them first (PCA, sklearn.decomposition.TruncatedSVD)"]
