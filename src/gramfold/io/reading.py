"""How a file is to be read, as far as the user says it, and how it was read."""

from collections.abc import Sequence
from dataclasses import dataclass

from gramfold.errors import InputError
from gramfold.io.numerals import Numerals

SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "blanks"}
_SEPARATOR_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "blanks": " ", "pipe": "|"}
_ENCODING_NAMES = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "cp1252": "Windows-1252 (Latin-1)", "latin-1": "Latin-1"}


@dataclass(frozen=True)
class Format:
    """What the user says of a file; None is guessed."""

    header: bool | None = None  # of text and workbooks
    decimal: str | None = None  # of text and workbooks, as the next
    thousands: str | None = None
    separator: str | None = None  # of text
    encoding: str | None = None  # of text
    sheet: str | int | None = None  # of a workbook, by name or number from 0
    array: str | None = None  # of an .npz or .h5ad file
    na: Sequence[str] | None = None  # values of any file that stand for missing ones

    def __post_init__(self) -> None:
        Numerals(self.decimal or ("." if self.thousands != "." else ","), self.thousands)  # raises for others
        if self.separator is not None:
            separator = _SEPARATOR_WORDS.get(self.separator.lower(), self.separator)
            if separator not in SEPARATOR_NAMES:
                known = ", ".join(map(repr, SEPARATOR_NAMES))
                raise InputError(f"separator={self.separator!r} does not separate columns: use one of {known}.")
            object.__setattr__(self, "separator", separator)
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError as error:
                raise InputError(
                    f"encoding={self.encoding!r} is unknown: use utf-8, latin-1, cp1252, utf-16 or another of Python's."
                ) from error

    @property
    def numerals(self) -> Numerals | None:
        """Number format, None if nothing was said of it."""
        if self.decimal is None and self.thousands is None:
            return None
        return Numerals(self.decimal or ("." if self.thousands != "." else ","), self.thousands)

    def require(self, kind: str, known: tuple[str, ...], path: object) -> None:
        """Raise an error for an option that a file of this kind does not have."""
        known = (*known, "na")
        given = [name for name in self.__dataclass_fields__ if getattr(self, name) is not None and name not in known]
        if given:
            raise InputError(f"'{path}' is {kind}, to which {given[0]} does not apply: leave it out.")


@dataclass(frozen=True)
class Reading:
    """How a file was read.

    Parameters
    ----------
    kind : str
        What it is: text, parquet, …
    compression : str or None
        gzip, bzip2, xz or zstd.
    encoding : str or None
        Of text, as Python calls it.
    separator : str or None
        Of text: the mark between two columns; a blank for any number of blanks.
    decimal, thousands : str or None
        Of text and workbooks: marks within numbers.
    header : bool or None
        Of text and workbooks: whether the first line holds the column names.
    skipped : int
        Lines above the table that are no part of it.
    part : str or None
        Sheet or array that was read, where the file has several.
    files : int
        Number of files.
    """

    kind: str
    compression: str | None = None
    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    header: bool | None = None
    skipped: int = 0
    part: str | None = None
    files: int = 1

    def __str__(self) -> str:
        """One line: text in Windows-1252 (Latin-1), separated by semicolons, decimal comma, no header."""
        kind = f"{self.files:,} {self.kind} files" if self.files > 1 else self.kind
        said = [kind if self.encoding is None else f"{kind} in {_ENCODING_NAMES.get(self.encoding, self.encoding)}"]
        if self.compression is not None:
            said.append(f"compressed with {self.compression}")
        if self.part is not None:
            said.append(f"'{self.part}' of it")
        if self.separator is not None:
            said.append(f"separated by {SEPARATOR_NAMES[self.separator]}")
        if self.decimal == ",":
            said.append("decimal comma")
        if self.thousands is not None:
            said.append(f"thousands separated by {self.thousands!r}")
        if self.header is False:
            said.append("no header")
        if self.skipped:
            said.append(f"{self.skipped} line{'s' * (self.skipped > 1)} above the table left out")
        return ", ".join(said)

    @property
    def unusual(self) -> bool:
        """Whether something was guessed that is not as in most files, so that it should be said."""
        usual = (
            self.encoding in (None, "utf-8", "utf-8-sig") and self.decimal in (None, ".") and self.header is not False
        )
        return not usual or bool(self.thousands or self.skipped or self.part)
