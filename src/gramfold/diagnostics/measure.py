"""What a measure of a map returns."""

from dataclasses import dataclass

from gramfold.types import Floats


@dataclass(frozen=True, eq=False, repr=False)
class Measure:
    """A number about a map.

    Attributes
    ----------
    value : float
        Of the whole map.
    interval : pair of float, or None
        In which the exact value lies with 95% confidence, where it was estimated from a sample; None where `value` is
        exact.
    per_point : ndarray of shape (n_rows,), or None
        The same of each row, NaN for rows that are not in the sample; None for a measure that is not a sum over rows.
    """

    value: float
    interval: tuple[float, float] | None = None
    per_point: Floats | None = None

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        if self.interval is None:
            return f"Measure({self.value:.4g})"
        return f"Measure({self.value:.4g}, 95% interval {self.interval[0]:.4g} to {self.interval[1]:.4g})"
