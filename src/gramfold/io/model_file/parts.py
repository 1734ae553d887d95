"""What a model file may hold: the parts of models, estimators and functions, by the names that stand in files.

A name here never changes, even where its class moves or gets another: files are for ever. Nothing else is ever looked
up, so a file cannot name code to run.
"""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

_PARTS = {
    "gramfold.embedding.frame": ("Alignment",),
    "gramfold.embedding.model": ("Drawn", "FittedMap", "Model", "Remains"),
    "gramfold.embedding.reading": ("Columns", "Reads"),
    "gramfold.extension.balance": ("Balance",),
    "gramfold.extension.barycentric": ("Barycentric",),
    "gramfold.extension.continuous_source": ("CarriedBasis", "ContinuousPlacement", "ContinuousSource"),
    "gramfold.extension.distance_placement": ("DistancePlacement",),
    "gramfold.extension.extrapolation": ("Ball", "Rim"),
    "gramfold.extension.function_placement": (
        "FunctionInverse",
        "FunctionPlacement",
        "LandmarkPlacement",
        "NystromPlacement",
    ),
    "gramfold.extension.geodesic_placement": ("GeodesicPlacement",),
    "gramfold.extension.graph_source": ("GraphSource",),
    "gramfold.extension.linear_placement": ("LeastSquares", "LinearPlacement"),
    "gramfold.extension.placement": ("Part",),
    "gramfold.extension.table_source": ("TableSource",),
    "gramfold.graph.components": ("Components",),
    "gramfold.graph.neighbor_graph": ("NeighborGraph",),
    "gramfold.graph.streamed_walks": ("StreamedWalks",),
    "gramfold.kernels.basis": ("Guard", "LinearBasis", "MixtureBasis", "Reweighted", "WithConstant"),
    "gramfold.kernels.diffusion": ("LaplacianKernel",),
    "gramfold.kernels.distances": ("Distances", "StreamedSquares"),
    "gramfold.kernels.functions": ("RowKernel",),
    "gramfold.kernels.geodesic": ("StreamedPaths",),
    "gramfold.kernels.gram": ("GramKernel",),
    "gramfold.kernels.linear": ("LinearGram",),
    "gramfold.kernels.mercer": ("RepairedGram",),
    "gramfold.kernels.nystrom": ("Completion", "LandmarkColumns", "LandmarkValues", "NystromGram"),
    "gramfold.kernels.penalty": ("Heat", "Inverse", "PenaltyKernel", "Shift", "Steps"),
    "gramfold.kernels.plane": ("Plane",),
    "gramfold.kernels.semidefinite": ("FactorKernel",),
    "gramfold.kernels.transformational": ("Bounds", "TransformationalKernel", "TransformationalMap", "Vertices"),
    "gramfold.kernels.values": ("KernelValues", "StreamedValues"),
    "gramfold.methods.distortion_discriminant_analysis.layers": ("Layer", "Windows"),
    "gramfold.methods.factor_analysis.factors": ("FactorPlacement", "Factors"),
    "gramfold.methods.mixture_ppca.mixture": ("Mixture",),
    "gramfold.methods.mixture_ppca.planes": ("PlanesPlacement", "PlanesWay"),
    "gramfold.methods.probabilistic_pca.latent_plane": ("LatentPlane",),
    "gramfold.methods.spectral_clustering.assign": ("Assignment", "LargestEntry", "NearestCenter", "Threshold"),
    "gramfold.methods.spectral_clustering.clusters": ("Clusters", "Edges"),
    "gramfold.methods.spectral_clustering.partition": ("Division",),
    "gramfold.neighbors.approximate": ("SmallWorldIndex",),
    "gramfold.neighbors.binary": ("BinaryMetric",),
    "gramfold.neighbors.blockwise": ("BlockMetric",),
    "gramfold.neighbors.duplicates": ("Collapse",),
    "gramfold.neighbors.exact": ("BlockedIndex", "TreeIndex"),
    "gramfold.neighbors.gower": ("Gower",),
    "gramfold.neighbors.metrics": ("Metric",),
    "gramfold.neighbors.mixed": ("MixedColumns",),
    "gramfold.neighbors.precomputed": ("DistanceIndex", "GraphIndex", "TransformerIndex", "WeightedIndex"),
    "gramfold.neighbors.sparse_index": ("SparseRowsIndex",),
    "gramfold.neighbors.sparse_sketch": ("Sketch", "SketchIndex"),
    "gramfold.neighbors.units": ("Unit",),
    "gramfold.runtime.costs": ("SearchCosts",),
    "gramfold.sdp.problem": ("Certificate", "Solution", "Step"),
    "gramfold.spectral.nystrom": ("NystromSpectrum", "Whitening"),
    "gramfold.types": ("Graph", "LeftOut", "NegativePart", "Neighbors", "Spectrum"),
}
# What is made again from the rest when it is first used.
NOT_STORED = {"SmallWorldIndex": ("links",)}

