"""Random numbers from what a user passes."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramfold.errors import InputError

_SEEDS = 2**32  # of NumPy's RandomState


def drawn_from(random_state: Any) -> np.random.RandomState:
    """The generator of a seed, a RandomState or None."""
    try:
        found: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:  # of scikit-learn, or of NumPy for seeds out of range
        raise InputError(
            f"random_state={random_state!r} is not a seed: pass an integer from 0 to 2**32 - 1, a RandomState or None."
        ) from error
    return found


def check_seed(random_state: Any) -> int:
    """A seed as an integer, for what draws several times and the same each time."""
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if not whole or not 0 <= int(random_state) < _SEEDS:
        raise InputError(f"random_state={random_state!r} is not a seed: pass an integer from 0 to 2**32 - 1.")
    return int(random_state)
