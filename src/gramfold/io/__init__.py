"""Read and write tables: text, arrays, Arrow files, workbooks, cells, pictures."""

from gramfold.io.columns import Columns
from gramfold.io.reading import Reading
from gramfold.io.replacing import replacing
from gramfold.io.selection import Ids
from gramfold.io.sparse import read_sparse
from gramfold.io.table import (
    Table,
    check_destination,
    check_ids,
    dates_in,
    first_unnamed,
    ids_in,
    is_text,
    names_in,
    read_columns,
    read_table,
    write_table,
)
from gramfold.runtime.destinations import check_folder

__all__ = [
    "Columns",
    "Ids",
    "Reading",
    "Table",
    "check_destination",
    "check_folder",
    "check_ids",
    "dates_in",
    "first_unnamed",
    "ids_in",
    "is_text",
    "names_in",
    "read_columns",
    "read_sparse",
    "read_table",
    "replacing",
    "write_table",
]
