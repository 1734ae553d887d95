"""What goes wrong is told in one sentence on standard error, never as a traceback (but for `--debug`)."""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from gramfold.errors import GramfoldError

USERS_ERROR, OWN_ERROR = 2, 1  # exit codes: the first is what click gives for a wrong option


class Failure(click.ClickException):
    """One sentence and an exit code."""

    def __init__(self, sentence: str, exit_code: int) -> None:
        super().__init__(" ".join(sentence.split()))
        self.exit_code = exit_code

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the sentence to standard error."""
        click.echo(f"Error: {self.format_message()}", file=file, err=file is None)


def in_sentences(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--debug` to a command, and turn its errors and warnings into sentences."""

    @click.option("--debug", is_flag=True, help="Show the whole traceback when something goes wrong.")
    @functools.wraps(command)
    def wrapped(*args: Any, debug: bool, **kwargs: Any) -> None:
        with _told_warnings():
            if debug:
                command(*args, **kwargs)
                return
            try:
                command(*args, **kwargs)
            except (click.exceptions.Exit, click.Abort, click.ClickException):
                raise
            except (GramfoldError, ValueError) as error:
                raise Failure(str(error), USERS_ERROR) from error
            except MemoryError as error:
                raise Failure("The memory is used up: use fewer rows.", USERS_ERROR) from error
            except Exception as error:
                sentence = f"{type(error).__name__}: {error}: this is a fault of gramfold; --debug shows where."
                raise Failure(sentence, OWN_ERROR) from error

    return wrapped


@contextmanager
def _told_warnings() -> Iterator[None]:
    """Warnings as a line each, without the line of code they came from; each sentence once."""
    told: set[str] = set()

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        sentence = " ".join(str(message).split())
        if sentence not in told:
            told.add(sentence)
            click.echo(f"Warning: {sentence}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)  # gramfold's and scikit-learn's; not those for developers
        warnings.showwarning = tell
        yield
