"""Tangent planes of the neighbourhoods, and how far an edge leaves them.

    plane at i: mean and d first principal directions of row i and its neighbours, the farthest quarter from it left out
    tilt of (i, j): distance of row j from the plane at i, in neighbourhood radii of i; of an edge, the larger of two

Everything is computed from inner products of differences, so that rows may have any number of columns.
"""

from collections.abc import Callable, Iterator

import numpy as np

from gramfold.types import Floats, Integers, Neighbors

FLAT = 0.9  # share of the variance of a neighbourhood that lies in its plane
KEPT = 0.75  # share of a neighbourhood that its plane is fitted to
_STEPS = 3  # refits to the nearer ones
_SAMPLE = 500  # neighbourhoods by which the dimension is judged
_BLOCK = 256  # neighbourhoods at once

Grams = Callable[[Integers, Integers], Floats]


def plane_dimension(lists: Neighbors, grams: Grams) -> int | None:
    """The smallest d with which half of the neighbourhoods have 90% of their variance in d dimensions.

    None where a neighbourhood has fewer than two neighbours for each of them, so that nothing could leave its plane.
    """
    n = len(lists)
    some = np.arange(n) if n <= _SAMPLE else np.linspace(0, n - 1, _SAMPLE).astype(int)
    some = some[lists.counts[some] > 1]
    if not some.size:
        return None
    dimensions, counts = [], lists.counts[some]
    for _, gram in _neighborhoods(lists, grams, some):
        centered = gram - gram.mean(axis=1, keepdims=True)
        centered = centered - centered.mean(axis=2, keepdims=True)
        values = np.clip(np.linalg.eigvalsh(centered)[:, ::-1], 0.0, None)
        shares = np.cumsum(values, axis=1)
        flat = shares >= FLAT * shares[:, -1:]
        dimensions.append(1 + np.argmax(flat, axis=1))
    dimension = int(np.median(np.concatenate(dimensions)))
    return dimension if 2 * dimension < np.median(counts) else None


def tilts(lists: Neighbors, grams: Grams, dimension: int, starts: Integers, ends: Integers) -> Floats:
    """Distance of ends[e] from the plane at starts[e], in neighbourhood radii there; 0 where no plane is known.

    `starts` is ascending.
    """
    found = np.zeros(len(starts))
    first = np.searchsorted(starts, np.arange(len(lists) + 1))
    radii = lists.farthest
    able = np.flatnonzero((lists.counts > dimension + 1) & (radii > 0) & (np.diff(first) > 0))
    for rows, gram in _neighborhoods(lists, grams, able):
        weights, tangent = _planes(gram, dimension)
        k = gram.shape[1] - 1
        counts = first[rows + 1] - first[rows]
        pairs = np.repeat(first[rows] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        plane = np.repeat(np.arange(len(rows)), counts)
        chosen = lists.indices[lists.indptr[rows][:, None] + np.arange(k)]  # (b, k)
        for part in np.array_split(np.arange(len(pairs)), max(1, len(pairs) // _BLOCK)):
            at, to = plane[part], ends[pairs[part]]
            around = grams(rows[at], np.column_stack([chosen[at], to])).astype(np.float64)
            products = np.column_stack([np.zeros(len(part)), around[:, -1, :-1]])  # with the row itself, and the others
            squares = _off_plane(products, around[:, -1, -1], gram[at], weights[at], tangent[at])
            found[pairs[part]] = np.sqrt(squares) / radii[rows[at]]
    return found


def _neighborhoods(lists: Neighbors, grams: Grams, rows: Integers) -> Iterator[tuple[Integers, Floats]]:
    """Rows with equally many neighbours, and inner products (b, k + 1, k + 1) around them, the row itself first."""
    counts = lists.counts[rows]
    for k in np.unique(counts):
        alike = rows[counts == k]
        for some in np.split(alike, range(_BLOCK, len(alike), _BLOCK)):
            chosen = lists.indices[lists.indptr[some][:, None] + np.arange(k)]
            yield some, np.pad(grams(some, chosen).astype(np.float64), ((0, 0), (1, 0), (1, 0)))


def _planes(gram: Floats, dimension: int) -> tuple[Floats, Floats]:
    """Weights (b, m) of the neighbours that a plane is fitted to, and (b, m, d) its directions as sums of them."""
    b, m = gram.shape[:2]
    kept = min(m, max(dimension + 2, int(np.ceil(KEPT * m))))
    weights = np.zeros((b, m))
    weights[:, :kept] = 1.0  # the nearest
    for step in range(_STEPS + 1):
        centered = _centered(gram, weights)
        values, vectors = np.linalg.eigh(weights[:, :, None] * centered * weights[:, None, :])
        values, vectors = values[:, : -dimension - 1 : -1], vectors[:, :, : -dimension - 1 : -1]
        scale = np.zeros_like(values)
        floor = 1e-12 * np.abs(values[:, :1])
        np.divide(1.0, np.sqrt(np.maximum(values, floor)), out=scale, where=values > floor)
        tangent = weights[:, :, None] * vectors * scale[:, None, :]
        if step < _STEPS:
            along = centered @ tangent
            off = np.einsum("bii->bi", centered) - np.square(along).sum(axis=2)
            weights = np.zeros((b, m))
            np.put_along_axis(weights, np.argsort(off, axis=1, kind="stable")[:, :kept], 1.0, axis=1)
    return weights, tangent


def _centered(gram: Floats, weights: Floats) -> Floats:
    """Inner products of the differences to the weighted mean."""
    share = (weights / weights.sum(axis=1, keepdims=True))[:, :, None]
    to_mean = gram @ share  # (b, m, 1)
    return np.asarray(gram - to_mean - np.swapaxes(to_mean, 1, 2) + np.swapaxes(share, 1, 2) @ to_mean)


def _off_plane(products: Floats, squares: Floats, gram: Floats, weights: Floats, tangent: Floats) -> Floats:
    """Squared distances (b,) from their planes of points with these products with the neighbours, and squares."""
    share = weights / weights.sum(axis=1, keepdims=True)
    to_mean = np.einsum("bij,bj->bi", gram, share)
    mean = np.einsum("bi,bi->b", to_mean, share)
    own = np.einsum("bi,bi->b", products, share)
    along = np.einsum("bi,bid->bd", products - to_mean - own[:, None] + mean[:, None], tangent)
    return np.asarray(np.clip(squares - 2 * own + mean - np.square(along).sum(axis=1), 0.0, None))
