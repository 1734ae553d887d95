"""What is refused at once, before numpy is imported: a file that is not there, a place that cannot be written."""

from pathlib import Path

from gramfold.errors import InputError
from gramfold.runtime.close_names import did_you_mean
from gramfold.runtime.destinations import check_folder

_READER_KNOWS = ("*", "?", "[", "://")  # a pattern of several files, an address: what io says of these


def require_files(*sources: Path | None) -> None:
    """Raise an error for the first that is not there; None, and `-` for standard input, are not looked for."""
    for source in sources:
        if source is None or str(source) == "-" or any(mark in str(source) for mark in _READER_KNOWS):
            continue
        try:
            source.stat()
        except (FileNotFoundError, NotADirectoryError) as error:
            instead = did_you_mean(source.name, _beside(source)) or "check the name and the folder."
            raise InputError(f"There is no file '{source}': {instead}") from error
        except (OSError, ValueError):
            continue  # a loop of links, a name that is too long: the reader has the sentence


def require_places(*destinations: Path | None) -> None:
    """Raise an error for the first that cannot be written; None is no file, and `-` is standard output."""
    for path in destinations:
        if path is not None and str(path) != "-":
            check_folder(path)


def _beside(source: Path) -> list[str]:
    """Names of files in the folder of one that is missing."""
    try:
        return [path.name for path in source.parent.iterdir() if path.is_file()]
    except OSError:
        return []  # there is no such folder, or it cannot be read
