"""The few named errors and warnings. Each message says what was found, what it means, what to change."""

from typing import Any


class GramfoldError(Exception):
    """Base of every error that gramfold raises on purpose."""


class InputError(GramfoldError, ValueError):
    """The data or a parameter cannot be used as given."""


class NotNumbersError(InputError, TypeError):
    """Columns hold something else than numbers: text, dates, categories, objects."""


class PrecomputedInputError(GramfoldError, TypeError):
    """The request needs the points themselves, and only their distances, graph or kernel are known."""


class NoPreimageError(InputError):
    """The way back that was asked for does not exist for this method, kernel or kind of rows."""


class DisconnectedGraphError(GramfoldError, ValueError):
    """The neighbour graph falls into pieces and nothing may or can join them."""


class UnboundedProblemError(DisconnectedGraphError):
    """A semidefinite program has no largest value: its graph is in pieces that can move apart without end."""


class InfeasibleLengthsError(GramfoldError, ValueError):
    """No points have these distances. Where weights of the pairs prove it, they are in `weights`."""

    weights: Any = None


class NoInteriorError(GramfoldError, RuntimeError):
    """The feasible kernels have no interior, so an interior point method cannot reach the optimum."""


class NotConvergedError(GramfoldError, RuntimeError):
    """An iterative solver stopped before its residuals were small enough to trust."""


class SingularFactorError(GramfoldError, ArithmeticError):
    """A matrix cannot be factored: a pivot is zero, or no number."""


class MemoryForecastError(GramfoldError, MemoryError):
    """The work would need more memory than there is; refused before it began. `needed` says how many bytes."""

    def __init__(self, sentence: str, needed: float | None = None) -> None:
        super().__init__(sentence)
        self.needed = needed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.needed)


class MissingExtraError(GramfoldError, ImportError):
    """An optional dependency is not installed."""


class GramfoldWarning(UserWarning):
    """Base of every warning that gramfold gives."""


class DisconnectedGraphWarning(GramfoldWarning):
    """The neighbour graph fell into pieces, or a new point has no neighbour; says what was done about it."""


class ExtrapolationWarning(GramfoldWarning):
    """Rows, or places on the map, lie far outside of the training data; says how many and how far."""


class RankWarning(GramfoldWarning):
    """There are fewer directions than were asked for, or too few rows to tell what is fitted to them."""


class RepeatedDirectionWarning(GramfoldWarning):
    """A coordinate of the map is a function of those before it, or fewer independent ones were found than asked for."""


class DegenerateMapWarning(GramfoldWarning):
    """The map shows little of the data: few rows take an axis, few places, lost neighbours, or rows without a value."""


class NotConvergedWarning(GramfoldWarning):
    """An iteration stopped at its last allowed step; says how far it still moved."""


class PinnedWarning(GramfoldWarning):
    """The kept distances leave nothing to unfold: the learned kernel is the one of the data as they lie."""


class NotEuclideanWarning(GramfoldWarning):
    """Distances are those of no points in a Euclidean space, and local weights need such; says how far they are off."""


class ApproximationWarning(GramfoldWarning):
    """A faster approximate path was taken because the exact one would dominate; says which and how good."""


class HeaderWarning(GramfoldWarning):
    """The first line of a text file is all numbers and may be names or values; says which it was taken for."""


class CompileCacheWarning(GramfoldWarning):
    """Compiled code on disk is damaged, or cannot be kept there, so it is compiled again; says which and where."""
