"""Data and comparisons that the tests of methods share."""

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

from gramfold.datasets import make_s_curve, make_swiss_roll


def roll() -> np.ndarray:
    return make_swiss_roll(800, random_state=3).points


def s_curve() -> np.ndarray:
    return make_s_curve(800, random_state=3).points


def digits() -> np.ndarray:
    """scikit-learn's digits, jittered so that no two distances are equal."""
    X = load_digits().data
    return X + 1e-6 * np.random.default_rng(0).standard_normal(X.shape)


DATA = {"swiss roll": roll, "S-curve": s_curve, "digits": digits}


def difference(left: np.ndarray, right: np.ndarray) -> float:
    """Largest difference of distances on the two maps, relative to the larger map's diameter."""
    a, b = pdist(left), pdist(right)
    return float(np.abs(a - b).max() / max(a.max(), b.max()))


def similarity(places: np.ndarray, truth: np.ndarray):
    """The rotation, scale and shift that carry these places nearest to the truth, as a function."""
    mean, target = places.mean(axis=0), truth.mean(axis=0)
    U, s, Vt = np.linalg.svd((places - mean).T @ (truth - target))
    scale = s.sum() / np.square(places - mean).sum()
    return lambda new: target + scale * (new - mean) @ (U @ Vt)
