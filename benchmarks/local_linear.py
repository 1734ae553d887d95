"""The local linear methods against scikit-learn's LocallyLinearEmbedding, whole fits, kernels warm."""

from collections.abc import Iterator

from sklearn.manifold import LocallyLinearEmbedding

from benchmarks.data import fashion_mnist
from benchmarks.timing import Race, race
from gramfold import LLE, LTSA, HessianLLE, ModifiedLLE
from gramfold.datasets import make_swiss_roll

_N, _K = 10_000, 10


def races() -> Iterator[Race]:
    """Swiss roll and Fashion-MNIST of 10,000 rows."""
    X = make_swiss_roll(_N, random_state=0).points
    yield _race(LLE, "standard", X, "swiss roll", "4x, 2.5x at least", runs=5)
    images = fashion_mnist(_N)
    if images is not None:
        yield _race(LLE, "standard", images, "Fashion-MNIST", "3x, 2x at least", runs=3)
    yield _race(HessianLLE, "hessian", X, "swiss roll", "4x, 2x at least", runs=2)
    yield _race(LTSA, "ltsa", X, "swiss roll", "4x, 2x at least", runs=2)
    yield _race(ModifiedLLE, "modified", X, "swiss roll", "none", runs=1)


def _race(cls: type, method: str, X: object, data: str, target: str, runs: int) -> Race:
    return race(
        f"{cls.__name__}, {data} n={_N:,}",
        lambda: cls(n_neighbors=_K).fit(X),
        lambda: LocallyLinearEmbedding(n_neighbors=_K, method=method, n_jobs=-1, random_state=0).fit(X),
        target=target,
        runs=runs,
    )
