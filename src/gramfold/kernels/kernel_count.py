"""The number of kernels of a mixture of affine maps, and the memory that solving for it needs."""

from dataclasses import dataclass
from typing import Literal

from gramfold.kernels.transformational import solving_memory
from gramfold.runtime.memory import GIGABYTE, fits

_MOST_KERNELS = 200  # unless asked for
_ROWS_PER_FUNCTION = 4
_ADVISED_LOCAL_DIM = 3


@dataclass(frozen=True)
class KernelCount:
    """For rows of so many columns."""

    asked: int | Literal["auto"]
    local_dim: int | None
    columns: int
    n_components: int
    edges: float  # of each row

    def of(self, n: int) -> int:
        """Kernels of n rows."""
        if self.asked != "auto":
            return min(n, self.asked)
        fair = n // (_ROWS_PER_FUNCTION * self._functions)
        return min(n, max(self.n_components, min(_MOST_KERNELS, fair)))

    @property
    def _functions(self) -> int:
        """Of one kernel."""
        return 1 + (self.columns if self.local_dim is None else min(self.local_dim, self.columns))

    def memory(self, n: int, itemsize: int) -> float:
        """Bytes of n rows."""
        return self._bytes(n, self.of(n) * self._functions)

    def advice(self, n: int) -> list[str]:
        """What else would fit into memory, in words."""
        if self._functions <= 1 + _ADVISED_LOCAL_DIM:
            return []
        need = self._bytes(n, self.of(n) * (1 + _ADVISED_LOCAL_DIM))
        words = f"or use local_dim={_ADVISED_LOCAL_DIM}, which needs {need / GIGABYTE:.1f} GB"
        return [words] if fits(need) else []

    def _bytes(self, n: int, size: int) -> float:
        return graph_and_functions(self.edges, size, n)


def graph_and_functions(edges: float, size: int, n: int, _: int = 8) -> float:
    """Bytes of n rows of so many edges and so many functions: lists both ways and their graph, nothing factored."""
    return 200.0 * n * min(edges, n) + solving_memory(n, size)
