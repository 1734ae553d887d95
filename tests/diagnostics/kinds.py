"""Tables of five kinds with a map of each and labels."""

import numpy as np
from sklearn.datasets import load_digits

KINDS = ("roll", "digits", "outliers", "heavy tails", "copies")


def kind(name, n):
    """The rows, a map of them, and labels."""
    rng = np.random.default_rng(0)
    if name == "roll":  # torn across
        angle, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 20 * rng.random(n)
        rows = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
        return rows, np.column_stack([np.where(angle > 9, angle + 5, angle), height]), angle > 9
    if name == "digits":
        rows, labels = load_digits(return_X_y=True)
        chosen = rng.choice(len(rows), n, replace=False)
        return rows[chosen], plane(rows[chosen]), labels[chosen]
    if name == "outliers":
        labels = rng.integers(5, size=n)
        rows = 6 * rng.standard_normal((5, 8))[labels] + rng.standard_normal((n, 8))
        rows[: n // 100] *= 20
        return rows, plane(rows), labels
    if name == "heavy tails":
        rows = rng.standard_t(2, size=(n, 6))
        return rows, plane(rows), rows[:, 0] > 0
    rows = rng.integers(0, 3, size=(n, 5)).astype(float)
    return rows, plane(rows), rows[:, 0]


def plane(rows):
    """The map of PCA."""
    rows = rows - rows.mean(axis=0)
    return rows @ np.linalg.svd(rows, full_matrices=False)[2][:2].T
