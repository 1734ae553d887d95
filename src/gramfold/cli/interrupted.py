"""How a command ends at Ctrl-C, also one that is pressed while the commands are still being imported."""

CODE = 130  # 128 and the number of the signal, as shells report it
LINE = "Interrupted: stopped by Ctrl-C."


def keep_the_code() -> None:
    """Let an interrupted process end with the code that it chooses.

    `python -m` ends by the signal instead, without a look at the code, if the interrupt came while text was evaluated,
    as that of dataclasses is. What was evaluated last decides.
    """
    exec("")
