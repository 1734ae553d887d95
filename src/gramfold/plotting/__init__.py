"""Pictures of maps, with matplotlib (an extra, imported when first needed)."""

from gramfold.plotting.figure import blank_figure, check_picture_destination, save_picture
from gramfold.plotting.gallery import plot_gallery
from gramfold.plotting.map import plot_map

__all__ = ["blank_figure", "check_picture_destination", "plot_gallery", "plot_map", "save_picture"]
