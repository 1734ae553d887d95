"""Random numbers from what a user passes."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramfold.errors import InputError


def drawn_from(random_state: Any) -> np.random.RandomState:
    """The generator of a seed, a RandomState or None."""
    try:
        found: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:  # of scikit-learn, or of NumPy for seeds out of range
        raise InputError(
            f"random_state={random_state!r} is not a seed: pass an integer from 0 to 2**32 - 1, a RandomState or None."
        ) from error
    return found
