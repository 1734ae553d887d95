"""Generate data sets whose true coordinates are known."""

from gramfold.datasets.audio import distort_audio, log_spectra, make_audio_clips
from gramfold.datasets.clusters import make_gaussian_clusters
from gramfold.datasets.graphs import RandomGraph, make_random_graph
from gramfold.datasets.sample import Sample
from gramfold.datasets.sheets import make_s_curve, make_swiss_roll, make_twin_peaks
from gramfold.datasets.spheres import make_punctured_sphere, make_severed_sphere
from gramfold.datasets.teapots import make_teapots
from gramfold.datasets.tori import make_helix, make_torus

__all__ = [
    "RandomGraph",
    "Sample",
    "distort_audio",
    "log_spectra",
    "make_audio_clips",
    "make_gaussian_clusters",
    "make_helix",
    "make_punctured_sphere",
    "make_random_graph",
    "make_s_curve",
    "make_severed_sphere",
    "make_swiss_roll",
    "make_teapots",
    "make_torus",
    "make_twin_peaks",
]
