"""Kernel PCA as an estimator.

    fit        rows -> kernel -> leading spectrum -> coordinates V Λ^a
    transform  new rows meet the kernel and are placed on the same axes

A method says how its kernel is built (`_kernel`) and how it meets new points (`_place`).
"""

from abc import abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from gramfold.embedding.all_or_nothing import all_or_nothing
from gramfold.embedding.degenerate import Data, rows_by, warn_of_degenerate_map
from gramfold.embedding.parameters import method, parameter
from gramfold.embedding.pieces import Piece, side_by_side
from gramfold.embedding.reading import read_rows
from gramfold.embedding.units import in_unit, unit_of
from gramfold.embedding.way_back import Way, WayBack
from gramfold.errors import InputError, PrecomputedInputError, RankWarning
from gramfold.extension.extrapolation import LIMIT, warn_if_flown
from gramfold.extension.project import place_everybody, positive_directions
from gramfold.runtime.memory import fits, require_memory
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import openmp_threads
from gramfold.runtime.warning import warn
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats, Graph, Integers, Kernel, Spectrum

_SCORE_NEIGHBORS = 10


@method
class KernelEmbedding(WayBack, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Engine of every method; not used by itself."""

    n_components: int = parameter(
        default=2, allowed=[Interval(Integral, 1, None, closed="left")], words="Dimensions of the map.", kw_only=False
    )
    inverse: Way = parameter(
        default="auto",
        allowed=[StrOptions(set(get_args(Way)))],
        words="""The way from places on the map back to rows: a blend of local affine maps ("mixture"), the mean of the
        nearest rows with the weights of their places ("barycentric"), kernel ridge regression ("ridge"), or the row
        whose image is nearest ("fixed-point", Gaussian kernel PCA only). "auto" is the method's own where it has one
        (a linear map has its least squares inverse) and barycentric where not. It is made at the first call and may be
        changed without a new fit.""",
    )
    n_jobs: int | None = parameter(default=None, allowed=[Integral, None], words="Threads; None means every core.")
    verbose: int = parameter(default=0, allowed=["verbose"], words="Tell each stage on standard error.")

    _attributes: ClassVar[str] = """
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    kernel_ : Kernel
        The Gram matrix as an object: products, columns, feature-space distances.
    spectrum_ : Spectrum
        Its leading eigenvalues and eigenvectors, their residuals, who solved it, and for a gram its negative part.
    unit_ : float
        What `kernel_`, `spectrum_` and everything else but the map is measured in: 1, or the power of two that brings
        rows of a very small or large size to one whose squares are numbers.
    timings_ : dict
        Seconds of each stage.
    n_features_in_ : int
        Columns of X.
    """
    # whether the map stays the same when all rows are rotated, shifted or reordered
    _invariant: ClassVar[bool] = True
    # whether the map is looked at after a fit, as one that may show little of the data
    _judged: ClassVar[bool] = True

    # --- what a method writes

    @abstractmethod
    def _kernel(self, source: Any, stages: Stages) -> Kernel:
        """The kernel of a source: a connected Graph, or the training rows."""

    @abstractmethod
    def _place(self, piece: Piece, new: Any) -> Floats:
        """Coordinates of new points in the frame of a piece."""

    @property
    @abstractmethod
    def _precomputed(self) -> bool:
        """Whether X holds distances or kernel values instead of rows."""

    @property
    def _accepts_sparse(self) -> bool:
        """Whether X may be a sparse matrix."""
        return False

    @property
    def _allows_missing(self) -> bool:
        """Whether values of X may be missing (NaN)."""
        return False

    @property
    def _dimensions(self) -> int:
        """Columns of the map."""
        return self.n_components

    @property
    def _degree(self) -> float | None:
        """The power of the rows' unit that the map comes in; None where it has no such law."""
        return None

    def _memory(self, n: int, itemsize: int) -> float:
        """Bytes that fit needs for n rows beyond the rows themselves; an n × n matrix unless said otherwise."""
        return float(n) ** 2 * itemsize

    # --- fit

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; with ``"precomputed"``, the square matrix of the training rows.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._validate_params()
        self._check_way()
        X = self._read(X, reset=True)
        self._dtype = X.dtype
        stages = Stages(self.verbose, type(self).__name__)
        self._check_components(X.shape[0])
        self._forecast(X.shape[0], X.dtype.itemsize)
        sources, rows_of = self._sources(X, stages)
        pieces = [self._solve(source, rows, stages) for source, rows in zip(sources, rows_of, strict=True)]
        self._pieces = side_by_side(pieces)
        self.embedding_ = self._assembled(X, rows_of)
        self._place_others(X)
        first = self._pieces[0]
        self.kernel_, self.spectrum_ = first.kernel, _over_rows(first.spectrum, first.kernel.rows)
        self.kept_ = ~np.isnan(self.embedding_[:, 0])
        self.embedding_ = self._outward(self.embedding_, X.dtype)
        self._remember(X)
        self.timings_ = stages.seconds
        self._judge_map(X)
        return self

    def _assembled(self, X: Any, rows_of: list[Integers]) -> Floats:
        """The map of all rows from those of the pieces; NaN where a row is in none."""
        embedding = np.full((X.shape[0], self._dimensions), np.nan, dtype=X.dtype)
        for piece, rows in zip(self._pieces, rows_of, strict=True):
            embedding[rows] = (piece.coordinates + piece.offset)[self._vertices_of(rows)]
        return embedding

    def _judge_map(self, X: Any) -> None:
        """Warn where the map shows little of the data."""
        if self._judged:
            data, remedy = self._to_compare(X), self._remedy()
            warn_of_degenerate_map(self.embedding_, data, remedy, keeps_neighbors=self._keeps_neighbors())

    def _to_compare(self, X: Any) -> Data | None:
        """The data that the map is compared with; None where their distances are not quickly known."""
        return None if self._precomputed else rows_by(self._row_metric, X)

    def _keeps_neighbors(self) -> bool:
        """Whether rows that are near are meant to be near on the map, so that one which does not keep them failed."""
        return True

    def _remedy(self) -> str:
        """What may be changed where the map shows little, in words."""
        return "another method, or columns of one scale"

    def _forecast(self, n: int, itemsize: int) -> None:
        def instead() -> list[str]:
            half = itemsize == 8 and self._memory(n, 4) < 0.6 * self._memory(n, 8) and fits(self._memory(n, 4))
            return ["or pass float32 rows, which need half"] * half + self._memory_advice(n, itemsize)

        need, least = (lambda rows: self._memory(rows, itemsize)), self._dimensions + 1
        require_memory(type(self).__name__, need, n, instead=instead, least=least)

    def _memory_advice(self, n: int, itemsize: int) -> list[str]:
        """What else would fit, in words that begin with "or"."""
        return []

    def _solve(self, source: Any, rows: Integers, stages: Stages) -> Piece:
        n = len(source) if isinstance(source, Graph) else source.shape[0]
        nowhere = np.zeros(self.n_components)
        if n == 1:
            return Piece(source, None, None, np.zeros((1, self.n_components)), nowhere)
        with stages("kernel"):
            kernel = self._kernel(source, stages)
        with stages("spectrum"):
            count = min(self.n_components, len(kernel.mass) - kernel.null.shape[1])
            spectrum = self._spectrum(kernel, count)
        self._warn_of_rank(kernel, spectrum, count)
        coordinates = np.zeros((n, self.n_components))
        coordinates[:, : len(spectrum)] = place_everybody(kernel, spectrum)
        return Piece(source, kernel, spectrum, coordinates, nowhere)

    def _spectrum(self, kernel: Kernel, count: int) -> Spectrum:
        """The eigenpairs that the map is made of, at most `count`."""
        return leading_spectrum(kernel, count)

    def _warn_of_rank(self, kernel: Kernel, spectrum: Spectrum, count: int) -> None:
        positive = int(positive_directions(spectrum).sum())
        if kernel.exponent > 0 and positive < count:
            warn(
                f"the kernel has {positive} positive eigenvalues and n_components={self.n_components} were asked for: "
                f"the last {self.n_components - positive} columns of the map are zero.",
                RankWarning,
            )

    def _sources(self, X: Any, stages: Stages) -> tuple[list[Any], list[Integers]]:
        """What each piece is made from, and the data rows in it. Here one piece: all rows."""
        return [X], [np.arange(X.shape[0])]

    def _vertices_of(self, rows: Integers) -> Integers:
        """The vertex of each data row within its piece."""
        return rows

    def _place_others(self, X: Any) -> None:
        """Fill in the map of rows that are in no source but have a place beside them. Here there are none."""

    def _check_components(self, n: int) -> None:
        if self._dimensions >= n:
            raise InputError(
                f"n_components={self._dimensions} and there are n_samples={n} distinct rows, whose map has at most "
                f"{n - 1} dimensions: use n_components <= {n - 1}."
            )

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Embed the rows of X and return their map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        return self.fit(X).embedding_.copy()  # the user's own, as the model's is

    # --- new points

    def transform(self, X: Any) -> Floats:
        """Place new rows on the fitted map.

        Rows far outside of the training rows (`extrapolation` above 3) are warned of.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New rows; with ``"precomputed"``, their values against the training rows.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            Their places.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        return self._outward(self._transform(X), X.dtype)

    def _transform(self, X: Any) -> Floats:
        return self._place_all(X, self._warn_of_outside(X))

    def _place_all(self, X: Any, outside: Floats) -> Floats:
        """Places of new rows on a map of one piece, of which those amid the training rows should be on it."""
        places = self._place(self._pieces[0], X)
        warn_if_flown(places[outside <= LIMIT], self._pieces[0].coordinates)
        return places

    def score(self, X: Any, y: Any = None) -> float:
        """Trustworthiness of the map of X, between 0 and 1.

        How far the neighbours on the map are neighbours in the data (Venna, Kaski 2001), among the rows of X
        as `transform` places them, for up to 10 neighbours.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to place and judge, at least 4.
        y : ignored
            Present for scikit-learn's sake.

        Returns
        -------
        trustworthiness : float
            1 where no stranger has become a neighbour.
        """
        from sklearn.manifold import trustworthiness

        if self._precomputed:
            raise PrecomputedInputError(
                f"{type(self).__name__} was fitted on precomputed values and cannot score rows that it has never seen: "
                "fit it on a table of rows."
            )
        places = self._inward(self.transform(X))
        X = self._read(X, reset=False)
        placed = ~np.isnan(places[:, 0])
        k = min(_SCORE_NEIGHBORS, (int(placed.sum()) - 1) // 2)
        if k < 1:
            raise InputError(
                f"score needs at least 4 rows that have a place on the map and got {int(placed.sum())}: pass more rows."
            )
        # float32 rows and places have squares that overflow or vanish
        rows, places = X[placed].astype(np.float64), places[placed].astype(np.float64)
        with openmp_threads():
            return float(trustworthiness(rows, places, n_neighbors=k))

    # --- scikit-learn's protocol

    def _read(self, X: Any, *, reset: bool) -> Any:
        rows = read_rows(self, X, reset=reset, accept_sparse=self._accepts_sparse, allow_missing=self._allows_missing)
        return self._measured(rows, reset=reset)

    def _measured(self, rows: Any, *, reset: bool) -> Any:
        """The rows in the unit of the model, which training rows decide."""
        if reset:
            degree = self._degree
            self.unit_ = 1.0 if degree is None else unit_of(rows)
            self._unit_of_map = self.unit_ ** (degree or 0.0)
        return in_unit(rows, self.unit_)

    @property
    def _n_features_out(self) -> int:
        return self._dimensions

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = self._allows_missing
        return tags


def _over_rows(spectrum: Spectrum, rows: Integers) -> Spectrum:
    if np.array_equal(rows, np.arange(len(spectrum.eigenvectors))):
        return spectrum
    return replace(spectrum, eigenvectors=spectrum.eigenvectors[rows])
