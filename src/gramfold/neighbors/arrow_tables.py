"""Tables of Arrow that were made of pandas ones: their index names rows, and is no data."""

import json
from typing import Any


def is_arrow(X: Any) -> bool:
    """Whether X is a table of Arrow."""
    return hasattr(X, "column_names") and hasattr(X, "schema")


def pandas_index(schema: Any) -> list[str]:
    """Columns that the pandas metadata lists as the index; none without valid metadata."""
    try:
        noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except ValueError:
        return []
    index = noted.get("index_columns") if isinstance(noted, dict) else None
    # a RangeIndex is stored as a dictionary and has no column
    return [name for name in index if isinstance(name, str)] if isinstance(index, list) else []


def without_index(X: Any) -> Any:
    """A table of Arrow without the columns of its pandas index, where it has other columns."""
    index = [name for name in pandas_index(X.schema) if name in X.column_names]
    return X.drop_columns(index) if 0 < len(index) < len(X.column_names) else X
