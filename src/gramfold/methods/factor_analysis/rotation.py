"""Factors turned so that each column has few large loadings.

    T = argmax Σ_k [Σ_j b_jk⁴ − (c/m) (Σ_j b_jk²)²],  B = L T,  Tᵀ T = I;    varimax c = 1, quartimax c = 0

A turn leaves the likelihood, the distances on the map and the kernel as they are. The maximum is climbed by
T ← U Vᵀ of the singular vectors of Lᵀ ∂/∂B, which never falls. Kaiser, Psychometrika 23 (1958).
"""

from typing import Literal

import numpy as np

from gramfold.errors import NotConvergedWarning
from gramfold.runtime.warning import warn
from gramfold.types import Floats

Rotation = Literal["varimax", "quartimax"]
_MOST_STEPS = 2_000
_SETTLED = 1e-12  # of the criterion


def simple_structure(loadings: Floats, kind: Rotation) -> Floats:
    """The rotation (p, p) of loadings (m, p), the factor with the largest sum of squares first."""
    m, p = loadings.shape
    turn, before = np.eye(p), 0.0
    if p == 0:
        return turn
    for _ in range(_MOST_STEPS):
        turned = loadings @ turn
        slope = turned**3
        if kind == "varimax":
            slope -= turned * (np.square(turned).sum(axis=0) / m)
        left, values, right = np.linalg.svd(loadings.T @ slope)
        turn, now = left @ right, float(values.sum())
        if now <= before * (1.0 + _SETTLED):
            break
        before = now
    else:
        warn(
            f"rotation={kind!r} did not converge in {_MOST_STEPS:,} iterations, because several rotations fit almost "
            "equally well: do not interpret individual loadings, or use rotation=None.",
            NotConvergedWarning,
        )
    order = np.argsort(-np.square(loadings @ turn).sum(axis=0), kind="stable")
    return np.asarray(turn[:, order])
