"""Means of distances, of their squares and products over all pairs of rows, from the distances of some rows.

    R the m rows drawn, S the others; A the sums over ordered pairs, of which A_RR and A_RS are known:
    A = A_RR + 2 A_RS + A_SS,   A_SS estimated by  2 (n − m − 1)/m · (A_RS − (n − m) A_RR / (2 (m − 1)))

This is unbiased, and without error if a_ij = u_i + u_j: a far row adds to the distances of every row that was drawn, so
it counts whether it was drawn or not. What is left is the error of the interaction g_ij = a_ij − u_i − u_j + μ. Its sums
over all rows are 0, so that the sums of g over RS and SS follow from that over RR, and

    Â − A = −(n − 1)(n − 2) / (m (m − 1)) · G_RR,    Var G_RR = 2 Q (π₂ − 2 π₃ + π₄),   Q = Σ_{i ≠ j} g_ij²

with π_t the probability that t given rows are drawn. Q is estimated from all pairs with a row in R.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gramfold.diagnostics.intervals import half_width
from gramfold.diagnostics.judged import Judged
from gramfold.types import Floats


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
        n, m, rows = judged.n, len(judged.rows), judged.rows
        units = tuple(float(table.distances(rows[:1]).mean()) or 1.0 for table in (judged.data, judged.map))
        of_rows = np.empty((m, 5))

        def work(part: slice) -> tuple[Floats, ...]:
            d = judged.data.distances(rows[part]) / units[0]  # (b, n)
            y = judged.map.distances(rows[part]) / units[1]
            values = np.stack([d, y, d * d, y * y, d * y])  # (5, b, n)
            of_rows[part] = values.sum(axis=2).T
            if judged.exact:
                return (of_rows[part].sum(axis=0),)
            flat = values.reshape(5, -1)
            return values[:, :, rows].sum(axis=(1, 2)), values.sum(axis=1), flat @ flat.T

        if judged.exact:
            (total,) = judged.added_over_rows(work)
            return cls(total / (n * (n - 1)), None, of_rows, (units[0], units[1]), m - 1)
        inside, columns, products = judged.added_over_rows(work)  # (5,), (5, n), (5, 5)
        others = n - m
        across = of_rows.sum(axis=0) - inside
        rest = 2 * (others - 1) / m * (across - others * inside / (2 * (m - 1)))
        # Σ over R and all rows of the products of what is left beside the means of rows and columns
        u, v = of_rows / n, columns / m
        left = products - n * u.T @ u - m * v @ v.T + m * n * np.outer(u.mean(axis=0), u.mean(axis=0))
        scale = (n - 1) * (n - 2) / (m * (m - 1)) / (n * (n - 1))
        covariance = scale**2 * 2 * _variance_share(n, m) * left * n / (m - 1)
        return cls((inside + 2 * across + rest) / (n * (n - 1)), covariance, of_rows, (units[0], units[1]), m - 1)

    def half_width(self, gradient: Floats) -> float:
        """Of the 95% interval of a function of the means that has this gradient."""
        assert self.covariance is not None
        return half_width(float(gradient @ self.covariance @ gradient), self.degrees)


def _variance_share(n: int, m: int) -> float:
    """π₂ − 2 π₃ + π₄."""
    pair = m * (m - 1) / (n * (n - 1))
    third = (m - 2) / (n - 2)
    return float(pair * (1 - 2 * third + third * (m - 3) / (n - 3)))
