"""The axes along which a signal varies most for the noise there.

    C n = q R n,   q = nᵀ C n / nᵀ R n;    R = U r Uᵀ,  root = U r^-½,  rootᵀ C root e = q e,  n = root e, so nᵀ R n = 1

R is regularised where it is singular: noise below a share of the largest is raised to it, which leaves a well
conditioned R as it is and follows R when it is scaled. Burges, section 1.4, eqs (1.16) and (1.17).
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from gramfold.errors import InputError, RankWarning
from gramfold.runtime.progress import beats
from gramfold.runtime.threads import blocks
from gramfold.runtime.warning import warn
from gramfold.spectral.dense import eigenpairs_between
from gramfold.types import Floats

SQUARES = 5  # d × d matrices held at once: C, R, its eigenvectors, the root, C in its basis
_ENTRIES_PER_BLOCK = 1_000_000
# R is a sum of squares: eigenvalues this much below the largest are its rounding.
_ROUNDING = 1e-13
_MOSTLY = 0.5  # share of an axis's noise


@dataclass(frozen=True)
class OrientedAxes:
    """The leading solutions of C n = q R n."""

    axes: Floats  # (d, p), nᵀ R n = 1
    quotients: Floats  # (p,) q, descending
    root: Floats  # (d, d) R = (root rootᵀ)⁻¹
    raised: int  # along how many directions R was raised
    invented: Floats  # (p,) share of nᵀ R n that was not measured but raised


def oriented_axes(signal: Floats, noise: Floats, count: int, reg: float) -> OrientedAxes:
    """The leading `count` axes of C and R; R raised to `reg` of its largest eigenvalue."""
    d = len(signal)
    if not np.isfinite(noise).all():
        raise InputError(
            "the differences X_distorted − X are so large that their squares overflow: check the unit of X_distorted."
        )
    measured, vectors = eigh(noise)
    largest = float(measured[-1])
    if largest <= 0:
        raise InputError(
            "the distorted rows are equal to X, so there is no noise to estimate: leave X_distorted out for white "
            "noise, or pass distorted rows."
        )
    floor = reg * largest
    level = np.maximum(measured, floor)
    if level[0] <= _ROUNDING * largest:
        rank = int((measured > _ROUNDING * largest).sum())
        raise InputError(
            f"the noise has rank {rank} of {d} and reg={reg:g} leaves its covariance singular, so that the "
            "signal-to-noise ratio is infinite along some directions: use a larger reg, or more distorted rows."
        )
    root = vectors / np.sqrt(level)
    values, turned = eigenpairs_between(root.T @ signal @ root, max(d - count, 0), d - 1)
    turned = turned[:, ::-1]
    return OrientedAxes(
        axes=root @ turned,
        quotients=np.maximum(values[::-1], 0.0),
        root=root,
        raised=int((measured < floor).sum()),
        invented=np.square(turned).T @ (1.0 - np.maximum(measured, 0.0) / level),
    )


def warn_of_invented(found: OrientedAxes, where: str = "") -> None:
    """Say it where the noise of an axis is mostly the regularisation's."""
    blind = int((found.invented > _MOSTLY).sum())
    if blind:
        warn(
            f"{blind} of {len(found.quotients)} components{where} point in directions with hardly any observed noise, "
            "where the noise level is set by reg and not by the data: pass more distorted rows, or use a larger reg.",
            RankWarning,
        )


def padded(values: Floats, count: int) -> Floats:
    """With zeros for components that were not found."""
    return np.pad(values, (0, count - len(values)))


def noise_correlation(rows: Floats, distorted: Floats, mass: Floats | None = None) -> Floats:
    """R = (1/mN) Σ z zᵀ over the differences z of distorted rows (N, m, d) from the rows: its mean is not taken off.

    `mass` (m,) is that of the rows; None: 1 each.
    """
    versions, m, d = distorted.shape
    total = np.zeros((d, d))
    with np.errstate(over="ignore", invalid="ignore"):  # said where it is used
        for version in distorted:
            for part in beats(blocks(m, max(1, _ENTRIES_PER_BLOCK // d))):
                difference = version[part].astype(np.float64) - rows[part]
                if mass is not None:
                    difference *= np.sqrt(mass[part])[:, None]
                total += difference.T @ difference
    return np.asarray(total / (versions * (m if mass is None else float(mass.sum()))))
