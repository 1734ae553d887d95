"""What more of a kernel's spectrum a fitted model can tell, computed when it is asked for: the fit needs only a few."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.kernels.gram import GramKernel
from gramfold.kernels.mercer import RepairedGram
from gramfold.kernels.nystrom import NystromGram, function_spectrum
from gramfold.kernels.semidefinite import FactorKernel, factored_spectrum_of
from gramfold.kernels.transformational import TransformationalKernel
from gramfold.runtime.threads import one_blas_thread
from gramfold.spectral.negative import negative_part
from gramfold.spectral.policy import leading_spectrum
from gramfold.types import Floats, Kernel, NegativePart, Spectrum


@dataclass(frozen=True)
class Kernelled:
    """A fitted kernel and its leading eigenpairs, over its vertices."""

    name: str  # of the estimator
    kernel: Kernel
    spectrum: Spectrum


class MoreSpectrum:
    """What every estimator on a kernel can compute of its spectrum, once it is fitted."""

    def _kernelled(self) -> Kernelled:
        raise NotImplementedError

    def leading_eigenvalues(self, count: int) -> Floats:
        """Compute more eigenvalues of the kernel than the embedding has dimensions, to read the dimension from them.

        Of the largest connected component. Nothing is fitted again.

        Parameters
        ----------
        count : int
            Number of eigenvalues.

        Returns
        -------
        eigenvalues : ndarray of shape (count,)
            The largest ones, descending; fewer if the kernel has a lower rank.
        """
        with one_blas_thread():
            return _leading_eigenvalues(self._kernelled(), count)

    def negative_part(self, *, before_repair: bool = False) -> NegativePart:
        """Compute how much of the spectrum of the kernel is negative, which no Euclidean embedding can show.

        Exactly up to 2,000 rows; above by stochastic Lanczos quadrature, with a confidence interval.

        Parameters
        ----------
        before_repair : bool, default=False
            Whether to answer for the kernel before its repair (`repair`, `KernelIsomap`, landmarks of an indefinite
            kernel). The same kernel where nothing was repaired.

        Returns
        -------
        negative : NegativePart
            `mass` Σ|λ<0| / Σ|λ|, its 95% `interval`, `most_negative`, `total` and `positive_total`.
        """
        with one_blas_thread():
            return _negative_part(self._kernelled(), before_repair)

    def shares(self) -> Floats:
        """Compute the share of each coordinate in the variance of the kernel: λ / Σ λ over its positive eigenvalues.

        Returns
        -------
        shares : ndarray of shape (n_components,)
            They add up to at most 1. Above 2,000 rows the sum of an indefinite kernel is an estimate, as
            `negative_part` is.
        """
        with one_blas_thread():
            return _shares(self._kernelled())


def _leading_eigenvalues(fitted: Kernelled, count: Any) -> Floats:
    kernel = fitted.kernel
    most = len(kernel.mass) - kernel.null.shape[1]
    if isinstance(count, bool) or not isinstance(count, Integral) or not 1 <= int(count) <= most:
        raise InputError(
            f"leading_eigenvalues({count!r}): the kernel of {fitted.name} has {most} eigenvalues beyond its known null "
            f"space: pass an integer from 1 to {most}."
        )
    if isinstance(kernel, TransformationalKernel):
        return kernel.eigenvalues()[:count]
    find = factored_spectrum_of if isinstance(kernel, FactorKernel) else function_spectrum
    return find(kernel, int(count)).eigenvalues


def _negative_part(fitted: Kernelled, before_repair: bool) -> NegativePart:
    """Of the kernel, or of what it was before its repair; kernels of other kinds have none, by construction."""
    kernel, spectrum = fitted.kernel, fitted.spectrum
    if isinstance(kernel, NystromGram) and before_repair:
        return kernel.white.negative
    if isinstance(kernel, RepairedGram) and before_repair:
        kernel = kernel.unrepaired()
        spectrum = leading_spectrum(kernel, len(spectrum), start=spectrum.eigenvectors)  # a constant turns the axes
    if isinstance(kernel, GramKernel):
        return negative_part(kernel, spectrum)
    return NegativePart(0.0, 0.0, (0.0, 0.0), np.nan if spectrum.total is None else spectrum.total)


def _shares(fitted: Kernelled) -> Floats:
    """Share of each eigenvalue of the map in the sum of the positive ones."""
    spectrum = fitted.spectrum
    if spectrum.total is None and fitted.kernel.kind == "gram":
        raise InputError(
            f"the kernel of {fitted.name} has no directions beside those of the map, so shares of it would say nothing "
            "of the data: use PCA().fit(X).shares(), or compare leading_eigenvalues() with one another."
        )
    if spectrum.total is None:
        raise InputError(
            f"the trace of the kernel of {fitted.name}, which is a function of a sparse matrix, is not computed, so "
            "shares of it are not known: compare leading_eigenvalues() with one another, or the penalties of spectrum_."
        )
    positive = _negative_part(fitted, before_repair=False).positive_total
    values = np.maximum(spectrum.eigenvalues, 0.0)
    return np.asarray(values / positive if positive > 0 else np.zeros_like(values))
