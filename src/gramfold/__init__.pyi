from gramfold import advice as advice
from gramfold import datasets as datasets
from gramfold import diagnostics as diagnostics
from gramfold import distributed as distributed
from gramfold import errors as errors
from gramfold import io as io
from gramfold import plotting as plotting
from gramfold import report as report
from gramfold import tl as tl
from gramfold.advice import advise as advise
from gramfold.alignment import align as align
from gramfold.comparison import compare as compare
from gramfold.io.model_file import load as load
from gramfold.io.model_file import model_info as model_info
from gramfold.io.model_file import save as save
from gramfold.methods.classical_mds import ClassicalMDS as ClassicalMDS
from gramfold.methods.commute_time import CommuteTime as CommuteTime
from gramfold.methods.diffusion_map import DiffusionMap as DiffusionMap
from gramfold.methods.distortion_discriminant_analysis import (
    DistortionDiscriminantAnalysis as DistortionDiscriminantAnalysis,
)
from gramfold.methods.factor_analysis import FactorAnalysis as FactorAnalysis
from gramfold.methods.heat_kernel import HeatKernel as HeatKernel
from gramfold.methods.hessian_lle import HessianLLE as HessianLLE
from gramfold.methods.isomap import Isomap as Isomap
from gramfold.methods.kernel_eigenmaps import KernelEigenmaps as KernelEigenmaps
from gramfold.methods.kernel_isomap import KernelIsomap as KernelIsomap
from gramfold.methods.kernel_pca import KernelPCA as KernelPCA
from gramfold.methods.landmark_isomap import LandmarkIsomap as LandmarkIsomap
from gramfold.methods.landmark_mds import LandmarkMDS as LandmarkMDS
from gramfold.methods.laplacian_eigenmaps import LaplacianEigenmaps as LaplacianEigenmaps
from gramfold.methods.lle import LLE as LLE
from gramfold.methods.lpp import LPP as LPP
from gramfold.methods.ltsa import LTSA as LTSA
from gramfold.methods.mixture_ppca import MixturePPCA as MixturePPCA
from gramfold.methods.modified_lle import ModifiedLLE as ModifiedLLE
from gramfold.methods.nystrom_embedding import NystromEmbedding as NystromEmbedding
from gramfold.methods.ordinal_mds import OrdinalMDS as OrdinalMDS
from gramfold.methods.oriented_pca import OrientedPCA as OrientedPCA
from gramfold.methods.pca import PCA as PCA
from gramfold.methods.probabilistic_pca import ProbabilisticPCA as ProbabilisticPCA
from gramfold.methods.projection_pursuit import ProjectionPursuit as ProjectionPursuit
from gramfold.methods.sde import SDE as SDE
from gramfold.methods.sde import MaximumVarianceUnfolding as MaximumVarianceUnfolding
from gramfold.methods.spectral_clustering import SpectralClustering as SpectralClustering

__version__: str
from gramfold.neighbors.blockwise import blockwise as blockwise
from gramfold.onecall import embed as embed

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
