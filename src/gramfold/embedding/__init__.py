"""The one engine: every method is kernel PCA on a Gram matrix of its own."""

from gramfold.embedding.geodesic_embedding import GeodesicEmbedding
from gramfold.embedding.graph_embedding import GraphEmbedding, NewRows
from gramfold.embedding.kernel_embedding import KernelEmbedding
from gramfold.embedding.local_embedding import LocalEmbedding
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece

__all__ = [
    "GeodesicEmbedding",
    "GraphEmbedding",
    "KernelEmbedding",
    "LocalEmbedding",
    "NewRows",
    "Piece",
    "method",
    "parameter",
]
