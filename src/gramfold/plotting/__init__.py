"""Plot embeddings with matplotlib, an optional dependency that is imported on first use."""

from gramfold.plotting.biplot import plot_loadings
from gramfold.plotting.coefficients import plot_coefficients
from gramfold.plotting.compared import plot_comparison
from gramfold.plotting.coranking_lines import plot_coranking
from gramfold.plotting.edges import plot_edges
from gramfold.plotting.feature_space import plot_feature_distances
from gramfold.plotting.figure import blank_figure, check_picture_destination, save_picture
from gramfold.plotting.gallery import plot_gallery
from gramfold.plotting.kernel_panels import plot_kernel
from gramfold.plotting.map import plot_map
from gramfold.plotting.shepard import plot_shepard
from gramfold.plotting.spectra import plot_spectra
from gramfold.plotting.stability import plot_stability
from gramfold.plotting.strip import plot_path
from gramfold.plotting.sweep import plot_sweep

__all__ = [
    "blank_figure",
    "check_picture_destination",
    "plot_coefficients",
    "plot_comparison",
    "plot_coranking",
    "plot_edges",
    "plot_feature_distances",
    "plot_gallery",
    "plot_kernel",
    "plot_loadings",
    "plot_map",
    "plot_path",
    "plot_shepard",
    "plot_spectra",
    "plot_stability",
    "plot_sweep",
    "save_picture",
]
