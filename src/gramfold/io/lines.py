"""A text by its lines: cells as they are written, and which of them is wrong."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gramfold.errors import InputError
from gramfold.io.encoding import Decoded
from gramfold.io.layout import GAPS, Layout, rows_of
from gramfold.io.numerals import Numerals
from gramfold.io.parsing import parsed
from gramfold.io.reading import SEPARATOR_NAMES
from gramfold.io.selection import FILL_LABELS, leave_out, quoted, shortened
from gramfold.runtime.counting import counted

if TYPE_CHECKING:
    from gramfold.io.columns import Columns


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a text that was parsed."""

    text: Decoded
    layout: Layout
    numerals: Numerals
    path: Path
    line: str = "line"  # what a line is called; a workbook has rows
    codes: frozenset[str] = frozenset()  # words that stand for missing values too

    def words(self, j: int) -> list[str]:
        """Cells of one column; empty at gaps that are empty."""
        return self.words_of([j])[j]

    def words_of(self, positions: Sequence[int]) -> dict[int, list[str]]:
        """The same of several columns, which are parsed together."""
        if not positions:
            return {}
        table = parsed(self.text, self.layout, self.numerals, self.path, only=positions)
        columns = zip(positions, table.columns, strict=True)
        return {j: ["" if cell is None else cell.strip() for cell in column.to_pylist()] for j, column in columns}

    def known_words(self, j: int) -> list[str]:
        """Cells of one column; empty at all gaps."""
        return self.known(self.words(j))

    def known(self, words: Sequence[str]) -> list[str]:
        """Cells; empty at all gaps."""
        return ["" if word.lower() in GAPS or word in self.codes else word for word in words]

    def labels(self, j: int) -> list[str]:
        """Cells of one column, an error if one of them is a gap."""
        words = self.words(j)
        absent = [row for row, word in enumerate(self.known(words)) if not word]
        if absent:
            line, cells = self.row(absent[0])
            raise InputError(
                f"'{self.path}' has a missing label in column '{self.layout.names[j]}', {self.line} {line} "
                f"({cell_in_words(cells[j])}; {len(absent)} of {len(words)} rows have no label): {FILL_LABELS}."
            )
        return words

    def row(self, row: int) -> tuple[int, list[str]]:
        """Line number and cells of a row."""
        try:
            return next(islice(self.rows(), row, None))
        except csv.Error as error:
            raise not_closed(self.path, error) from error

    def rows(self, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Line number and cells of every row below the header."""
        with self.text.lines() as stream:
            for _ in range(self.layout.lines_before):
                next(stream, "")
            for line, cells in rows_of(stream, self.layout.separator, strict):
                yield line + self.layout.lines_before, cells

    def where(self, row: int, j: int) -> str:
        """What stands in a row of a column, and where."""
        line, cells = self.row(row)
        return f"{cell_in_words(cells[j].strip())} in column '{shortened(self.layout.names[j])}', {self.line} {line}"

    def uneven(self, reason: str) -> InputError:
        """Error for the first line that has another number of cells than the others."""
        width = len(self.layout.names)
        try:
            for line, cells in self.rows():
                if len(cells) != width:
                    return InputError(
                        f"'{self.path}' has {counted(len(cells), 'cell')} in {self.line} {line} where {width} are "
                        "expected "
                        f"(separated by {SEPARATOR_NAMES[self.layout.separator]}): correct that line, or put cells "
                        "that contain the separator in quotes."
                    )
        except csv.Error as error:
            return not_closed(self.path, error)
        return InputError(f"'{self.path}' is not a table ({shortened(reason)}): look for a quote that is not closed.")

    def require_numbers(self, columns: "Columns", kept: Sequence[int]) -> None:
        """Raise an error for columns of other things than numbers: for text, or for the first cell that is none."""
        odd = {j: columns.arrays[j] for j in kept if columns.kind(j) not in ("number", "flag", "nothing")}
        if not odd:
            return
        firsts = {j: self.odd(j, column) for j, column in odd.items()}
        text = [j for j, (_, share) in firsts.items() if share > 1 / 2]
        first = text[0] if text else next(iter(odd))
        line, cells = self.row(firsts[first][0])
        if "\n" in cells[first]:
            self._require_closed()
        cell = cell_in_words(cells[first].strip())
        names = self.layout.names
        if not text:
            leave = "" if len(kept) == 1 else f", or leave the column out ({leave_out([names[first]])})"
            raise InputError(
                f"'{self.path}' has {cell} in column '{shortened(names[first])}', {self.line} {line}, which is not a "
                f"number: correct it{leave}."
            )
        held = "dates" if all(columns.kind(j) == "date" for j in text) else "text"
        verb, them = ("holds", "it") if len(text) == 1 else ("hold", "them")
        chosen = [names[j] for j in text]
        found = f"In '{self.path}', {quoted(chosen)} {verb} {held} ({cell} in {self.line} {line})"
        if len(text) == len(kept):
            raise InputError(f"{found}, and no column holds numbers: a table of numbers is needed.")
        raise InputError(f"{found}: leave {them} out ({leave_out(chosen)}).")

    def _require_closed(self) -> None:
        """Raise an error for a quote that is not closed: all that follows it is one cell."""
        try:
            for _ in self.rows(strict=True):
                pass
        except csv.Error as error:
            raise not_closed(self.path, error) from error

    def odd(self, j: int, column: Any) -> tuple[int, float]:
        """First row of a column that is no number, and the share of such rows."""
        import pyarrow as pa

        if not pa.types.is_string(column.type):
            return int(np.argmax(column.is_valid().to_numpy())), 1.0
        cells = column.combine_chunks().dictionary_encode()
        wrong = np.array([self.numerals.value(cell) is None for cell in cells.dictionary.to_pylist()], dtype=bool)
        here = cells.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        rows = np.append(wrong, False)[here]
        return int(np.argmax(rows)), float(rows.mean())


def cell_in_words(cell: str) -> str:
    """A cell as errors show it."""
    return f"'{shortened(cell)}'" if cell.strip() else "no value"


def not_closed(path: Path, error: csv.Error) -> InputError:
    """Error for cells that are longer than any."""
    return InputError(f"'{path}' is not a table ({error}): look for a quote that is not closed.")
