"""When expectation and maximisation has settled: a step adds next to nothing to the log-likelihood."""

from gramfold.errors import NotConvergedWarning
from gramfold.runtime.warning import warn


def has_settled(history: list[float], enough: float) -> bool:
    """Whether the last step added less than `enough`."""
    return len(history) > 1 and history[-1] - history[-2] < enough


def warn_unsettled(history: list[float], count: float, what: str) -> None:
    """Tell how much the last of all allowed steps still added, per one of `count` things called `what`."""
    steps = len(history)
    still = f", which still rose by {(history[-1] - history[-2]) / count:.1e} in the last step," if steps > 1 else ""
    warn(
        f"the log-likelihood per {what}{still} has not settled after max_iter={steps} steps: allow more steps, or a "
        "larger tol.",
        NotConvergedWarning,
    )
