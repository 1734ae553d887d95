"""Real data that is not part of the package: None where it is absent."""

from pathlib import Path

import numpy as np

# Debian's package dataset-fashion-mnist
_FASHION = Path("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz")
_OCEAN = Path(__file__).parents[2] / "shared" / "data" / "ocean_atlas_monthly.npz"


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
