"""Numbers that say how far a map can be believed: of gramfold's maps and of anybody's."""

from gramfold.diagnostics.coranking import CorankingCurve, r_nx_area, r_nx_curve
from gramfold.diagnostics.density import density_preservation
from gramfold.diagnostics.distance_correlation import distance_correlation
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.labels import neighborhood_purity, silhouette
from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.measures import measures
from gramfold.diagnostics.shared_neighbors import lcmc, r_nx
from gramfold.diagnostics.stress import residual_variance, stress
from gramfold.diagnostics.triplets import triplet_accuracy
from gramfold.diagnostics.trustworthiness import continuity, trustworthiness

__all__ = [
    "CorankingCurve",
    "Judged",
    "Measure",
    "continuity",
    "density_preservation",
    "distance_correlation",
    "lcmc",
    "measures",
    "neighborhood_purity",
    "r_nx",
    "r_nx_area",
    "r_nx_curve",
    "residual_variance",
    "silhouette",
    "stress",
    "triplet_accuracy",
    "trustworthiness",
]
