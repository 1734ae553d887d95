"""Spectral clustering, in its own package: the method, and what only it uses."""

from gramfold.methods.spectral_clustering.spectral_clustering import SpectralClustering

__all__ = ["SpectralClustering"]
