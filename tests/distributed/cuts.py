"""The same rows in partitions of every kind, and what a model of them shares with one of the rows in memory."""

import dask.array as da
import numpy as np
from dask import delayed

from gramfold.distributed import drawn

CUTS = (1, 7, 64)


def held(monkeypatch, count):
    """Within the test a model holds so many rows: of more it knows the sums."""
    monkeypatch.setattr(drawn, "SAMPLE", count)


def cut(X, count, seed=0):
    """A Dask array of partitions of unknown length, of which every fifth is empty."""
    ends = np.sort(np.random.default_rng(seed).integers(0, len(X) + 1, count - 1))
    for i in range(1, len(ends), 5):
        ends[i] = ends[i - 1]
    parts = np.split(X, ends)
    blocks = [da.from_delayed(delayed(part), (np.nan, X.shape[1]), X.dtype) for part in parts]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def noted(X, count, folder):
    """The same rows in so many partitions; a file in this folder has a letter for each time that one was read."""

    def read(part, number):
        with (folder / f"{number}").open("a") as file:
            file.write(".")
        return part

    blocks = [delayed(read, pure=False)(part, i) for i, part in enumerate(np.array_split(X, count))]
    return da.concatenate(
        [da.from_delayed(one, (np.nan, X.shape[1]), X.dtype) for one in blocks], allow_unknown_chunksizes=True
    )


def far(found, expected, size=None):
    """The largest difference, beside the size of what is expected."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    size = np.abs(expected).max(initial=0.0) if size is None else size
    return float(np.abs(found - expected).max(initial=0.0) / (size or 1.0))


def agree(model, whole, X, limit=1e-8):
    """A model of partitions places all rows as one of the same rows in memory does, and knows the same of them."""
    assert len(model.sample_) < len(X)
    Y = whole.embedding_
    assert far(model.transform(X), Y) < limit
    assert far(model.embedding_, Y[model.sample_], np.abs(Y).max()) < limit
    assert model.embedding_.dtype == Y.dtype
    assert model.unit_ == whole.unit_
    assert far(model.spectrum_.eigenvalues, whole.spectrum_.eigenvalues) < limit
    vectors = whole.spectrum_.eigenvectors
    assert far(model.spectrum_.eigenvectors, vectors[model.sample_], np.abs(vectors).max(initial=0.0)) < limit
    assert far(model.leading_eigenvalues(3), whole.leading_eigenvalues(3)) < limit
    assert model.negative_part().mass == whole.negative_part().mass == 0.0
    if whole.spectrum_.total is not None:
        assert far(model.shares(), whole.shares()) < limit
    assert far(model.inverse_transform(Y[:20]), whole.inverse_transform(Y[:20])) < limit
    for name, value in whole.model_.found.items():
        if isinstance(value, float | np.ndarray) and np.isfinite(value).all():
            last = slice(-1, None) if name == "log_likelihoods_" else ...  # iterations may end one sooner or later
            # one number for what the axes leave: a difference of the variance of all columns
            left = name == "noise_variance_" and np.ndim(value) == 0
            with np.errstate(over="ignore"):
                size = np.nanvar(np.asarray(X, dtype=np.float64), axis=0).sum() if left else None
            assert far(np.asarray(model.model_.found[name])[last], np.asarray(value)[last], size) < limit, name
    ball, other = model.model_.source.ball, whole.model_.source.ball
    assert (ball is None) == (other is None)
    assert ball is None or far(ball.radius, other.radius) < limit
