"""How a command ends at Ctrl-C, also one that is pressed while the commands are still being imported."""

from typing import Any

CODE = 130  # 128 and the number of the signal, as shells report it
LINE = "Interrupted: stopped by Ctrl-C; nothing was written."
_KEPT = "gramfold.kept"  # in the notes that click's contexts of a command share


def keep_the_code() -> None:
    """Let an interrupted process end with the code that it chooses.

    `python -m` ends by the signal instead, without a look at the code, if the interrupt came while text was evaluated,
    as that of dataclasses is. What was evaluated last decides.
    """
    exec("")


def kept(*paths: Any) -> None:
    """Note files that are written, whole, for what an interrupt says; None is no file."""
    from click import get_current_context

    context = get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(_KEPT, []).extend(str(path) for path in paths if path is not None)


def line_of(notes: dict[str, Any]) -> str:
    """What to say, from the notes of a context."""
    files = files_kept(notes)
    return f"Interrupted: stopped by Ctrl-C; {files}." if files else LINE


def files_kept(notes: dict[str, Any]) -> str:
    """Which files are written, by the notes of a context; empty where none is."""
    files = notes.get(_KEPT, [])
    return f"{', '.join(files)} {'is' if len(files) == 1 else 'are'} written and kept" if files else ""
