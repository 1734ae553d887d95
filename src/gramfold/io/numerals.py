"""Number formats of text files: the decimal and the thousands separator."""

import re
from dataclasses import dataclass
from functools import cached_property

from gramfold.errors import InputError

# Characters that count as one separator: no-break and thin spaces as a space, a curly apostrophe as a straight one.
_ALIKE = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}
FLAGS = {"true": 1.0, "false": 0.0}
_MARKS = (",", ".", "'", " ", "_")


@dataclass(frozen=True)
class Numerals:
    """Decimal and thousands separator of the numbers in a text file."""

    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (".", ","):
            raise InputError(f"decimal={self.decimal!r} is not a decimal separator: use '.' or ','.")
        if self.thousands is not None and self.thousands not in _MARKS:
            raise InputError(f"thousands={self.thousands!r} is not a thousands separator: use one of {_MARKS}.")
        if self.thousands == self.decimal:
            raise InputError(f"decimal and thousands are both {self.decimal!r}: use two different separators.")

    @property
    def plain(self) -> bool:
        """Whether numbers have a decimal point and no thousands separator."""
        return self.decimal == "." and self.thousands is None

    def number(self, cell: str) -> float | None:
        """Parse a cell as a number; None if it is not one."""
        cell = cell.strip()
        if not self.plain:
            if self._grouped.fullmatch(cell):
                cell = self._between.sub("", cell)
            if self.decimal == ",":
                if "." in cell:
                    return None
                cell = cell.replace(",", ".")
        try:
            # float() also takes 1_000 and the digits of other alphabets, which the compiled parser does not
            return float(cell) if cell.isascii() and "_" not in cell else None
        except ValueError:
            return None

    def value(self, cell: str) -> float | None:
        """Parse a cell as a number, or True and False as 1 and 0; None if it is neither."""
        number = self.number(cell)
        return FLAGS.get(cell.strip().lower()) if number is None else number

    @property
    def options(self) -> str:
        """Options for these separators, on the command line and in Python."""
        given = {"decimal": self.decimal} if self.decimal != "." else {}
        if self.thousands is not None:
            given["thousands"] = self.thousands
        line = " ".join(f'--{name} "{mark}"' for name, mark in given.items())
        python = ", ".join(f"{name}={mark!r}" for name, mark in given.items())
        return f"`{line}`, or {python} in Python"

    @cached_property
    def _between(self) -> re.Pattern[str]:
        return re.compile(f"[{re.escape(_ALIKE.get(self.thousands or '', self.thousands or ''))}]")

    @cached_property
    def _grouped(self) -> re.Pattern[str]:
        """Pattern of a number with thousands separators."""
        if self.thousands is None:
            return re.compile("(?!)")  # matches nothing
        between = self._between.pattern
        # no 0 in front: 030 123 456 is a telephone number
        return re.compile(rf"[+-]?[1-9]\d{{0,2}}({between}\d{{3}})+({re.escape(self.decimal)}\d*)?([eE][+-]?\d+)?")


PLAIN = Numerals()
# Other number formats, tried on cells that are not plain numbers; the commonest first.
OTHER_NUMERALS = tuple(
    Numerals(decimal, thousands)
    for decimal, thousands in (
        (".", ","),
        (",", None),
        (",", "."),
        (".", " "),
        (",", " "),
        (".", "'"),
        (",", "'"),
        (".", "_"),
    )
)
