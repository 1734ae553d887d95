"""Probabilistic PCA."""

from gramfold.methods.probabilistic_pca.probabilistic_pca import ProbabilisticPCA

__all__ = ["ProbabilisticPCA"]
