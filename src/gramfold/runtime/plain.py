"""Whether plain NumPy runs in the place of compiled kernels: where it is done before these would be ready.

Loading numba takes some tenths of a second, and compiling a kernel that no earlier process left on disk up to seconds.
A process that spends as long in plain NumPy, over all of its fits, loads or compiles the kernels then: it never takes
much more than twice as long as if it had known. Nothing here imports numba. What runs in plain NumPy gives the same
result as the kernels, to the bit, unless its module says otherwise.
"""

import os
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

_NUMBA, _LOADING = 0.4, 0.1  # seconds to load numba, and machine code from disk
_spent: dict[str, float] = {}  # seconds in plain NumPy, by the module whose kernels it took the place of


def prefer_plain(module: str, seconds: float, compiling: float, times: int = 1) -> bool:
    """Whether to run plain NumPy for so many seconds rather than the kernels of this module.

    `compiling` is about how long they take to compile, and `times` how often the work will be done in all. Kernels that
    this process has loaded are always used.
    """
    if module in sys.modules:
        return False
    ready = _LOADING + (0.0 if "numba" in sys.modules else _NUMBA)
    if not _on_disk(module, os.environ.get("NUMBA_CACHE_DIR", "")):
        ready += compiling
    spent = _spent.get(module, 0.0)
    if spent + times * seconds >= ready:
        return False
    _spent[module] = spent + seconds
    return True


@lru_cache(maxsize=64)
def _on_disk(module: str, chosen: str) -> bool:
    """Whether machine code of the module's kernels is kept where numba keeps it.

    That is the folder that the user chose, or one beside the file, or, if that cannot be written to, the user's own.
    """
    found = find_spec(module)
    if found is None or found.origin is None:
        return False
    pattern = f"{Path(found.origin).stem}.*.nbi"
    if chosen:
        return any(Path(chosen).glob(f"*/{pattern}"))
    return any((Path(found.origin).parent / "__pycache__").glob(pattern)) or any(_own_folder().glob(f"*/{pattern}"))


def _own_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "numba" / "Cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/numba").expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "numba"
