"""The frame of an earlier map, in which an aligned one is shown: y_aligned = scale · y · rotation + shift."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramfold.embedding.parameters import attribute, method
from gramfold.errors import InputError
from gramfold.types import Floats, Integers, LeftOut, Plain


@dataclass(frozen=True, eq=False, repr=False)
class Alignment(Plain):
    """How a map was turned, mirrored, scaled and shifted onto an earlier one, and how well it fits.

    y_aligned = scale · y · rotation + shift, for y on the map as it was fitted.

    Attributes
    ----------
    rotation : ndarray of shape (n_components, n_components)
        Orthogonal; its determinant is −1 where the map was mirrored.
    scale : float
        Above 0.
    shift : ndarray of shape (n_components,)
        Added last.
    rows : ndarray of int of shape (n_common, 2)
        The rows in common: their numbers in the new and in the old map.
    residuals : ndarray of shape (n_common,)
        Distance of each of them from its old position, after alignment.
    misfit : float
        Root mean square residual, relative to the root mean square distance of the old positions from their mean. 0:
        the maps are identical; 1: no better than all rows at their mean.
    """

    rotation: Floats
    scale: float
    shift: Floats
    rows: Integers
    residuals: Floats
    misfit: float

    @property
    def mirrored(self) -> bool:
        """Whether the rotation is a reflection too."""
        return bool(np.linalg.det(self.rotation) < 0)

    def outward(self, places: Floats, dtype: Any) -> Floats:
        """Coordinates (m, p) in the frame of the earlier map."""
        with np.errstate(over="ignore", invalid="ignore"):
            shown = (self.scale * places.astype(np.float64)) @ self.rotation + self.shift
            shown = shown.astype(dtype, copy=False)
        if np.isinf(shown).any():
            raise InputError(
                f"aligned coordinates exceed {np.finfo(dtype).max:.1e}, the largest {np.dtype(dtype)}: divide the "
                "coordinates of the old map by a constant."
            )
        return np.asarray(shown)

    def inward(self, places: Floats) -> Floats:
        """The same on the map as it was fitted."""
        return np.asarray(((places.astype(np.float64) - self.shift) / self.scale) @ self.rotation.T)

    def outward_slopes(self, slopes: Floats) -> Floats:
        """Derivatives (m, p, d) of coordinates in the frame of the earlier map."""
        return np.asarray((self.scale * self.rotation.T) @ slopes, dtype=slopes.dtype)

    def outward_covariance(self, covariance: Floats) -> Floats:
        """Covariances (..., p, p) of coordinates in the frame of the earlier map."""
        return np.asarray(self.scale**2 * (self.rotation.T @ covariance @ self.rotation))

    def __repr__(self) -> str:
        turned = ", mirrored" if self.mirrored else ""
        rows = "" if isinstance(self.rows, LeftOut) else f"{len(self.rows):,} rows, "
        return f"Alignment({rows}misfit {self.misfit:.2g}, scale {self.scale:.3g}{turned})"


def _alignment(model: Any) -> Alignment | None:
    alignment: Alignment | None = model.alignment
    return alignment


@method
class Alignable:
    """What is known of every map that can be aligned with an earlier one."""

    alignment_ = attribute(
        "Alignment or None",
        """How `gramfold.align` brought the map into the frame of an earlier one: `rotation`, `scale`, `shift`, the
        `rows` in common, their `residuals` and the `misfit`. None for a map as it was fitted. Coordinates, in
        `embedding_` and in all methods, are in the frame of the earlier map, y_aligned = scale · y · rotation + shift.
        All other attributes (`components_`, `mean_`, `intercept_`, `weights_`, `explained_variance_`, `spectrum_`)
        describe the map before alignment.""",
        _alignment,
    )
