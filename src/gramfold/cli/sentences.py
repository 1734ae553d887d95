"""What goes wrong is told in one sentence on standard error, never as a traceback (but for `--debug`)."""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from gramfold.errors import GramfoldError


class Refusal(click.ClickException):
    """One sentence about what the user gave."""

    exit_code = 2  # as click's own for a wrong option

    def __init__(self, sentence: str) -> None:
        super().__init__(" ".join(sentence.split()))

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the sentence to standard error."""
        click.echo(f"Error: {self.format_message()}", file=file, err=file is None)


class Fault(Refusal):
    """One sentence about what gramfold did wrong."""

    exit_code = 1


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
            except (click.exceptions.Exit, click.Abort, click.ClickException, BrokenPipeError):
                raise  # nobody reads on: click ends quietly
            except (GramfoldError, ValueError) as error:
                raise Refusal(str(error)) from error
            except OSError as error:  # a disk, a folder, a stream: the machine's affair
                raise Refusal(f"The system refused ({error}): check space and permissions.") from error
            except MemoryError as error:
                raise Refusal("The memory is used up: use fewer rows.") from error
            except Exception as error:
                sentence = f"{type(error).__name__}: {error}: this is a fault of gramfold; --debug shows where."
                raise Fault(sentence) from error

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
