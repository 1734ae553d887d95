"""Files that are larger than memory, and maps of them: judged by rows that are drawn, the same of both."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramfold.errors import InputError

if TYPE_CHECKING:
    from gramfold.cli.map_file import MapFile
    from gramfold.cli.matching import MappedTable
    from gramfold.cli.prepared import Measured, Preparing
    from gramfold.distributed.files import InputFile
    from gramfold.io import Columns
    from gramfold.types import Integers

_NUMBER = 8  # bytes
_MANY = 200_000  # rows, from which on neighbours of all take minutes
_OF_ALL = ("precomputed", "gower")  # metrics that read all rows


def are_drawn(
    sources: Sequence[Path], memory_limit: str | None = None, *, metric: str | None = None, wholly: bool = False
) -> bool:
    """Whether rows are drawn from these tables.

    They are where one, which is read in parts, takes more than the limit. Below it they are where one is of several
    files, or has many rows, and all can be read in parts; unless something is asked for that needs them wholly.
    """
    from gramfold.cli.partition_options import limit_of
    from gramfold.diagnostics.partitions import MOST

    limit = limit_of(memory_limit)
    sizes = [_size(source) for source in sources]
    known = [size for size in sizes if size is not None]
    if any(size.bytes > limit for size in known):
        return True
    if wholly or metric in _OF_ALL or len(known) < len(sizes):
        return False
    return any(size.rows > _MANY or (size.files > 1 and size.rows > MOST) for size in known)


def drawn_table(source: Path, metric: str, how: "Preparing") -> "Measured":
    """Rows that are drawn from a table."""
    return _measured(_Drawn.of([source], None, metric, how), metric, None, [], how)


def drawn_map(
    source: Path,
    placed: Path,
    by: str | None,
    labels: str | None,
    metric: str | None,
    map_columns: Sequence[str] | None,
    how: "Preparing",
) -> "MappedTable":
    """Rows that are drawn from a table, and their coordinates: those of the same numbers in the map."""
    from gramfold.cli.matching import MappedTable

    table, [read] = drawn_maps(source, [placed], by, labels, metric, map_columns, how)
    return MappedTable(table.values, read.places[table.rows], table.labels, table.rows, 0, None, "", table, read)


def drawn_maps(
    source: Path,
    maps: Sequence[Path],
    by: str | None,
    labels: str | None,
    metric: str | None,
    map_columns: Sequence[str] | None,
    how: "Preparing",
) -> "tuple[Measured, list[MapFile]]":
    """The same of several maps, whose coordinates are of all rows that were drawn."""
    drawn = _Drawn.of([source, *maps], by, metric, how)
    not_data = [name for name in (by, labels) if name is not None]
    table = _measured(drawn, metric, labels, not_data, how)
    known = set(drawn.columns[0].names)
    read = [
        _map_of(found, path, known, by, map_columns, numbers)
        for found, numbers, path in zip(drawn.columns[1:], drawn.numbers[1:], maps, strict=True)
    ]
    return table, read


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The same rows of one or two tables."""

    columns: "list[Columns]"
    numbers: "list[Integers]"  # (m,) each, counted through all files of the table
    n_rows: int

    @classmethod
    def of(cls, sources: Sequence[Path], by: str | None, metric: str | None, how: "Preparing") -> "_Drawn":
        """Drawn from the first, and those of the same numbers, or with the same ids in the column `by`, from others."""
        from gramfold.diagnostics.partitions import MOST
        from gramfold.distributed.survey import numbers_drawn

        if metric in _OF_ALL:
            raise InputError(
                f"--metric {metric} reads all rows, and of these files rows are drawn: use another metric."
            )
        files = [_files(source) for source in sources]
        counts = [sum(file.rows for file in some) for some in files]
        odd = next((j for j, count in enumerate(counts) if count != counts[0]), None)
        if odd is not None and by is None:
            raise InputError(
                f"'{sources[0]}' has {counts[0]:,} rows and '{sources[odd]}' has {counts[odd]:,}, so rows cannot be "
                "matched by their order, as those of large files are: pass the map of these rows, or use --id."
            )
        numbers = numbers_drawn(counts[0], MOST, how.seed)
        first = _taken(sources[0], files[0], numbers, how)
        found, chosen = [first], [numbers]
        for source, some, count in zip(sources[1:], files[1:], counts[1:], strict=True):
            here, which = _taken(source, some, numbers, how) if count == counts[0] else None, numbers
            if by is not None and (here is None or not _same_ids(first, here, by)):
                here, which = _named(source, some, first, by, how)
            assert here is not None  # as counts are the same, or there are ids
            found.append(here)
            chosen.append(which)
        return cls(found, chosen, counts[0])

    @property
    def sentence(self) -> str:
        """As decisions are told."""
        drawn = f"{len(self.numbers[0]):,} of {self.n_rows:,} rows"
        return f"drawn: {drawn}; neighbours are sought, and rows numbered, among these"


