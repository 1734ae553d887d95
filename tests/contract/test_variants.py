"""The contract for settings that change what a method is: other edges, another Laplacian, given landmarks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramfold import (
    LLE,
    LPP,
    SDE,
    ClassicalMDS,
    DiffusionMap,
    Isomap,
    KernelEigenmaps,
    KernelIsomap,
    KernelPCA,
    LaplacianEigenmaps,
    SpectralClustering,
)
from gramfold.embedding import method, parameter
from gramfold.errors import GramfoldWarning
from tests.contract import checks
from tests.contract.discovery import by_name, unfit_for_weights

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")


def variant(cls: type, **defaults) -> type:
    """The same class with other defaults."""
    words = "_".join(str(value).replace("+", "_").replace("-", "_") for value in defaults.values())
    fields = {
        name: parameter(default=value, allowed=cls.__dataclass_fields__[name].metadata["allowed"], words="As there.")
        for name, value in defaults.items()
    }
    annotations = {name: cls.__dataclass_fields__[name].type for name in defaults}
    name = f"{cls.__name__}_{words}"
    made = method(type(name, (cls,), {"__annotations__": annotations, "__module__": __name__, **fields}))
    globals()[name] = made  # so that it pickles
    return made


MAPS = [
    variant(Isomap, graph="mutual"),
    variant(Isomap, graph="mst"),
    variant(Isomap, storage="stream"),
    variant(KernelPCA, storage="stream"),
    variant(ClassicalMDS, storage="stream", repair="constant"),
    variant(KernelIsomap, graph="mutual+mst"),
    variant(SDE, graph="union+mst"),
    variant(KernelEigenmaps, graph="mutual+mst"),
    variant(LPP, graph="mst"),
    variant(LaplacianEigenmaps, graph="mutual"),
    variant(LaplacianEigenmaps, graph="mutual+mst", weights="gaussian", width="self-tuning"),
    variant(LaplacianEigenmaps, laplacian="symmetric"),
    variant(LaplacianEigenmaps, loose_rows="trim"),
    variant(LaplacianEigenmaps, loose_rows="trim", graph="mutual+mst", laplacian="symmetric"),
    variant(LaplacianEigenmaps, loose_rows="regularize"),
    variant(LaplacianEigenmaps, loose_rows="regularize", weights="gaussian", laplacian="symmetric"),
    variant(DiffusionMap, loose_rows="trim", weights="binary"),
    variant(LLE, kernel_form="heat"),
]
EVERYTHING = [
    *MAPS,
    variant(SpectralClustering, graph="mutual+mst"),
    variant(SpectralClustering, loose_rows="trim"),
    variant(SpectralClustering, loose_rows="regularize", n_clusters=2),
]


@pytest.mark.slow
@parametrize_with_checks([cls() for cls in EVERYTHING], expected_failed_checks=unfit_for_weights)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check", [*checks.ALWAYS, *checks.NEW_POINTS, *checks.INVERSE], ids=lambda check: check.__name__
)
@pytest.mark.parametrize("cls", MAPS, ids=by_name)  # last, so that checks of one class share their fits
def test_maps(cls, check):
    checks.quietly(check, cls)
