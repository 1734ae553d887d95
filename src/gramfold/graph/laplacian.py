"""L = D − W: the penalty Σ W_ij (y_i − y_j)² / 2 of a function on the vertices."""

import numpy as np
from scipy.sparse import csr_array, diags_array

from gramfold.types import Floats


def degrees(weights: csr_array) -> Floats:
    """D's diagonal: the sum of the weights at each vertex."""
    return np.asarray(weights.sum(axis=1)).ravel()


def laplacian(weights: csr_array) -> csr_array:
    """L = D − W."""
    return csr_array(diags_array(degrees(weights)) - weights)
