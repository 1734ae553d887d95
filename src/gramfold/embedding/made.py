"""What is made from a model when it is first asked for: its inverses, how far they are off, and the verdict.

A map that nobody leaves again does not pay for them. They live in one attribute of the estimator, which is neither
pickled nor copied, and which a new fit makes void.
"""

from collections.abc import Callable
from typing import Any, Literal, get_args

from gramfold.embedding.model import Inverse, Model
from gramfold.errors import InputError
from gramfold.extension.extrapolation import Surroundings
from gramfold.runtime.progress import Stages

Way = Literal["auto", "mixture", "barycentric", "ridge", "fixed-point"]
MADE = "_made"
_VERDICT = "verdict"


def made_inverse(estimator: Any, model: Model) -> Inverse:
    """The inverse that the estimator's parameter names."""

    def make() -> Inverse:
        if estimator.inverse not in get_args(Way):
            raise InputError(f"inverse={estimator.inverse!r} is not valid: use one of {', '.join(get_args(Way))}.")
        with Stages(estimator.verbose, model.name, estimator.progress)("inverse"):
            return model.inverse(estimator.inverse, estimator.n_jobs)

    made: Inverse = _once(estimator, model, estimator.inverse, make)
    return made


def made_error(estimator: Any, model: Model) -> float:
    """How far training rows, rebuilt by it without themselves, are off."""
    name = f"error of {estimator.inverse}"
    return float(_once(estimator, model, name, lambda: made_inverse(estimator, model).judge()))


def made_surroundings(estimator: Any, model: Model) -> Surroundings:
    """The places of the training rows, asked how far others lie outside of them."""
    made: Surroundings = _once(estimator, model, "surroundings", lambda: model.around(estimator.n_jobs))
    return made


def made_compact(estimator: Any, model: Any) -> Any:
    """What new rows read of the model."""
    return _once(estimator, model, "compact", model.compacted)


def made_verdict(estimator: Any, model: Model, asked: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """What is said of the map, with these arguments."""
    said = _once(estimator, model, f"verdict with {asked}", make)
    setattr(estimator, MADE, (model, {**_known(estimator, model), _VERDICT: said}))
    return said


def known_verdict(estimator: Any) -> Any:
    """What was last said of this fit; None where nobody has asked. Nothing is computed."""
    return _known(estimator, vars(estimator).get("model_")).get(_VERDICT)


def _once(estimator: Any, model: Model, name: str, make: Callable[[], Any]) -> Any:
    """What `make` gives, made once. Threads that come at the same time may each make it: they make the same."""
    made = _known(estimator, model)
    if name not in made:
        value = make()  # which may have made others
        made = {**_known(estimator, model), name: value}
        setattr(estimator, MADE, (model, made))  # replaced, not changed: others may be reading it
    return made[name]


def _known(estimator: Any, model: Model | None) -> dict[str, Any]:
    of, made = vars(estimator).get(MADE, (None, {}))
    return made if of is model else {}  # of the fit before
