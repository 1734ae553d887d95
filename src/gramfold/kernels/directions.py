"""Which eigenvectors of a Laplacian a map shows: the leading ones, or those of them that are new directions."""

from dataclasses import dataclass, replace

import numpy as np

from gramfold.errors import RepeatedDirectionWarning
from gramfold.kernels.diffusion import LaplacianKernel
from gramfold.kernels.penalty import leading_penalties
from gramfold.kernels.regularized import graph_laplacian
from gramfold.runtime.counting import last_columns_are
from gramfold.runtime.warning import warn
from gramfold.spectral.independent import NEW_DIRECTION, REPEATED, Directions, new_directions
from gramfold.types import Kernel, Spectrum

# Where the leading eigenvectors do not do, "independent" looks among this many, then twice as many, and at last.
_FIRST_LOOK, _LAST_LOOK = 16, 64
_LOOK_PER_COMPONENT = 4  # or this many for each component, if more


@dataclass(frozen=True)
class Coordinates:
    """How the eigenvectors of a map are chosen."""

    independent: bool
    n_components: int

    def memory(self, n: int, itemsize: int) -> float:
        """Bytes for n vertices: Lanczos holds twice as many vectors as it is asked for."""
        return 8.0 * n * 2 * self._last_look(n) if self.independent else 0.0

    def __call__(self, kernel: Kernel, count: int) -> Spectrum:
        """At most `count` eigenpairs."""
        assert isinstance(kernel, LaplacianKernel)
        spectrum = leading_penalties(kernel, count)
        found = _directions(kernel, spectrum, count)
        if not self.independent:
            spectrum = replace(spectrum, novelty=found.novelty)
            _warn_of_repeats(spectrum)
            return spectrum
        last, look = self._last_look(np.count_nonzero(kernel.mass) - kernel.null.shape[1]), count
        while len(found.taken) < count and look < last:  # some repeat others: look further
            look = min(last, max(2 * look, _FIRST_LOOK, _LOOK_PER_COMPONENT * count))
            spectrum = leading_penalties(kernel, look)
            found = _directions(kernel, spectrum, count)
        if len(found.taken) < count:
            self._warn_of_few(len(found.taken), look)
        return replace(spectrum, novelty=found.novelty).take(found.taken)

    def _last_look(self, n: int) -> int:
        return min(n, max(_LAST_LOOK, _LOOK_PER_COMPONENT * self.n_components))

    def _warn_of_few(self, found: int, looked: int) -> None:
        warn(
            f"n_components={self.n_components}, but only {found} of the first {looked} eigenvectors are independent: "
            f"{last_columns_are(self.n_components - found)} zero; use fewer components, or "
            "coordinates='leading'.",
            RepeatedDirectionWarning,
        )


def repeats_itself(spectrum: Spectrum) -> bool:
    """Whether a coordinate of the map is no new direction."""
    return spectrum.novelty is not None and bool((spectrum.novelty < NEW_DIRECTION).any())


def _directions(kernel: LaplacianKernel, spectrum: Spectrum, count: int) -> Directions:
    vectors = spectrum.eigenvectors
    plain = vectors if kernel.scale is None else vectors / kernel.scale[:, None]
    return new_directions(plain, count, graph_laplacian(kernel))


def _warn_of_repeats(spectrum: Spectrum) -> None:
    assert spectrum.novelty is not None
    repeats = np.flatnonzero(spectrum.novelty < REPEATED)
    if repeats.size:
        listed = ", ".join(f"coordinate {i + 1} ({1 - spectrum.novelty[i] ** 2:.0%})" for i in repeats)
        warn(
            f"{listed} of the embedding can be predicted from the coordinates before it (share of its variance in "
            "brackets), so it shows no new direction: coordinates='independent' skips such eigenvectors.",
            RepeatedDirectionWarning,
        )
