"""Every module of compiled kernels, imported: from then on they run at any size, and plain NumPy never does."""

from importlib import import_module

KERNELS = [
    "gramfold.direct.elimination_kernels",
    "gramfold.direct.factor_kernels",
    "gramfold.graph.elimination_kernels",
    "gramfold.graph.walk_kernels",
    "gramfold.neighbors.distance_kernels",
    "gramfold.sdp.feasible_kernels",
]


def load_kernels() -> None:
    for name in KERNELS:
        import_module(name)
