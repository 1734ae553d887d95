"""From places on the map back to rows, and how far a row or a place is from all that was seen.

    mixture       a blend of affine maps, each of a patch of the map        extension/mixture_inverse.py
    barycentric   the weights of a place among its nearest, on their rows   extension/inverse.py
    ridge         kernel ridge regression of rows on places                 extension/ridge_inverse.py
    fixed-point   the row whose image is nearest (kernel PCA)               extension/fixed_point.py

A way back is made when it is first asked for: a map that nobody leaves again does not pay for it.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from gramfold.embedding.columns import as_table, require_table
from gramfold.embedding.reading import read_places
from gramfold.embedding.units import out_of_unit
from gramfold.errors import InputError, NoPreimageError, PrecomputedInputError
from gramfold.extension.extrapolation import EUCLIDEAN, Ball, Surroundings, warn_if_outside
from gramfold.extension.inverse import LocalInverse
from gramfold.extension.mixture_inverse import MixtureInverse
from gramfold.extension.ridge_inverse import RidgeInverse
from gramfold.neighbors.metrics import Metric
from gramfold.runtime.progress import Stages
from gramfold.types import Floats

Way = Literal["auto", "mixture", "barycentric", "ridge", "fixed-point"]


class Inverse(Protocol):
    """Rebuilds rows from places, and judges itself by rows that it has not seen."""

    def __call__(self, places: Floats) -> Any:
        """Rows that belong to these places."""

    def judge(self) -> float:
        """Root mean square misfit of such rows, relative to their spread."""


class WayBack:
    """Part of the engine; not used by itself."""

    # --- what the engine gives

    inverse: Way
    n_jobs: Any
    verbose: Any
    embedding_: Floats
    kept_: Any
    unit_: float
    _unit_of_map: float

    @property
    @abstractmethod
    def _precomputed(self) -> bool:
        """Whether X holds distances or kernel values instead of rows."""

    @property
    @abstractmethod
    def _dimensions(self) -> int:
        """Columns of the map."""

    @abstractmethod
    def _read(self, X: Any, *, reset: bool) -> Any:
        """Check what a user passes."""

    # --- what a method may change

    # whether the way back by "auto" is one rule for the whole map, wherever the training rows are
    _global_inverse: ClassVar[bool] = False

    @property
    def _row_metric(self) -> Metric:
        """By which rows are near."""
        return EUCLIDEAN

    def _rows_to_rebuild(self, X: Any) -> Any:
        """The training rows as the way back has them."""
        return X

    def _ball_of_rows(self) -> Ball:
        """About the training rows."""
        return Ball.of(self._training)

    def _check_way(self) -> None:
        """Refuse a way back that this method does not have."""
        if self.inverse == "fixed-point":
            raise NoPreimageError(
                f"inverse='fixed-point' looks for the row whose image under a kernel function is nearest, and "
                f"{type(self).__name__} has no such function: use 'mixture', 'barycentric' or 'ridge'."
            )
        if self.inverse not in get_args(Way):
            raise InputError(f"inverse={self.inverse!r} is no way back: use one of {', '.join(get_args(Way))}.")

    def _make_way(self, way: str) -> Inverse:
        """The way back of this name."""
        places, rows = self._known()
        if way in {"auto", "barycentric"}:
            return LocalInverse(places, rows, self.n_jobs)
        if issparse(rows):
            raise NoPreimageError(
                f"inverse={way!r} makes dense rows and {type(self).__name__} was fitted on sparse ones: use "
                "'barycentric', which keeps them sparse."
            )
        return MixtureInverse(places, rows) if way == "mixture" else RidgeInverse(places, rows)

    # --- made when first asked for

    def _remember(self, X: Any) -> None:
        """Keep what the way back will be made from."""
        self._ways: dict[str, Any] = {}
        self._training = None if self._precomputed else self._rows_to_rebuild(X)
        self._ball = None if self._training is None else self._ball_of_rows()

    def _known(self) -> tuple[Floats, Any]:
        """Places and rows of the training rows that have a place."""
        if self.kept_.all():
            return self._inner_map(), self._training
        assert self._training is not None
        return self._inner_map()[self.kept_], self._training[self.kept_]

    def _once(self, name: str, make: Any) -> Any:
        """What `make` gives, made once. Threads that come at the same time may each make it: they make the same."""
        made = self._ways.get(name)
        if made is None:
            made = make()
            self._ways = {**self._ways, name: made}  # replaced, not changed: others may be reading it
        return made

    def _way(self) -> Inverse:
        if self._training is None:
            raise PrecomputedInputError(
                f"{type(self).__name__} was fitted on precomputed values and has never seen the rows themselves, so it "
                "cannot rebuild any: fit it on a table of rows to use inverse_transform."
            )

        def make() -> Inverse:
            self._check_way()
            with Stages(self.verbose, type(self).__name__)("inverse"):
                return self._make_way(self.inverse)

        made: Inverse = self._once(self.inverse, make)
        return made

    def inverse_error(self) -> float | None:
        """Cross-validated error of `inverse_transform`, found at the first call.

        Returns
        -------
        error : float or None
            Root mean square error of training rows rebuilt without themselves, relative to their spread. None where
            only precomputed values are known.
        """
        check_is_fitted(self)
        if self._training is None:
            return None
        return float(self._once(f"error of {self.inverse}", lambda: self._way().judge()))

    def inverse_transform(self, Y: Any) -> Any:
        """Rebuild data rows from places on the map.

        By the way that `inverse` names, made at the first call. `inverse_error()` says how well training rows are
        rebuilt without themselves. Places far outside of the map (`extrapolation` above 3) are warned of.

        Parameters
        ----------
        Y : array-like of shape (n_places, n_components)
            Places on the map.

        Returns
        -------
        X : ndarray of shape (n_places, n_features)
            Data rows.
        """
        check_is_fitted(self)
        way = self._way()
        places = self._inward(read_places(Y, self._dimensions))
        warn_if_outside(self._outside_map(places), "places")
        return out_of_unit(way(places), self.unit_, self.embedding_.dtype, "rows that belong to these places")

    # --- the unit of the map

    def _outward(self, places: Floats, dtype: Any) -> Floats:
        """Places in the user's unit."""
        return np.asarray(out_of_unit(places, self._unit_of_map, dtype, "places on the map"))

    def _inward(self, places: Floats) -> Floats:
        """Places in the unit that the model was made in."""
        return places if self._unit_of_map == 1.0 else places / places.dtype.type(self._unit_of_map)

    def _inner_map(self) -> Floats:
        """The map in that unit."""
        return self._inward(self.embedding_)

    # --- how far outside

    def extrapolation(self, points: Any, *, of: Literal["auto", "rows", "places"] = "auto") -> Floats:
        """How far outside of the training data rows, or places on the map, lie.

        The distance to the nearest training row (or place), relative to how far that one is from its own 8th
        neighbour, or reaches in the method's graph: 0 on a training row, below 1 amid them, and growing with the
        distance. `transform` and `inverse_transform` warn above 3 (a method that is one rule for the whole space only
        looks at rows farther from their mean than any training row is).

        Parameters
        ----------
        points : array-like of shape (n_points, n_features) or (n_points, n_components)
            Rows as `transform` takes them, or places as `inverse_transform` does.
        of : {"auto", "rows", "places"}
            Which of both; "auto" tells by the number of columns, and asks where both have as many.

        Returns
        -------
        extrapolation : ndarray of shape (n_points,)
            How far outside each one is.
        """
        check_is_fitted(self)
        if of == "auto":
            of = self._which(points)
        if of == "places":
            return self._around_map()(self._inward(read_places(points, self._dimensions)))
        if of != "rows":
            raise InputError(f"of={of!r} is neither rows nor places: use 'rows', 'places' or 'auto'.")
        return self._outside(self._read(points, reset=False))

    def _which(self, points: Any) -> Literal["rows", "places"]:
        table = as_table(points)
        require_table(table, least_rows=1)
        width = table.shape[1]
        rows: int = self.n_features_in_  # type: ignore[attr-defined]
        if rows == self._dimensions:
            raise InputError(
                f"rows and places both have {rows} columns, so extrapolation() cannot tell which these are: say "
                "of='rows' or of='places'."
            )
        return "places" if width == self._dimensions else "rows"

    def _outside_map(self, places: Floats) -> Floats:
        if not (self._global_inverse and self.inverse == "auto"):
            return self._around_map()(places)
        ball: Ball = self._once("ball", lambda: Ball.of(self._inner_map()[self.kept_]))
        return ball.outside(places, self._around_map)

    def _around_map(self) -> Surroundings:
        made: Surroundings = self._once(
            "map", lambda: Surroundings(self._inner_map()[self.kept_].astype(np.float64), self.n_jobs)
        )
        return made

    def _around_rows(self) -> Surroundings:
        if self._training is None:
            raise PrecomputedInputError(
                f"{type(self).__name__} was fitted on precomputed kernel values or distances, which do not tell how "
                "far outside of the training rows a row lies: fit it on a table of rows, or ask about places (of=)."
            )
        return Surroundings(self._known()[1], self.n_jobs, self._row_metric)

    def _outside(self, X: Any) -> Floats:
        """How far outside of the training rows these lie, (m,)."""
        return self._around_rows()(X)

    def _warn_of_outside(self, X: Any) -> Floats:
        """How far outside rows lie that are farther from the mean than any training row, 0 for others; said if far."""
        if self._ball is None:
            return np.zeros(X.shape[0])
        outside = self._ball.outside(X, self._around_rows)
        warn_if_outside(outside, "rows")
        return outside
