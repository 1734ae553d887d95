"""Say in one sentence why this Python cannot run gramfold, if it cannot.

Old Pythons must be able to run this file: no f-strings, no annotations.
"""

import sys

OLDEST = (3, 11)


def problem():
    """Return the sentence, or None when all is well."""
    found = ".".join(str(part) for part in sys.version_info[:3])
    oldest = ".".join(str(part) for part in OLDEST)
    if sys.version_info[:2] < OLDEST:
        return (
            "gramfold needs Python {0} or newer, but '{1}' is Python {2}: "
            "install a newer one and name it, as in `make demo PYTHON=python{0}`."
        ).format(oldest, sys.executable or "python", found)
    try:
        import ensurepip
        import venv
    except ImportError as error:
        return (
            "Python {0} was found, but without its module '{1}', so no virtual environment can be made: "
            "install it (on Debian or Ubuntu: `apt install python{2}-venv`) and run make again."
        ).format(found, getattr(error, "name", None) or "venv", ".".join(found.split(".")[:2]))
    del ensurepip, venv
    return None


if __name__ == "__main__":
    sentence = problem()
    if sentence:
        sys.stderr.write(sentence + "\n")
        sys.exit(1)
