"""Numbers that say how far a map can be believed: of gramfold's maps and of anybody's."""

from gramfold.diagnostics.intrinsic.correlation import correlation_dimension
from gramfold.diagnostics.intrinsic.eigengap import spectral_gap
from gramfold.diagnostics.intrinsic.estimate import Estimate
from gramfold.diagnostics.intrinsic.likelihood import maximum_likelihood
from gramfold.diagnostics.intrinsic.local_axes import local_pca
from gramfold.diagnostics.intrinsic.nearest_two import two_nn
from gramfold.diagnostics.intrinsic.together import Dimensions, dimension
from gramfold.diagnostics.measure import Measure

__all__ = [
    "Dimensions",
    "Estimate",
    "Measure",
    "correlation_dimension",
    "dimension",
    "local_pca",
    "maximum_likelihood",
    "spectral_gap",
    "two_nn",
]
