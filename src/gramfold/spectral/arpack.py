"""What every call of SciPy's ARPACK is given beside its start, so that runs repeat to the last bit.

From SciPy 1.17 on ARPACK draws a new vector from `rng` where it meets an invariant subspace, by default from a
generator that is new each time. Earlier versions draw from a fixed one of their own and know no `rng`.
"""

from inspect import signature
from typing import Any

from scipy.sparse.linalg import eigsh

SEEDED: dict[str, Any] = {"rng": 0} if "rng" in signature(eigsh).parameters else {}
