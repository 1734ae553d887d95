"""A fit that fails or is interrupted leaves the estimator as it was."""

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])
_DRAFT = "_draft"  # the attribute that a copy has while it is fitted


def all_or_nothing(fit: Fit) -> Fit:
    """Run `fit` on a copy, which the estimator becomes in one step when all is done."""

    @wraps(fit)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _DRAFT in vars(self):  # called by the fit of a subclass, which is on a copy already
            return fit(self, *args, **kwargs)
        draft = copy(self)
        setattr(draft, _DRAFT, True)
        fit(draft, *args, **kwargs)
        delattr(draft, _DRAFT)
        self.__dict__ = vars(draft)
        return self

    return cast(Fit, run)
