"""There and back on the swiss roll, for every estimator and way: `python -m benchmarks.there_and_back [n [class ...]]`.

n (5000) rows of a roll whose height is two thirds of its length, defaults otherwise; 500 rows that were not there are
placed by `transform` and rebuilt by `inverse_transform`. Median distance to the row itself, relative to the roll's
length, and in brackets what `inverse_error()` says (root mean square, relative to the spread of the rows).
"""

import sys
import time
import warnings

import numpy as np

import gramfold
from gramfold.datasets import make_swiss_roll
from gramfold.errors import NoPreimageError

LENGTH = 90.0
WAYS = ("auto", "barycentric", "mixture", "ridge", "fixed-point")


def estimators() -> list[type]:
    """Every exported class that has a way back, aliases once."""
    values = [getattr(gramfold, name) for name in gramfold.__all__]
    classes = [value for value in values if isinstance(value, type) and hasattr(value, "inverse_transform")]
    return list(dict.fromkeys(classes))


def there_and_back(cls: type, known: np.ndarray, fresh: np.ndarray) -> list[str]:
    """A cell for each way."""
    started = time.perf_counter()
    model = cls().fit(known)
    places = model.transform(fresh)
    took, cells = time.perf_counter() - started, []
    for way in WAYS:
        model.inverse = way
        try:
            error = np.median(np.linalg.norm(model.inverse_transform(places) - fresh, axis=1)) / LENGTH
        except NoPreimageError:
            cells.append("–")
        else:
            cells.append(f"{error:.2%} ({model.inverse_error():.3f})")
    return [*cells, f"{took:.1f} s"]


def main() -> None:
    """Print the table."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    wanted = sys.argv[2:]
    points = make_swiss_roll(n + 500, length=LENGTH, height=2 / 3 * LENGTH, random_state=0).points
    warnings.simplefilter("ignore")
    print(f"| method | {' | '.join(WAYS)} | fit and transform |\n|---|{'---|' * (len(WAYS) + 1)}")
    for cls in estimators():
        if not wanted or cls.__name__ in wanted:
            print(f"| {cls.__name__} | {' | '.join(there_and_back(cls, points[:n], points[n:]))} |", flush=True)


if __name__ == "__main__":
    main()
