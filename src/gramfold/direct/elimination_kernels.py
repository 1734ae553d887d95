"""Compiled: the elimination tree and the filled structure of a symmetric graph in a given order."""

from gramfold.runtime.compiled import kernel


@kernel
def tree_and_counts(indptr, indices, parent, ancestor, mark, counts, limit):
    """parent[v]: the first vertex after v that its elimination touches; counts[v]: the number of all of them.

    Where they add up to more than `limit[0]` the count ends there, and the limit is set to −1.
    """
    n = parent.size
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            while j != -1 and j < i:
                above = ancestor[j]
                ancestor[j] = i  # path compression
                if above == -1:
                    parent[j] = i
                j = above
    total = 0
    for i in range(n):
        mark[i] = i
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            while j < i and mark[j] != i:
                counts[j] += 1
                total += 1
                mark[j] = i
                j = parent[j]
        if total > limit[0]:
            limit[0] = -1
            return


@kernel
def fill_structure(indptr, indices, parent, mark, place, filled):
    """The later vertices that v touches, ascending, in `filled` from place[v] on; none where that is −1."""
    for i in range(parent.size):
        mark[i] = i
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            while j < i and mark[j] != i:
                if place[j] >= 0:
                    filled[place[j]] = i
                    place[j] += 1
                mark[j] = i
                j = parent[j]
