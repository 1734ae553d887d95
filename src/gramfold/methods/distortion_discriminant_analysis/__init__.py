"""Distortion discriminant analysis."""

from gramfold.methods.distortion_discriminant_analysis.distortion_discriminant_analysis import (
    DistortionDiscriminantAnalysis,
)

__all__ = ["DistortionDiscriminantAnalysis"]
