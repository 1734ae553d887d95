"""A map as an estimator: new rows are placed on it, places on it become rows again. All of it reads `model_` only."""

from numbers import Integral
from operator import attrgetter
from typing import Any, Literal, get_args

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding.estimator import Estimator
from gramfold.embedding.frame import Alignable
from gramfold.embedding.made import MADE, Way, made_error, made_inverse, made_surroundings
from gramfold.embedding.model import Model
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.reading import read_places, rows_or_places
from gramfold.embedding.scoring import trustworthiness_of
from gramfold.errors import InputError
from gramfold.extension.extrapolation import warn_if_outside
from gramfold.types import Floats


def _embedding(model: Model) -> Floats:
    return model.aligned


@method
class Embedding(Alignable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Kernel PCA as an estimator; a method says how its kernel is built and how that meets new rows."""

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
        last=True,
    )

    embedding_ = attribute("ndarray of shape (n_samples, n_components)", "The map.", _embedding)
    kernel_ = attribute(
        "Kernel", "The Gram matrix as an object: products, columns, feature-space distances.", attrgetter("kernel")
    )
    spectrum_ = attribute(
        "Spectrum",
        """Its leading eigenvalues and eigenvectors, their residuals, who solved it, and for a gram its negative
        part.""",
        attrgetter("spectrum"),
    )
    kept_ = attribute("ndarray of bool", "Rows that have a place on the map.", attrgetter("kept"))
    unit_ = attribute(
        "float",
        """What `kernel_`, `spectrum_` and everything else but the map is measured in: 1, or the power of two that
        brings rows of a very small or large size to one whose squares are numbers.""",
        lambda model: model.source.unit.size,
    )

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Embed the rows of X and return their map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : array-like of shape (n_samples,), default=None
            As for `fit`.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        return self.fit(X, y).embedding_.copy()  # the user's own, as the model's is

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
        model, rows = self._read(X)
        places: Floats = model.place(rows, self.n_jobs)
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
        model, rows = self._read(X)
        return trustworthiness_of(model, rows, lambda: self.transform(X))

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
        model: Model = self._model()
        inverse = made_inverse(self, model)
        places = model.inward(read_places(Y, model.embedding.shape[1]))
        warn_if_outside(model.outside_map(places, self.inverse, lambda: made_surroundings(self, model)), "places")
        return model.rebuild(inverse, places)

    def inverse_error(self) -> float | None:
        """Cross-validated error of `inverse_transform`, found at the first call.

        Returns
        -------
        error : float or None
            Root mean square error of training rows rebuilt without themselves, relative to their spread. None where
            only precomputed values are known.
        """
        model: Model = self._model()
        if model.rows is None:
            return None
        return made_error(self, model)

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
        model: Model = self._model()
        if of == "auto":
            of = rows_or_places(points, model.columns.count, model.embedding.shape[1])
        if of == "places":
            return made_surroundings(self, model)(model.inward(read_places(points, model.embedding.shape[1])))
        if of != "rows":
            raise InputError(f"of={of!r} is neither rows nor places: use 'rows', 'places' or 'auto'.")
        model, rows = self._read(points)
        return model.source.outside(rows, self.n_jobs)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != MADE}

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
