"""The errors and warnings of gramfold. Each message states what was found, what it means and what to change."""

from typing import Any


class GramfoldError(Exception):
    """Base of every error that gramfold raises on purpose."""


class InputError(GramfoldError, ValueError):
    """The data or a parameter cannot be used as given."""


class NotNumbersError(InputError, TypeError):
    """Columns hold values that are not numbers: text, dates, categories, objects."""


class PrecomputedInputError(GramfoldError, TypeError):
    """The request needs the rows themselves, but the model was fitted on distances, a graph or a kernel."""


class LeftOutError(GramfoldError, AttributeError):
    """What was asked for is not in the model, which was saved with compact=True: it holds only what `transform` needs.

    It is an AttributeError, so that `hasattr` answers False.
    """


class NoPreimageError(InputError):
    """The requested inverse does not exist for this method, kernel or kind of rows."""


class UndefinedMeasureError(InputError):
    """A measure of a map is not defined for these rows or this number of neighbours."""


class DisconnectedGraphError(GramfoldError, ValueError):
    """The neighbour graph has several connected components, which must not or cannot be joined."""


class UnboundedProblemError(DisconnectedGraphError):
    """A semidefinite program is unbounded: its graph has several connected components."""


class InfeasibleLengthsError(GramfoldError, ValueError):
    """No set of points has these distances. If `weights` (one for each pair) is not None, it is a proof of that."""

    weights: Any = None


class NoInteriorError(GramfoldError, RuntimeError):
    """The feasible kernels have no interior, so an interior point method cannot reach the optimum."""


class NotConvergedError(GramfoldError, RuntimeError):
    """An iterative solver stopped before its residuals were below the tolerance."""


class SingularFactorError(GramfoldError, ArithmeticError):
    """A matrix cannot be factored: a pivot is zero or not finite."""


class ModelFileError(InputError):
    """A model cannot be written to a file, or a file holds no model: damaged, foreign, or of a newer format."""


class MemoryForecastError(GramfoldError, MemoryError):
    """The computation would need more memory than is available; `needed` is the number of bytes."""

    def __init__(self, sentence: str, needed: float | None = None) -> None:
        super().__init__(sentence)
        self.needed = needed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.needed)


class ClusterError(GramfoldError, RuntimeError):
    """A Dask cluster could not finish: workers were lost again and again, or the scheduler was."""


class MissingExtraError(GramfoldError, ImportError):
    """An optional dependency is not installed."""


class GramfoldWarning(UserWarning):
    """Base of every warning that gramfold gives."""


class DisconnectedGraphWarning(GramfoldWarning):
    """The neighbour graph has several connected components, or a new row has no neighbour."""


class DroppedEdgesWarning(GramfoldWarning):
    """Short circuits were removed from the neighbour graph, or an edge to remove is none of its edges."""


class ExtrapolationWarning(GramfoldWarning):
    """Rows, or coordinates, lie far outside of the training data."""


class RankWarning(GramfoldWarning):
    """There are fewer directions than n_components, or too few rows for the number of columns."""


class RepeatedDirectionWarning(GramfoldWarning):
    """A coordinate is a function of those before it, or there are fewer independent ones than n_components."""


class DegenerateMapWarning(GramfoldWarning):
    """The embedding shows little of the data: outliers dominate an axis, rows coincide, or neighbours are lost."""


class ScaleWarning(GramfoldWarning):
    """Few columns hold nearly all of the variance, because their units differ from those of the others."""


class CountsWarning(GramfoldWarning):
    """Rows are counts of different depth, so that distances show first how much was counted."""


class NotConvergedWarning(GramfoldWarning):
    """An iteration stopped at max_iter before it converged."""


class PinnedWarning(GramfoldWarning):
    """The kept distances determine the kernel: semidefinite embedding has nothing to unfold."""


class NotEuclideanWarning(GramfoldWarning):
    """Precomputed distances are not Euclidean, but the method's local weights assume that they are."""


class ApproximationWarning(GramfoldWarning):
    """A faster approximate computation was used, because the exact one would take much longer."""


class RefitWarning(GramfoldWarning):
    """Some refits of a map failed, so that a diagnostic knows only the others."""


class UndefinedMeasureWarning(GramfoldWarning):
    """One of several measures of a map is not defined, and is NaN."""


class HeaderWarning(GramfoldWarning):
    """The first line of a text file is all numbers and may be a header or values."""


class CompileCacheWarning(GramfoldWarning):
    """The cache of compiled code is damaged or not writable, so the code is compiled again."""
