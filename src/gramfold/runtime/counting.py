"""Numbers in sentences."""

from typing import Any

_NAMED = 3  # rows in a sentence


def last_columns_are(count: int) -> str:
    """The beginning of a sentence about the last columns of an embedding."""
    return "the last column of the embedding is" if count == 1 else f"the last {count} columns of the embedding are"


def counted(count: int, what: str) -> str:
    """So many things, in the plural but for one."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def some_rows(rows: Any, count: int) -> tuple[str, str]:
    """Some of so many rows by number, the first ones, and the pronoun for them."""
    names = ", ".join(str(row) for row in sorted(rows[:_NAMED]))
    if count == 1:
        return f"row {names}", "it"
    return f"{count} rows ({'such as ' if count > min(_NAMED, len(rows)) else ''}{names})", "them"
