"""Convert every accepted form of `random_state` to a NumPy generator."""

import operator

import numpy as np
from numpy.typing import NDArray

RandomStateLike = int | np.integer | np.random.RandomState | np.random.Generator | None

# enough 32-bit words to fill the pool from which numpy seeds a generator
SEED_WORDS = 4


def generator(random_state: RandomStateLike) -> np.random.Generator:
    """Return the generator for a `random_state`.

    A `Generator` is used as it is. A `RandomState` seeds a new one and advances, so that two calls with the
    same object give different samples, as with a `Generator`.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**32, size=SEED_WORDS, dtype=np.uint32)
        return np.random.default_rng(words)
    if random_state is None:
        return np.random.default_rng()
    try:
        seed = operator.index(random_state)
    except TypeError:
        seed = -1
    if seed < 0:
        raise ValueError(
            f"random_state={random_state!r} cannot seed a generator; give None, a non-negative integer, "
            "a RandomState or a Generator."
        )
    return np.random.default_rng(seed)


def add_noise(points: NDArray[np.float64], noise: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Add independent Gaussian noise of standard deviation `noise` to every coordinate."""
    if noise == 0.0:
        return points
    return points + rng.normal(scale=noise, size=points.shape)
