"""When expectation and maximisation has settled: a step adds next to nothing to the log-likelihood."""

from gramfold.errors import NotConvergedWarning
from gramfold.runtime.warning import warn


def has_settled(history: list[float], enough: float) -> bool:
    """Whether the last step added less than `enough`."""
    return len(history) > 1 and history[-1] - history[-2] < enough


def warn_unsettled(history: list[float], count: float, what: str) -> None:
    """Warn, with the last increase per one of `count` things called `what`."""
    steps = len(history)
    still = f" (last increase per {what}: {(history[-1] - history[-2]) / count:.1e})" if steps > 1 else ""
    warn(
        f"the log-likelihood did not converge in max_iter={steps} iterations{still}: increase max_iter or tol.",
        NotConvergedWarning,
    )
