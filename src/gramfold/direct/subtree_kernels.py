"""Compiled: cut an elimination tree into subtrees."""

from gramfold.runtime.compiled import kernel


@kernel
def cut_tree(parent, work, entries, border, least, most, label):
    """label[s]: the subtree that supernode s belongs to, -1 for the top; `work` and `entries` are summed in place.

    A root is always in the top. A subtree collects its updates of the top in a dense block of its border, which must be
    small relative to the subtree.
    """
    count = parent.size
    for s in range(count):
        if parent[s] >= 0:
            work[parent[s]] += work[s]
            entries[parent[s]] += entries[s]
    found = 0
    for s in range(count - 1, -1, -1):
        label[s] = -1
        if parent[s] >= 0 and label[parent[s]] >= 0:
            label[s] = label[parent[s]]
        elif parent[s] >= 0 and least <= work[s] <= most and 4 * border[s] ** 2 <= entries[s]:
            label[s] = found
            found += 1
