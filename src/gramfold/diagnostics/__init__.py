"""Numbers that say how far a map can be believed: of gramfold's maps and of anybody's."""

from gramfold.diagnostics.agreement import kernel_alignment, procrustes
from gramfold.diagnostics.all_measures import measures
from gramfold.diagnostics.axis_meaning import Loadings, Region, loadings
from gramfold.diagnostics.coefficients import Coefficients, kernel_coefficients
from gramfold.diagnostics.coranking import CorankingCurve, r_nx_area, r_nx_curve
from gramfold.diagnostics.density import density_preservation
from gramfold.diagnostics.distance_stress import residual_variance, stress
from gramfold.diagnostics.feature_space import ComparedDistances, FeatureDistances, feature_distances
from gramfold.diagnostics.four_faults import Fault, Faults, faults
from gramfold.diagnostics.group_differences import Differences, differences
from gramfold.diagnostics.intrinsic.correlation import correlation_dimension
from gramfold.diagnostics.intrinsic.eigengap import spectral_gap
from gramfold.diagnostics.intrinsic.estimate import Estimate
from gramfold.diagnostics.intrinsic.likelihood import maximum_likelihood
from gramfold.diagnostics.intrinsic.local_axes import local_pca
from gramfold.diagnostics.intrinsic.nearest_two import two_nn
from gramfold.diagnostics.intrinsic.together import Dimensions, dimension
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.labels import neighborhood_purity, silhouette
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.over_neighbors import Sweep, SweepStep, sweep
from gramfold.diagnostics.plain_words import Sentence, Verdict, verdict
from gramfold.diagnostics.rank_correlation import distance_correlation
from gramfold.diagnostics.rank_errors import continuity, trustworthiness
from gramfold.diagnostics.refit_spread import Stability, stability
from gramfold.diagnostics.shared_neighbors import lcmc, r_nx
from gramfold.diagnostics.shortcut_edges import ShortCircuits, short_circuits
from gramfold.diagnostics.triplets import triplet_accuracy

__all__ = [
    "Coefficients",
    "ComparedDistances",
    "CorankingCurve",
    "Differences",
    "Dimensions",
    "Estimate",
    "Fault",
    "Faults",
    "FeatureDistances",
    "Judged",
    "Loadings",
    "Measure",
    "Region",
    "Sentence",
    "ShortCircuits",
    "Stability",
    "Sweep",
    "SweepStep",
    "Verdict",
    "continuity",
    "correlation_dimension",
    "density_preservation",
    "differences",
    "dimension",
    "distance_correlation",
    "faults",
    "feature_distances",
    "kernel_alignment",
    "kernel_coefficients",
    "lcmc",
    "loadings",
    "local_pca",
    "maximum_likelihood",
    "measures",
    "neighborhood_purity",
    "procrustes",
    "r_nx",
    "r_nx_area",
    "r_nx_curve",
    "residual_variance",
    "short_circuits",
    "silhouette",
    "spectral_gap",
    "stability",
    "stress",
    "sweep",
    "triplet_accuracy",
    "trustworthiness",
    "two_nn",
    "verdict",
]
