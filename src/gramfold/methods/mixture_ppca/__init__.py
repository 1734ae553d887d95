"""Mixture of probabilistic PCA."""

from gramfold.methods.mixture_ppca.mixture_ppca import MixturePPCA

__all__ = ["MixturePPCA"]
