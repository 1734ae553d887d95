"""Dimensionality reduction and clustering by kernel and manifold methods, with diagnostics of the result.

Names load when first used: importing gramfold itself is nearly free.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "ClassicalMDS": "gramfold.methods.classical_mds",
    "CommuteTime": "gramfold.methods.commute_time",
    "DiffusionMap": "gramfold.methods.diffusion_map",
    "DistortionDiscriminantAnalysis": "gramfold.methods.distortion_discriminant_analysis",
    "FactorAnalysis": "gramfold.methods.factor_analysis",
    "HeatKernel": "gramfold.methods.heat_kernel",
    "HessianLLE": "gramfold.methods.hessian_lle",
    "Isomap": "gramfold.methods.isomap",
    "KernelEigenmaps": "gramfold.methods.kernel_eigenmaps",
    "KernelIsomap": "gramfold.methods.kernel_isomap",
    "KernelPCA": "gramfold.methods.kernel_pca",
    "LLE": "gramfold.methods.lle",
    "LPP": "gramfold.methods.lpp",
    "LTSA": "gramfold.methods.ltsa",
    "LandmarkIsomap": "gramfold.methods.landmark_isomap",
    "LandmarkMDS": "gramfold.methods.landmark_mds",
    "LaplacianEigenmaps": "gramfold.methods.laplacian_eigenmaps",
    "MaximumVarianceUnfolding": "gramfold.methods.sde",
    "MixturePPCA": "gramfold.methods.mixture_ppca",
    "ModifiedLLE": "gramfold.methods.modified_lle",
    "NystromEmbedding": "gramfold.methods.nystrom_embedding",
    "OrdinalMDS": "gramfold.methods.ordinal_mds",
    "OrientedPCA": "gramfold.methods.oriented_pca",
    "PCA": "gramfold.methods.pca",
    "ProbabilisticPCA": "gramfold.methods.probabilistic_pca",
    "ProjectionPursuit": "gramfold.methods.projection_pursuit",
    "SDE": "gramfold.methods.sde",
    "SpectralClustering": "gramfold.methods.spectral_clustering",
    "advise": "gramfold.advice",
    "align": "gramfold.alignment",
    "blockwise": "gramfold.neighbors.blockwise",
    "compare": "gramfold.comparison",
    "embed": "gramfold.onecall",
    "load": "gramfold.io.model_file",
    "model_info": "gramfold.io.model_file",
    "save": "gramfold.io.model_file",
}
_ROOMS = ("advice", "datasets", "diagnostics", "distributed", "errors", "io", "plotting", "report", "tl")

__all__ = [
    "LLE",
    "LPP",
    "LTSA",
    "PCA",
    "SDE",
    "ClassicalMDS",
    "CommuteTime",
    "DiffusionMap",
    "DistortionDiscriminantAnalysis",
    "FactorAnalysis",
    "HeatKernel",
    "HessianLLE",
    "Isomap",
    "KernelEigenmaps",
    "KernelIsomap",
    "KernelPCA",
    "LandmarkIsomap",
    "LandmarkMDS",
    "LaplacianEigenmaps",
    "MaximumVarianceUnfolding",
    "MixturePPCA",
    "ModifiedLLE",
    "NystromEmbedding",
    "OrdinalMDS",
    "OrientedPCA",
    "ProbabilisticPCA",
    "ProjectionPursuit",
    "SpectralClustering",
    "advice",
    "advise",
    "align",
    "blockwise",
    "compare",
    "datasets",
    "diagnostics",
    "distributed",
    "embed",
    "errors",
    "io",
    "load",
    "model_info",
    "plotting",
    "report",
    "save",
    "tl",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"gramfold.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'gramfold' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
