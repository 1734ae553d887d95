"""Real data that is not part of the package: None where it is absent."""

import os
from pathlib import Path

import numpy as np

# Debian's package dataset-fashion-mnist
_FASHION = Path("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz")
# beside the checkout, or where GRAMFOLD_DATA says; most is not to be redistributed
_SHARED = Path(os.environ.get("GRAMFOLD_DATA") or Path(__file__).parents[2] / "shared" / "data")
_OCEAN = _SHARED / "ocean_atlas_monthly.npz"
_USPS = _SHARED / "usps.npz"


def fashion_mnist(n: int) -> np.ndarray | None:
    """The first n images, (n, 784) between 0 and 1."""
    import gzip

    if not _FASHION.exists():
        return None
    with gzip.open(_FASHION) as stream:
        pixels = np.frombuffer(stream.read(16 + n * 784), dtype=np.uint8)[16:]
    return pixels.reshape(n, 784).astype(np.float64) / 255


def ocean(n: int) -> np.ndarray | None:
    """Some n of the readings (longitude, latitude, depth, month, temperature), each column of variance 1."""
    if not _OCEAN.exists():
        return None
    X = np.load(_OCEAN)["X"].astype(np.float64)
    X = X[np.random.default_rng(0).permutation(len(X))[:n]]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def usps(n: int) -> np.ndarray | None:
    """The first n digits of USPS, (n, 256); beyond 9,298 they come again, with noise."""
    return again(np.load(_USPS)["X"].astype(np.float64), n, noise=0.1) if _USPS.exists() else None


def shared(name: str) -> np.ndarray | None:
    """The rows of one of the shared tables."""
    path = _SHARED / f"{name}.npz"
    if not path.exists():
        return None
    X = np.load(path)["X"].astype(np.float64)
    return X.reshape(len(X), -1)


def cells(columns: int = 1_000) -> np.ndarray | None:
    """The 2,700 cells of pbmc3k: log counts of the genes that vary most."""
    from scipy.sparse import csr_array

    path = _SHARED / "pbmc3k.npz"
    if not path.exists():
        return None
    held = np.load(path)
    counts = csr_array((held["data"].astype(np.float64), held["indices"], held["indptr"]), shape=tuple(held["shape"]))
    counts = csr_array(counts.multiply(1e4 / counts.sum(axis=1)[:, None]))
    counts.data = np.log1p(counts.data)
    variance = np.asarray(counts.multiply(counts).mean(axis=0)).ravel() - np.asarray(counts.mean(axis=0)).ravel() ** 2
    return np.asarray(counts[:, np.sort(np.argsort(-variance)[:columns])].toarray())


def digits(n: int) -> np.ndarray:
    """Some n of scikit-learn's digits, (n, 64); beyond 1,797 they come again, with noise."""
    from sklearn.datasets import load_digits

    X = load_digits().data
    return again(X[np.random.default_rng(0).permutation(len(X))], n, noise=1.0)


def again(X: np.ndarray, n: int, noise: float) -> np.ndarray:
    """The first n rows; where there are fewer, copies with normal noise follow."""
    copies = X[np.arange(max(n - len(X), 0)) % len(X)]
    return np.concatenate([X[:n], copies + noise * np.random.default_rng(1).standard_normal(copies.shape)])
