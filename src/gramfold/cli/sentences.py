"""Errors and warnings of the command line: one line on standard error, without a traceback (except with `--debug`)."""

import functools
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from gramfold.cli.interrupted import CODE, files_kept, keep_the_code, line_of
from gramfold.errors import GramfoldError
from gramfold.runtime.close_names import did_you_mean


class Refusal(click.ClickException):
    """An error in the command, a file or a parameter."""

    exit_code = 2  # as that of click for a wrong option

    def __init__(self, sentence: str) -> None:
        context = click.get_current_context(silent=True)
        files = "" if context is None else files_kept(context.meta)
        super().__init__(" ".join(f"{sentence} {f'({files}.)' if files else ''}".split()))

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the message to standard error."""
        click.echo(f"Error: {self.format_message()}", file=file, err=file is None)


class Interruption(click.ClickException):
    """Ctrl-C."""

    exit_code = CODE

    def __init__(self, notes: dict[str, Any]) -> None:
        super().__init__(line_of(notes))

    def show(self, file: IO[Any] | None = None) -> None:
        """Write one line to standard error, after the ^C that a terminal shows."""
        if file is None and sys.stderr.isatty():
            click.echo(err=True)
        click.echo(self.format_message(), file=file, err=file is None)


class Fault(Refusal):
    """A bug in gramfold."""

    exit_code = 1


def in_sentences(command: Callable[..., None]) -> Callable[..., None]:
    """Add `--debug` to a command, and print its errors and warnings as one line each."""

    @click.option("--debug", is_flag=True, help="Show the traceback of an error.")
    @functools.wraps(command)
    def wrapped(*args: Any, debug: bool, **kwargs: Any) -> None:
        with _plain_warnings():
            if debug:
                command(*args, **kwargs)
                return
            try:
                command(*args, **kwargs)
            except (click.exceptions.Exit, click.Abort, click.ClickException, BrokenPipeError):
                raise  # click handles these itself, and `ended_by_a_closed_pipe` the last
            except (GramfoldError, ValueError) as error:
                raise Refusal(str(error)) from error
            except OSError as error:  # a disk, a folder, a stream
                raise Refusal(f"The system reported an error ({error}): check disk space and permissions.") from error
            except MemoryError as error:
                raise Refusal("Out of memory: use fewer rows.") from error
            except Exception as error:
                sentence = f"{type(error).__name__}: {error}. This is a bug in gramfold: --debug shows the traceback."
                raise Fault(sentence) from error

    return wrapped


@contextmanager
def usage_in_sentences() -> Iterator[None]:
    """One line for a wrong command, where click has its usage too."""
    try:
        yield
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help itself; click before 8.2 has no such error
            raise
        raise Refusal(_usage_in_words(error)) from error


def _usage_in_words(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx is not None else "gramfold"
    if isinstance(error, click.NoSuchOption):
        known = [] if error.ctx is None else _options_of(error.ctx.command)
        instead = did_you_mean(error.option_name, known) or f"`{path} --help` lists the options."
        return f"`{path}` has no option '{error.option_name}': {instead}"
    sentence = error.format_message().rstrip(".")
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return f"{sentence}."
    return f"{sentence}: see `{path} --help`."


def _options_of(command: click.Command) -> list[str]:
    return [
        name for one in command.params if isinstance(one, click.Option) for name in [*one.opts, *one.secondary_opts]
    ]


@contextmanager
def ended_by_an_interrupt(ctx: click.Context | None = None) -> Iterator[None]:
    """End with one line and the exit code of an interrupt, where click has a code that means a bug too."""
    try:
        yield
    except (KeyboardInterrupt, click.Abort) as error:
        keep_the_code()
        raise Interruption({} if ctx is None else ctx.meta) from error


@contextmanager
def ended_by_a_closed_pipe() -> Iterator[None]:
    """End quietly, as other Unix programs do, where nobody reads the rest of the output: `gramfold judge … | head -5`.

    Python ignores the signal that ends these, and click would report an error.
    """
    try:
        yield
    except BrokenPipeError:
        if not hasattr(signal, "SIGPIPE"):  # Windows
            raise
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print each warning once, in one line, without the line of code it came from."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        sentence = " ".join(str(message).split())
        if sentence not in shown:
            shown.add(sentence)
            click.echo(f"Warning: {sentence}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)  # gramfold's and scikit-learn's; not those for developers
        warnings.showwarning = show
        yield
