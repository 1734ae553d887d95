"""Compiled: entries of A⁻¹ where the factor of A has entries, and where given entries stand."""

import numpy as np

from gramfold.direct.factor_kernels import _beyond, _locate, _own, _position
from gramfold.runtime.compiled import kernel


@kernel
def invert_supernodes(heads, owner, tail_start, tails, place, values, pivots, members, stop, inverse):
    """Z = A⁻¹ in the supernodes `members`, when it is known in those above them; laid out as the factor.

    With A = Uᵀ D U and W = U_own⁻¹ U_beyond of a supernode:  Z_beyond = −W Z_tail,
    Z_own = U_own⁻¹ D⁻¹ U_own⁻ᵀ − Z_beyond Wᵀ.
    """
    most = 0
    for s in members:
        most = max(most, tail_start[s + 1] - tail_start[s])
    column = np.empty(most, np.int64)
    for s in members[::-1]:
        if stop[0]:
            return
        first, m = heads[s], heads[s + 1] - heads[s]
        tail = tails[tail_start[s] : tail_start[s + 1]]
        r = tail.size
        own, beyond = _own(values, place, s, m), _beyond(values, place, s, m, r)
        across, root = np.empty((m, r)), np.zeros((m, m))  # W, and U_own⁻¹
        for i in range(m - 1, -1, -1):
            pivot = pivots[first + i]
            across[i] = beyond[i] / pivot
            root[i, i] = 1.0
            for k in range(i + 1, m):
                share = own[i, k] / pivot
                for j in range(r):
                    across[i, j] -= share * across[k, j]
                for j in range(k, m):
                    root[i, j] -= share * root[k, j]
        known = np.empty((r, r))
        target = -1
        for i in range(r):
            a = tail[i]
            if owner[a] != target:
                target = owner[a]
                _locate(tail, i, heads, target, tail_start, tails, column)
            width = heads[target + 1] - heads[target]
            row = a - heads[target]
            near = place[target] + row * width
            far = place[target] + width * width + row * (tail_start[target + 1] - tail_start[target]) - width
            for j in range(i, r):
                value = inverse[column[j] + (near if column[j] < width else far)]
                known[i, j] = value
                known[j, i] = value
        beside = _beyond(inverse, place, s, m, r)
        if r > 0:
            beside[:] = -np.dot(across, known)
        scaled = np.empty((m, m))
        for j in range(m):
            scaled[:, j] = root[:, j] / pivots[first + j]
        itself = np.dot(scaled, root.T.copy())
        if r > 0:
            itself -= np.dot(beside, across.T.copy())
        _own(inverse, place, s, m)[:] = itself


@kernel
def find_entries(rows, columns, heads, owner, tail_start, tails, place, at):
    """Position of the entries (rows[e], columns[e]) in the factor, rows[e] ≤ columns[e] in the order of elimination."""
    for e in range(rows.size):
        v, u = rows[e], columns[e]
        s = owner[v]
        first, m = heads[s], heads[s + 1] - heads[s]
        if u < heads[s + 1]:
            at[e] = place[s] + (v - first) * m + u - first
        else:
            tail = tails[tail_start[s] : tail_start[s + 1]]
            at[e] = place[s] + m * m + (v - first) * tail.size + _position(tail, u)
