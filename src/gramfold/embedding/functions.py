"""What the methods of a kernel function share: its values, the rows that carry it, and the inverse of the Gaussian."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Model
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.solving import Whole, judged
from gramfold.extension.extrapolation import EUCLIDEAN, Ball
from gramfold.extension.function_placement import FunctionInverse, check_fixed_point
from gramfold.extension.placement import Built
from gramfold.extension.table_source import TableSource
from gramfold.kernels.functions import NAMES, SYNONYMS, KernelFunction
from gramfold.kernels.landmarks import Sampling
from gramfold.kernels.nystrom import function_spectrum
from gramfold.kernels.values import CarriedValues, FunctionMemory, KernelSettings, KernelValues, map_degree
from gramfold.neighbors.units import Unit


@method
class KernelFunctions:
    """A kernel as a function of two rows, and the rows that carry it."""

    kernel: KernelFunction = parameter(
        default="rbf",
        allowed=[StrOptions({*NAMES, *SYNONYMS, "precomputed"}), callable],
        words=""""linear", "poly", "rbf", "sigmoid", "cosine", "precomputed" or a function of two rows;
        "gaussian" and "polynomial" are other words for "rbf" and "poly".""",
    )
    gamma: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="""γ in the Gaussian exp(−γ|x−y|²), polynomial (γ⟨x,y⟩ + coef0)^degree and sigmoid kernels. None stands
        for 1/(2σ²) with σ² the total variance of the rows, half their mean squared distance (Gaussian), or for
        1/n_features (the others).""",
    )
    degree: float = parameter(
        default=3, allowed=[Interval(Real, 0, None, closed="neither")], words="Of the polynomial kernel."
    )
    coef0: float = parameter(
        default=1.0,
        allowed=[Interval(Real, None, None, closed="neither")],
        words="Of the polynomial and sigmoid kernels.",
    )
    kernel_params: Mapping[str, Any] | None = parameter(
        default=None, allowed=[dict, None], words="Passed to a function."
    )
    landmarks: Any = parameter(
        default=None,
        allowed=[Interval(Integral, 2, None, closed="left"), "array-like", None],
        words="""At most this many rows carry the kernel, or the numbers of the rows that do; None uses all rows and an
        n × n matrix. With given rows a precomputed kernel may hold one column per landmark instead of all.""",
    )
    landmark_choice: Sampling = parameter(
        default="random",
        allowed=[StrOptions({"random", "kmeans", "leverage"})],
        words="""Landmarks are rows at random, the rows nearest the centres of k-means, or rows drawn by their ridge
        leverage: those of which a first random subset says least.""",
    )

    gamma_ = attribute("float or None", "The γ used.")
    width_ = attribute("float or None", "σ of the Gaussian, γ = 1/(2σ²).")
    landmarks_ = attribute("ndarray of int or None", "The data rows that carry the kernel; None where all do.")
    error_ = attribute(
        "float or None",
        """Share of the kernel that the landmarks miss: the trace of the Schur complement K − C A† Cᵀ over that of K.
        None without landmarks, or where only columns of the kernel are known.""",
    )
    centered_error_ = attribute("float or None", "The same share of the centred kernel, which the map is of, at most.")


def function_map(fit: Fit, settings: KernelSettings, build: Callable[[CarriedValues, Whole, Fit], Built]) -> Model:
    """The map of a kernel function: `build` makes the kernel of its values."""
    if settings.inverse == "fixed-point":
        check_fixed_point(settings.kernel)
    memory, degree = FunctionMemory(settings, fit.reads.precomputed), map_degree(settings.kernel)
    fit.check_components(fit.X.shape[0])
    fit.forecast(memory, partial(memory.advice, fit.X.shape[0], fit.X.dtype.itemsize))
    unit = Unit() if degree is None else Unit.of_rows(fit.X)
    rows = unit.inward(fit.X)
    values, landmarks = KernelValues.of(settings, rows, unit), None
    if settings.landmarks is not None:
        with fit.stages("landmarks"):
            landmarks = values.carriers(settings, rows, fit.rng)
    known = None if fit.reads.precomputed else rows
    source = TableSource(unit, known, *((None, None) if known is None else (EUCLIDEAN, Ball.of(known))))
    found = {"gamma_": values.gamma, "width_": values.width, "landmarks_": landmarks}
    kernel = partial(build, CarriedValues(values, rows, landmarks))
    model = fit.solve_whole(source, kernel, degree=degree or 0.0, choose=function_spectrum, found=found)
    # of the kernels only the Gaussian looks at what is near in the columns
    remedy, near = "another gamma" if values.gamma is not None else "", values.width is not None
    own = FunctionInverse(settings.kernel, values.gamma, landmarks)
    return judged(fit, replace(model, own=own), remedy=remedy, keeps_neighbors=near)
