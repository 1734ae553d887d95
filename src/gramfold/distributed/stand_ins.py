"""A few rows with masses, in the place of all rows of a table in partitions.

    stand-ins:  mean ± h R/√n for the rows h of a Hadamard matrix, Rᵀ R = S, all of the same mass; they add up to n
    edges:      rows of the table, with next to no mass, which is taken off the stand-ins:
                n' = n − Σ m,  δ = −Σ m z/n',  S' = S − Σ m z zᵀ − n' δ δᵀ = Rᵀ (I − Q Qᵀ) R,  z = x − mean

Any fit that sees rows only through their mean and scatter finds the same map for these as for all n rows. Along each
principal axis a stand-in is one standard deviation from the mean, so that the edges decide where the table ends.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import hadamard

from gramfold.distributed.moments import Moments
from gramfold.kernels.principal_axes import CARRIED
from gramfold.types import Floats

_EDGE = 1e-9  # mass of an edge, beside 1 of every row
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class StandIns:
    """See the module; edges come first."""

    rows: Floats  # (m, d)
    mass: Floats  # (m,)

    @classmethod
    def of(cls, moments: Moments, root: Floats, edges: Floats) -> "StandIns":
        """For rows of these moments, a root (r, d) of their scatter, and some of the rows themselves (k, d)."""
        away = edges - moments.mean
        n = moments.n - _EDGE * len(edges)
        shift = -_EDGE * away.sum(axis=0) / n
        taken = np.vstack([np.sqrt(_EDGE) * away, np.sqrt(n) * shift])
        signs = signs_for(len(moments.mean))
        made = moments.mean + shift + signs[:, : len(root)] @ _without(root, taken) / np.sqrt(n)
        made[:, ~moments.varies] = moments.least[~moments.varies]  # without rounding
        mass = np.concatenate([np.full(len(edges), _EDGE), np.full(len(signs), n / len(signs))])
        return cls(np.vstack([edges, made]), mass)


def signs_for(d: int) -> Floats:
    """±1 in d columns (m, d) that are orthogonal and add up to 0."""
    size = 1 << max(0, d - 1).bit_length()
    one: Any = hadamard(size)[:, :d]
    return np.vstack([one, -one]).astype(np.float64)


def root_of(scatter: Floats, varies: Any) -> Floats | None:
    """R (r, d) with Rᵀ R = S of orthogonal rows; None where S may have lost a direction that the rows have."""
    values, axes = np.linalg.eigh(scatter[np.ix_(varies, varies)])
    if len(values) and values[0] < CARRIED * values[-1]:
        return None
    return _spread(np.sqrt(values)[:, None] * axes.T, varies)


def root_of_triangle(triangle: Floats, varies: Any) -> Floats:
    """The same of the triangle (d, d) of the rows' QR decomposition, which carries all digits.

    Directions that are no more than its rounding have none.
    """
    _, sizes, axes = np.linalg.svd(triangle[:, varies])
    real = sizes > len(sizes) * _EPS * sizes[:1]
    return _spread(sizes[real][:, None] * axes[: len(sizes)][real], varies)


def _spread(rows: Floats, varies: Any) -> Floats:
    root = np.zeros((len(rows), len(varies)))
    root[:, varies] = rows
    return root


def _without(root: Floats, taken: Floats) -> Floats:
    """A root of Rᵀ R − Tᵀ T, of which T (k, d) is a small part; the rows of R are orthogonal."""
    Q = (root @ taken.T) / np.square(root).sum(axis=1)[:, None]  # (r, k)
    return np.asarray(np.linalg.cholesky(np.eye(len(root)) - Q @ Q.T).T @ root)
