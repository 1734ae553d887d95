"""Plot embeddings with matplotlib, an optional dependency that is imported on first use."""

from gramfold.plotting.edges import plot_edges
from gramfold.plotting.figure import blank_figure, check_picture_destination, save_picture
from gramfold.plotting.gallery import plot_gallery
from gramfold.plotting.map import plot_map

__all__ = ["blank_figure", "check_picture_destination", "plot_edges", "plot_gallery", "plot_map", "save_picture"]
