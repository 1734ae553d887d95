"""What is refused at once, before numpy is imported: a file that is not there, a place that cannot be written."""

from pathlib import Path

from gramfold.errors import InputError
from gramfold.runtime.close_names import close_names, question
from gramfold.runtime.destinations import check_folder

_READER_KNOWS = ("*", "?", "[")  # a pattern of several files: what io says of these
_ADDRESS = ":/"  # as paths have it

_PACKED = (".gz", ".bz2", ".xz", ".zst")
_WORDS = (".map", ".placed")  # of files that are written beside a table


def require_files(*sources: Path | None) -> None:
    """Raise an error for the first that is not there; None, and `-` for standard input, are not looked for."""
    for source in sources:
        if source is None or str(source) == "-" or any(mark in str(source) for mark in _READER_KNOWS):
            continue
        if _ADDRESS in str(source):
            from gramfold.io.content import require_file

            require_file(source)  # which has the sentence
        try:
            source.stat()
        except (FileNotFoundError, NotADirectoryError) as error:
            beside = _beside(source)
            close = [beside[stem] for stem in close_names(source.stem, beside)]
            instead = question(close) if close else "check the name and the folder."
            raise InputError(f"There is no file '{source}': {instead}") from error
        except (OSError, ValueError):
            continue  # a loop of links, a name that is too long: the reader has the sentence


def require_places(*destinations: Path | None) -> None:
    """Raise an error for the first that cannot be written; None is no file, and `-` is standard output."""
    for path in destinations:
        if path is not None and str(path) != "-":
            check_folder(path)


def default_name(source: Path, word: str) -> Path:
    """The file beside another that is written where none is named: of cells.csv.gz, cells.placed.csv.

    The word of an earlier one is replaced: of cells.map.csv, cells.rows.csv.
    """
    if str(source) == "-" or any(mark in source.name for mark in _READER_KNOWS):
        raise InputError(f"'{source}' is no name beside which to write: name the file, as in --out {word}.csv.")
    stem = source.stem
    if source.suffix.lower() in _PACKED:
        stem = Path(stem).stem
    if Path(stem).suffix in _WORDS:
        stem = Path(stem).stem
    return source.with_name(f"{stem}.{word}.csv")


def _beside(source: Path) -> dict[str, str]:
    """Files in the folder of one that is missing, by their names without endings, which most files share.

    Of several with one name, that with the ending of the missing file.
    """
    try:
        files = sorted(path for path in source.parent.iterdir() if path.is_file())
        return {path.stem: path.name for path in sorted(files, key=lambda path: path.suffix == source.suffix)}
    except OSError:
        return {}  # there is no such folder, or it cannot be read
