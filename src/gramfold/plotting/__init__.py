"""Plot embeddings with matplotlib, an optional dependency that is imported on first use."""

from gramfold.plotting.coefficients import plot_coefficients
from gramfold.plotting.compared import plot_comparison
from gramfold.plotting.edges import plot_edges
from gramfold.plotting.feature_space import plot_feature_distances
from gramfold.plotting.figure import blank_figure, check_picture_destination, save_picture
from gramfold.plotting.gallery import plot_gallery
from gramfold.plotting.map import plot_map
from gramfold.plotting.stability import plot_stability
from gramfold.plotting.sweep import plot_sweep

__all__ = [
    "blank_figure",
    "check_picture_destination",
    "plot_coefficients",
    "plot_comparison",
    "plot_edges",
    "plot_feature_distances",
    "plot_gallery",
    "plot_map",
    "plot_stability",
    "plot_sweep",
    "save_picture",
]
