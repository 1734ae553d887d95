"""The one engine: every method is kernel PCA on a Gram matrix of its own."""

from gramfold.embedding.continuous import ContinuousMap, continuous_degree, continuous_model, continuous_part
from gramfold.embedding.embedding import Embedding
from gramfold.embedding.estimator import Estimator
from gramfold.embedding.fit import Fit
from gramfold.embedding.frame import Alignable, Alignment
from gramfold.embedding.functions import KernelFunctions, function_map
from gramfold.embedding.groups import (
    EDGE_WEIGHTS,
    SAMPLE,
    EdgeWeights,
    Geodesics,
    GraphChoice,
    LaplacianMap,
    Metrics,
    Neighborhood,
    Rebuilding,
    Storage,
)
from gramfold.embedding.laplacian import SAME_EIGENVECTORS, laplacian_map
from gramfold.embedding.linear import LinearMap, OrientedMap, Table, first_look, linear_model
from gramfold.embedding.model import Fitted, FittedMap, Inverse, Model, Remains
from gramfold.embedding.more_spectrum import Kernelled, leading_eigenvalues_of, negative_part_of, shares_of
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.reading import Reads
from gramfold.embedding.solving import Whole, judged, lay_out, single_point
from gramfold.embedding.weighing import refuse_weights
from gramfold.extension.placement import Built, Part, widened
from gramfold.graph.components import Component

__all__ = [
    "EDGE_WEIGHTS",
    "SAME_EIGENVECTORS",
    "SAMPLE",
    "Alignable",
    "Alignment",
    "Built",
    "Component",
    "ContinuousMap",
    "EdgeWeights",
    "Embedding",
    "Estimator",
    "Fit",
    "Fitted",
    "FittedMap",
    "Geodesics",
    "GraphChoice",
    "Inverse",
    "KernelFunctions",
    "Kernelled",
    "LaplacianMap",
    "LinearMap",
    "Metrics",
    "Model",
    "Neighborhood",
    "OrientedMap",
    "Part",
    "Reads",
    "Rebuilding",
    "Remains",
    "Storage",
    "Table",
    "Whole",
    "attribute",
    "continuous_degree",
    "continuous_model",
    "continuous_part",
    "first_look",
    "function_map",
    "judged",
    "laplacian_map",
    "lay_out",
    "leading_eigenvalues_of",
    "linear_model",
    "method",
    "negative_part_of",
    "parameter",
    "refuse_weights",
    "shares_of",
    "single_point",
    "widened",
]
