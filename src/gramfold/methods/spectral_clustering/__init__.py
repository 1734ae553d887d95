"""Spectral clustering, and the modules that only it uses."""

from gramfold.methods.spectral_clustering.spectral_clustering import SpectralClustering

__all__ = ["SpectralClustering"]
