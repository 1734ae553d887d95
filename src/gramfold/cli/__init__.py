"""The command line: `gramfold embed`, `gramfold cluster`, `gramfold methods`, `gramfold demo`."""

from gramfold.cli.commands import main

__all__ = ["main"]