_BATCHES = 1e9  # bytes that are read within; a batch takes an eighth


def _files(source: Path) -> "list[InputFile]":
    from gramfold.distributed.files import InputFile
    from gramfold.distributed.opening import files_of
    from gramfold.neighbors.partitioned import is_partitioned

    if not is_partitioned(source):
        raise InputError(
            f"'{source}' is read whole, and the other table is so large that rows are drawn: save it as Parquet, or "
            "raise --memory-limit."
        )
    return [InputFile.of(path) for path in files_of(source)]


def _measured(
    drawn: _Drawn, metric: str | None, labels: str | None, not_data: Sequence[str], how: "Preparing"
) -> "Measured":
    from gramfold.cli.prepared import measured

    first = drawn.columns[0]
    table = measured(first.source, metric, labels, not_data, how, found=first)
    return replace(table, sentences=[drawn.sentence, *table.sentences])


def _map_of(
    found: "Columns",
    placed: Path,
    known: set[str],
    by: str | None,
    chosen: Sequence[str] | None,
    numbers: Any,
) -> "MapFile":
    """Which columns of the drawn rows of a map are coordinates, by the rules for a map that is read whole."""
    import numpy as np

    from gramfold.cli.map_file import MapFile
    from gramfold.io.columns import NUMBER

    names = list(chosen or [name for name in found.names if name != by and name not in found.aside])
    table_has = [] if chosen else [name for name in names if name in known]
    numeric = [name for name in names if name not in table_has and found.kind(found.place(name)) == NUMBER]
    columns = {name: found.numbers([name])[:, 0] for name in numeric}
    counted = (numbers, numbers + 1)
    index = [] if chosen else [name for name in numeric if any(np.array_equal(columns[name], one) for one in counted)]
    coordinates = [name for name in numeric if name not in index]
    if not coordinates or (chosen and len(coordinates) < len(names)):
        raise InputError(
            f"'{placed}' has no column of numbers that the table does not have too, so its coordinates are not known: "
            "name columns of numbers with --map-columns."
        )
    return MapFile(placed, columns, {}, None, table_has, index, coordinates)


def _taken(source: Path, files: "Sequence[InputFile]", numbers: "Integers", how: "Preparing") -> "Columns":
    from gramfold.distributed.survey import rows_drawn

    return _columns(source, files, rows_drawn(files, numbers, _batch(files)), how)


def _named(
    source: Path, files: "Sequence[InputFile]", first: "Columns", by: str, how: "Preparing"
) -> "tuple[Columns, Integers]":
    """The rows that have the ids of the first table."""
    from gramfold.distributed.survey import rows_named

    files[0].empty().place(by)  # raises where there is none
    found, numbers = rows_named(files, by, first.arrays[first.place(by)], _batch(files))
    return _columns(source, files, found, how), numbers


def _batch(files: "Sequence[InputFile]") -> int:
    from gramfold.cli.partition_writing import rows_each

    return rows_each(len(files[0].schema.names), _BATCHES)


def _columns(source: Path, files: "Sequence[InputFile]", table: Any, how: "Preparing") -> "Columns":
    return replace(files[0].columns(table, how.written.get("na", ())), source=source)


def _same_ids(first: "Columns", other: "Columns", by: str) -> bool:
    return first.words_at(first.place(by)) == other.words_at(other.place(by))


@dataclass(frozen=True)
class _Size:
    """Of a table that is read in parts."""

    files: int
    rows: int
    bytes: int


def _size(source: Path) -> _Size | None:
    """None where it is read whole."""
    from gramfold.neighbors.partitioned import is_partitioned

    if not is_partitioned(source):
        return None
    try:
        files = _files(source)
    except InputError:  # a folder of pictures, say, whose reader knows what is wrong with it
        return None
    rows = sum(file.rows for file in files)
    return _Size(len(files), rows, sum(_NUMBER * file.rows * len(file.schema.names) for file in files))
