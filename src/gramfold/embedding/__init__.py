"""The one engine: every method is kernel PCA on a Gram matrix of its own."""

from gramfold.embedding.barycentric_places import BarycentricPlaces
from gramfold.embedding.continuous_embedding import ContinuousEmbedding, ContinuousPiece
from gramfold.embedding.distance_embedding import DistanceEmbedding
from gramfold.embedding.edge_weights import EdgeWeights
from gramfold.embedding.function_embedding import FunctionEmbedding
from gramfold.embedding.geodesic_embedding import GeodesicEmbedding
from gramfold.embedding.graph_embedding import GraphEmbedding, NewRows
from gramfold.embedding.kernel_embedding import KernelEmbedding
from gramfold.embedding.laplacian_embedding import LaplacianEmbedding
from gramfold.embedding.local_embedding import LocalEmbedding
from gramfold.embedding.neighbor_graph import NeighborGraph
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece
from gramfold.embedding.way_back import Inverse

__all__ = [
    "BarycentricPlaces",
    "ContinuousEmbedding",
    "ContinuousPiece",
    "DistanceEmbedding",
    "EdgeWeights",
    "FunctionEmbedding",
    "GeodesicEmbedding",
    "GraphEmbedding",
    "Inverse",
    "KernelEmbedding",
    "LaplacianEmbedding",
    "LocalEmbedding",
    "NeighborGraph",
    "NewRows",
    "Piece",
    "method",
    "parameter",
]
