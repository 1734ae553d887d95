"""The command line: `gramfold embed`, `gramfold demo`, `gramfold methods`."""

from gramfold.cli.commands import main

__all__ = ["main"]
