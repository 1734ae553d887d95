"""Methods by their names, as gramfold exports them."""

import inspect
import re

from gramfold.errors import InputError

# KernelPCA -> kernel_pca: a word starts after a lower-case letter, and before the last of several capitals
_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def known_methods() -> dict[str, type]:
    """Every exported estimator with an embedding, by its lower-case name, without aliases."""
    return {name: method for name, method in _mappers().items() if name == in_small_letters(method.__name__)}


def find_method(name: str) -> type:
    """The class with this name, alias or unambiguous beginning of one; hyphens count as underscores."""
    return found(name, _mappers())


def _mappers() -> dict[str, type]:
    return {name: thing for name, thing in estimators().items() if hasattr(thing, "fit_transform")}


def estimators() -> dict[str, type]:
    """Every exported estimator by each of its names."""
    from sklearn.base import BaseEstimator

    import gramfold

    exported = {in_small_letters(name): getattr(gramfold, name) for name in gramfold.__all__}
    return {
        name: thing
        for name, thing in sorted(exported.items())
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator)
    }


def in_small_letters(name: str) -> str:
    """KernelPCA as kernel_pca."""
    return _WORD_STARTS.sub("_", name).lower()


def found(name: str, named: dict[str, type]) -> type:
    """The one of these with this name or unambiguous beginning of one."""
    wanted = name.strip().lower().replace("-", "_")
    if wanted in named:
        return named[wanted]
    begun = [known for known in named if known.startswith(wanted)] if wanted else []
    if len(begun) == 1:
        return named[begun[0]]
    if begun:
        raise InputError(f"'{name}' is ambiguous ({', '.join(begun)}): write more of the name.")
    raise InputError(f"There is no method '{name}': use one of {', '.join(known_methods())}.")
