"""Whether plain NumPy runs in the place of compiled kernels: where it is done before these would be ready.

Loading numba takes some tenths of a second, and compiling a kernel that no earlier process left on disk up to seconds.
Nothing here imports numba. What runs in plain NumPy gives the same result as the kernels, to the bit, unless its
module says otherwise.
"""

import os
import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

_LOADING = 0.5  # seconds: numba, and machine code from disk


def prefer_plain(module: str, seconds: float, compiling: float) -> bool:
    """Whether to run plain NumPy for so many seconds rather than the kernels of this module.

    `compiling` is about how long they take to compile. Kernels that this process has loaded are always used.
    """
    if module in sys.modules:
        return False
    return seconds < _LOADING + (0.0 if _on_disk(module, os.environ.get("NUMBA_CACHE_DIR", "")) else compiling)


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
