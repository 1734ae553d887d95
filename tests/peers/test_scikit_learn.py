"""scikit-learn's own tests of four modules, run on gramfold's classes through adapters.

They are read from the installed package. What differs on purpose stands in DIFFERENCES, each with its reason; an entry
that no longer differs is an error.
"""

from fnmatch import fnmatchcase
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.peers import adapters

MODULES = ["manifold/isomap", "manifold/locally_linear", "decomposition/kernel_pca", "manifold/spectral_embedding"]
# The same sentence in gramfold's words: an error or a warning is still asked for, and of the same class.
WORDS = {
    "number of connected components": "connected components",
    "Error in determining null-space with ARPACK": "all rows are equal",
    "Both n_neighbors and radius are provided": "were both given",
}
# What differs, by the name of the test, and why.
DIFFERENCES = {
    "test_isomap__multiple_connected_components_metric_precomputed*": "DisconnectedGraphError is a ValueError, not a "
    "RuntimeError: the graph is the user's.",
    "test_locally_linear__barycenter_kneighbors_graph?float32?": "Weights are solved and kept in float64 whatever the "
    "rows: wanted eigenvalues are 1e-10 of the largest.",
    "test_kernel_pca__kernel_pca_invalid_parameters": "A precomputed kernel has no way back, which inverse_transform "
    "says and not fit: the way back is made when it is first asked for.",
    "test_kernel_pca__kernel_pca_sparse*": "The way back needs no parameter, so that inverse_transform works where "
    "scikit-learn says that it was not fitted.",
    "test_kernel_pca__kernel_pca_raise_not_fitted_error": "The way back needs no parameter, so that inverse_transform "
    "works where scikit-learn says that it was not fitted.",
    "test_kernel_pca__leave_zero_eig": "Two rows have a map of one dimension, and two are refused instead of a column "
    "of zeros given.",
    "test_kernel_pca__kernel_pca_precomputed_non_symmetric*": "A kernel that is not symmetric is refused.",
    "test_kernel_pca__precomputed_kernel_not_psd*": "Directions of negative variance are columns of zeros with a "
    "RankWarning, and no error.",
    "test_spectral_embedding__error_pyamg_not_available": "The eigensolver is chosen by predicted cost, not by the "
    "user, so that none can be missing.",
    "test_spectral_embedding__fallback_amg": "The eigensolver is chosen by predicted cost, not by the user, so that "
    "none has to be given up.",
    "test_spectral_embedding__spectral_eigen_tol_auto*": "It looks into the calls of scikit-learn's own eigensolvers.",
    "test_spectral_embedding__precomputed_nearest_neighbors_filtering": "A sparse graph is taken with all its edges, "
    "and refused where it is in pieces that it does not tell the distances of.",
    "test_spectral_embedding__spectral_embedding_preserves_dtype?float32*": "Weights are float64 whatever the rows; "
    "the map is float32.",
    "test_isomap__isomap_simple_grid*-None-inf?": "radius=inf is refused: n_neighbors = n − 1 says the same.",
    "test_isomap__isomap_reconstruction_error?float64*-None-inf?": "radius=inf is refused: n_neighbors = n − 1 says "
    "the same.",
}

pytestmark = [
    pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),  # of its own Perceptron
]


class Spoken:
    """pytest, with what an error or a warning says in gramfold's words."""

    def __getattr__(self, name):
        return getattr(pytest, name)

    @staticmethod
    def raises(*expected, match=None):
        return pytest.raises(*expected, match=WORDS.get(match, match))

    @staticmethod
    def warns(*expected, match=None):
        return pytest.warns(*expected, match=WORDS.get(match, match))


def peer(name):
    """A test module of scikit-learn, loaded under a name of its own, with the adapters where its classes were."""
    package, stem = name.split("/")
    path = Path(find_spec("sklearn").origin).parent / package / "tests" / f"test_{stem}.py"
    if not path.exists():
        pytest.skip(f"this scikit-learn comes without its tests ({path.name})", allow_module_level=True)
    spec = spec_from_file_location(f"gramfold_peer_{stem}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.pytest = Spoken()
    ours = {word: getattr(adapters, word) for word in adapters.__all__}
    module.manifold = SimpleNamespace(**ours)  # as in manifold.Isomap
    vars(module).update({word: value for word, value in ours.items() if hasattr(module, word)})
    return module


for _name in MODULES:
    for _test, _function in vars(peer(_name)).items():
        if _test.startswith("test_"):
            globals()[f"test_{_name.partition('/')[2]}__{_test.removeprefix('test_')}"] = _function


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    return request.param


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(autouse=True)
def differ_on_purpose(request):
    for pattern, reason in DIFFERENCES.items():
        if fnmatchcase(request.node.name, pattern):
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def test_every_difference_is_of_a_test():
    names = [name for name in globals() if "__" in name]
    for pattern in DIFFERENCES:
        stem = pattern.partition("*")[0].partition("?")[0]
        assert any(name.startswith(stem) for name in names), pattern
