"""Numbers that say how far a map can be believed: of gramfold's maps and of anybody's."""

from gramfold.diagnostics.agreement import kernel_alignment, procrustes
from gramfold.diagnostics.coefficients import Coefficients, kernel_coefficients
from gramfold.diagnostics.feature_space import ComparedDistances, FeatureDistances, feature_distances
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.stability import Stability, stability
from gramfold.diagnostics.sweep import Sweep, SweepStep, sweep

__all__ = [
    "Coefficients",
    "ComparedDistances",
    "FeatureDistances",
    "Measure",
    "Stability",
    "Sweep",
    "SweepStep",
    "feature_distances",
    "kernel_alignment",
    "kernel_coefficients",
    "procrustes",
    "stability",
    "sweep",
]
