"""Methods by their names, as gramfold exports them. A name is found without importing any method."""

import re

from gramfold.errors import InputError
from gramfold.runtime.close_names import did_you_mean

# KernelPCA -> kernel_pca: a word starts after a lower-case letter, and before the last of several capitals
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# what an import would show; tests compare these with the classes
_CLUSTERERS = {"spectral_clustering"}  # without an embedding
_ALIASES = {"maximum_variance_unfolding"}


def known_methods() -> dict[str, type]:
    """Every exported estimator with an embedding, by its lower-case name, without aliases."""
    return {name: _load(name) for name in method_names()}


def method_names() -> list[str]:
    """The names of `known_methods`; nothing is imported."""
    return [name for name in _exported() if name not in _CLUSTERERS | _ALIASES]


def estimator_names() -> list[str]:
    """The names of all exported estimators, with aliases; nothing is imported."""
    return list(_exported())


_STOCHASTIC = (
    "it is in other packages, whose maps `gramfold judge` judges; near to it here are laplacian_eigenmaps and isomap"
)
# names that people look for, and what to use
_ELSEWHERE = {
    "umap": _STOCHASTIC,
    "tsne": _STOCHASTIC,
    "t_sne": _STOCHASTIC,
    "ppca": "use probabilistic_pca, or mixture_ppca for several planes",
}


def find_method(name: str) -> type:
    """The class with this name, alias or unambiguous beginning of one; hyphens count as underscores."""
    return _load(full_name(name))


def find_estimator(name: str) -> type:
    """The same among all exported estimators, also those that make no embedding."""
    return _load(_found(name, estimator_names()))


def full_name(name: str) -> str:
    """The whole name of the method that `find_method` would return; nothing is imported."""
    return _found(name, [known for known in _exported() if known not in _CLUSTERERS])


def _exported() -> dict[str, str]:
    """Names of the exported classes, which are the estimators, by their names in small letters."""
    import gramfold

    names = (name for name in gramfold.__all__ if name[0].isupper())
    return dict(sorted((in_small_letters(name), name) for name in names))


def _load(name: str) -> type:
    import gramfold

    method: type = getattr(gramfold, _exported()[name])
    return method


def in_small_letters(name: str) -> str:
    """KernelPCA as kernel_pca."""
    return _WORD_STARTS.sub("_", name).lower()


def _found(name: str, known: list[str]) -> str:
    """The one of these names that has this beginning."""
    wanted = name.strip().lower().replace("-", "_")
    if wanted in known:
        return wanted
    begun = [one for one in known if one.startswith(wanted)] if wanted else []
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise InputError(f"'{name}' is ambiguous ({', '.join(begun)}): write more of the name.")
    if wanted in _ELSEWHERE:
        raise InputError(f"There is no method '{name}': {_ELSEWHERE[wanted]}.")
    instead = did_you_mean(wanted, known) or f"use one of {', '.join(method_names())}."
    raise InputError(f"There is no method '{name}': {instead}")