_OF_SCIKIT_LEARN = {
    "sklearn.compose": ("ColumnTransformer",),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.feature_extraction.text": ("TfidfTransformer",),
    "sklearn.feature_selection": ("SelectKBest", "VarianceThreshold"),
    "sklearn.impute": ("KNNImputer", "MissingIndicator", "SimpleImputer"),
    "sklearn.neighbors": ("KNeighborsTransformer", "RadiusNeighborsTransformer"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing": (
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
}
_SCIKIT_LEARN = "scikit-learn "  # before the names of its classes, some of which we have too
# Of FunctionTransformer: what people do to counts and sizes before they map them.
FUNCTIONS = {
    function.__name__: function
    for function in (np.log1p, np.expm1, np.log, np.log2, np.log10, np.exp, np.sqrt, np.cbrt, np.square, np.absolute)
} | {function.__name__: function for function in (np.arcsinh, np.sinh, np.arctan, np.tanh, np.sign, np.negative)}

# Of parameters such as OneHotEncoder(dtype=...) and make_column_selector(dtype_include=...).
TYPES = {
    kind.__name__: kind
    for kind in (bool, int, float, str, object, np.number, np.floating, np.integer)
    + (
        np.float16,
        np.float32,
        np.float64,
        np.int8,
        np.int16,
        np.int32,
        np.int64,
        np.uint8,
        np.uint16,
        np.uint32,
        np.uint64,
    )
}


@cache
def part_classes() -> dict[str, type]:
    """The class of each name of a part."""
    return {name: getattr(import_module(home), name) for home, names in _PARTS.items() for name in names}


@cache
def _part_names() -> dict[type, str]:
    return {cls: name for name, cls in part_classes().items()}


def name_of_part(value: Any) -> str | None:
    """The name of the class of this part; None where it is no part of a model."""
    return _part_names().get(type(value))


@cache
def estimator_homes() -> dict[str, tuple[str, str]]:
    """Module and class of each name of an estimator, none of which is loaded yet."""
    import gramfold

    own = {name: ("gramfold", name) for name in gramfold.__all__ if name[0].isupper()}
    own |= {name: ("gramfold.advice", name) for name in ("FillByPPCA", "LeaveOut")}
    theirs = {_SCIKIT_LEARN + name: (home, name) for home, names in _OF_SCIKIT_LEARN.items() for name in names}
    return own | theirs


def estimator_class(name: str) -> type:
    """The class of this name."""
    home, cls = estimator_homes()[name]
    found: type = getattr(import_module(home), cls)
    return found


def name_of_estimator(value: Any) -> str | None:
    """The name of the class of this estimator itself, not of one above it; None where files know it not."""
    name = type(value).__name__
    for known in (name, _SCIKIT_LEARN + name):
        if known in estimator_homes() and estimator_class(known) is type(value):
            return known
    return None
