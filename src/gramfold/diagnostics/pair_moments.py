"""Means of distances, of their squares and products over all pairs of rows, from the distances of some rows.

A few rows that are far from the others are looked at for certain: their pairs are known. Of the n rows besides

    R are the m rows drawn, S the others; A the sums over ordered pairs, of which A_RR and A_RS are known:
    A = A_RR + 2 A_RS + A_SS,   A_SS estimated by  2 (n − m − 1)/m · (A_RS − (n − m) A_RR / (2 (m − 1)))

This is unbiased, and without error if a_ij = u_i + u_j: how far a row is from all others is seen from the rows drawn,
whether it was drawn or not. What is left is the error of the interaction g_ij = a_ij − u_i − u_j + μ. Its sums over all
rows are 0, so that the sums of g over RS and SS follow from that over RR, and

    Â − A = −(n − 1)(n − 2) / (m (m − 1)) · G_RR,    Var G_RR = 2 Q (π₂ − 2 π₃ + π₄),   Q = Σ_{i ≠ j} g_ij²

with π_t the probability that t given rows are drawn. Q is estimated from all pairs with a row in R.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gramfold.diagnostics.intervals import half_width
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.tables import Table
from gramfold.types import Floats, Integers

_LOOKS = 20  # rows from which it is seen who is far
_FAR = 20  # rows that are far, in the data and on the map


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Of d and y, distances of pairs of rows in the data and on the map, each in a unit of about its mean."""

    means: Floats  # (5,) of d, y, d², y², dy over all pairs
    covariance: Floats | None  # (5, 5) of these estimates; None where they are exact
    of_rows: Floats  # (m, 5) the sums over the pairs of each row that was drawn
    units: tuple[float, float]
    degrees: int  # of freedom

    @classmethod
    def of(cls, judged: Judged) -> Self:
        """From one pass over the distances of the rows drawn."""
        n, rows = judged.n, judged.rows
        units = (_unit(judged.data, rows), _unit(judged.map, rows))
        of_rows = np.empty((len(rows), 5))
        if judged.exact:

            def add(part: slice) -> tuple[Floats, ...]:
                of_rows[part] = _values(judged, rows[part], units).sum(axis=2).T
                return (of_rows[part].sum(axis=0),)

            (total,) = judged.added_over(n, add)
            return cls(total / (n * (n - 1)), None, of_rows, units, n - 1)
        far = _far_rows(judged)
        near = np.flatnonzero(~np.isin(rows, far))  # places of the rows drawn besides
        rest, m = n - len(far), len(near)

        def add_far(part: slice) -> tuple[Floats, ...]:
            values = _values(judged, far[part], units)
            drawn = np.searchsorted(rows, far[part]) % len(rows)
            known = rows[drawn] == far[part]
            of_rows[drawn[known]] = values[:, known].sum(axis=2).T
            return (2 * values.sum(axis=(1, 2)) - values[:, :, far].sum(axis=(1, 2)),)

        among = np.empty((m, 5))  # sums over the pairs with rows that are not far

        def add_near(part: slice) -> tuple[Floats, ...]:
            values = _values(judged, rows[near[part]], units)  # (5, b, n)
            of_rows[near[part]] = values.sum(axis=2).T
            values[:, :, far] = 0.0
            among[part] = values.sum(axis=2).T
            flat = values.reshape(5, -1)
            return values[:, :, rows].sum(axis=(1, 2)), values.sum(axis=1), flat @ flat.T

        (with_far,) = judged.added_over(len(far), add_far)
        inside, columns, products = judged.added_over(m, add_near)  # (5,), (5, n), (5, 5)
        across = among.sum(axis=0) - inside
        beyond = 2 * (rest - m - 1) / m * (across - (rest - m) * inside / (2 * (m - 1)))
        # Σ over R and all rows of the products of what is left beside the means of rows and columns
        u, v = among / rest, columns / m
        left = products - rest * u.T @ u - m * v @ v.T + m * rest * np.outer(u.mean(axis=0), u.mean(axis=0))
        scale = (rest - 1) * (rest - 2) / (m * (m - 1)) / (n * (n - 1))
        covariance = scale**2 * 2 * _variance_share(rest, m) * left * rest / (m - 1)
        means = (with_far + inside + 2 * across + beyond) / (n * (n - 1))
        return cls(means, covariance, of_rows, units, m - 1)

    def half_width(self, gradient: Floats) -> float:
        """Of the 95% interval of a function of the means that has this gradient."""
        assert self.covariance is not None
        return half_width(float(gradient @ self.covariance @ gradient), self.degrees)


def _unit(table: Table, rows: Integers) -> float:
    return float(table.distances(rows[:1]).mean()) or 1.0  # a first row at distance 0 from all others: any unit will do


def _values(judged: Judged, rows: Integers, units: tuple[float, float]) -> Floats:
    """(5, b, n) of each pair of these rows with all."""
    found = np.empty((5, len(rows), judged.n))
    d, y = found[:2]
    np.divide(judged.data.distances(rows), units[0], out=d)
    np.divide(judged.map.distances(rows), units[1], out=y)
    for product, (one, other) in zip(found[2:], ((d, d), (y, y), (d, y)), strict=True):
        np.multiply(one, other, out=product)
    return found


def _far_rows(judged: Judged) -> Integers:
    """Rows whose median distance from some rows is largest, in the data or on the map; whichever rows are drawn."""
    looks = judged.generator(3).choice(judged.n, min(_LOOKS, judged.n), replace=False)
    count = min(_FAR, len(judged.rows) // 4)  # so that most rows drawn are not among them
    farthest = []
    for table in (judged.data, judged.map):
        middle = np.median(table.distances(looks), axis=0)
        farthest.append(np.argsort(-middle, kind="stable")[:count])
    return np.union1d(*farthest)


def _variance_share(n: int, m: int) -> float:
    """π₂ − 2 π₃ + π₄."""
    pair = m * (m - 1) / (n * (n - 1))
    third = (m - 2) / (n - 2)
    return float(pair * (1 - 2 * third + third * (m - 3) / (n - 3)))
