"""The table that came in, and the DataFrame of the same library that goes out."""

from importlib import import_module
from typing import Any, Literal

from gramfold.errors import InputError, MissingExtraError
from gramfold.neighbors.columns import types_of
from gramfold.types import Floats

Library = Literal["pandas", "polars"]


def library_of(table: Any) -> Library:
    """The library of the DataFrame that goes out: that of the table, or pandas for an array or an Arrow table."""
    if hasattr(table, "obsm") and hasattr(table, "obs"):
        raise InputError(
            "table is an AnnData, which holds several tables: use gramfold.tl, or pass one of them, such as "
            "table.to_df() or table.obsm['X_pca']."
        )
    if hasattr(table, "get_columns") and hasattr(table, "schema"):
        return "polars"
    try:
        import_module("pandas")
    except ImportError as error:
        raise MissingExtraError(
            "embed returns a DataFrame, but pandas is not installed: run `pip install pandas`, or call fit_transform "
            "of a method, which returns an array."
        ) from error
    return "pandas"


def index_of(table: Any) -> Any:
    """That of a table of pandas; None for any other."""
    return table.index if hasattr(table, "iloc") and hasattr(table, "index") else None


def keys_of(table: Any) -> list[Any]:
    """By which its columns are named: names, or positions where it has none."""
    keys = [name for name, _ in types_of(table, "table")] or list(range(table.shape[1]))
    odd = [key for key in keys if not isinstance(key, str)]
    if 0 < len(odd) < len(keys):
        raise InputError(
            f"table has the column name {odd[0]!r}, which is no text, beside names that are, and scikit-learn passes "
            "on no such names: rename it, or convert all of them, table.columns = table.columns.astype(str)."
        )
    return keys


def without_column(table: Any, key: Any) -> Any:
    """The table without one column."""
    if hasattr(table, "iloc"):
        return table.drop(columns=[key])
    if hasattr(table, "select") and hasattr(table, "schema"):  # polars, Arrow
        return table.select([name for name in keys_of(table) if name != key])
    kept = [j for j in range(table.shape[1]) if j != key]
    return table[:, kept]


def framed(places: Floats, names: list[str], table: Any, library: Library, color: tuple[str, Any] | None) -> Any:
    """A DataFrame of the coordinates, with the index of the table, and the values that colour in the last column."""
    if library == "polars":
        import polars as pl

        frame = pl.DataFrame(places, schema=names)
        return frame if color is None else frame.with_columns(pl.Series(color[0], color[1]))
    import pandas as pd

    frame = pd.DataFrame(places, columns=names, index=index_of(table))
    if color is not None:
        # by position: an index may name rows twice
        frame[color[0]] = getattr(color[1], "array", color[1])
    return frame
