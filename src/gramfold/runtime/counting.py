"""Numbers in sentences."""


def last_columns_are(count: int) -> str:
    """The beginning of a sentence about the last columns of an embedding."""
    return "the last column of the embedding is" if count == 1 else f"the last {count} columns of the embedding are"


def counted(count: int, what: str) -> str:
    """So many things, in the plural but for one."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
