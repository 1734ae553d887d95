"""The command line: `gramfold embed`, `gramfold cluster`, `gramfold methods`, `gramfold demo`."""

import sys

from gramfold.cli.interrupted import CODE, LINE, keep_the_code

try:
    from gramfold.cli.commands import main
except KeyboardInterrupt:  # before click runs, which would report it
    keep_the_code()
    sys.stderr.write(f"{LINE}\n")
    sys.exit(CODE)

__all__ = ["main"]
