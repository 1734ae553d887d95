"""`gramfold completion`: the script with which a shell completes commands, options, methods and files."""

import click

from gramfold.cli.sentences import in_sentences

_VARIABLE = "_GRAMFOLD_COMPLETE"  # as click names it after the program
_HOW = {
    "bash": "echo 'eval \"$(gramfold completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(gramfold completion zsh)\"' >> ~/.zshrc",
    "fish": "gramfold completion fish > ~/.config/fish/completions/gramfold.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(_HOW)))
@in_sentences
def completion(shell: str) -> None:
    """Print the script that completes commands in a shell.

    Then the Tab key completes commands, options, methods, data sets and files. The first lines of the script say how to
    install it.

    \b
    gramfold completion bash
    gramfold completion zsh
    gramfold completion fish > gramfold.fish
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    from gramfold.cli.commands import main

    made = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}[shell]
    # not .source(): that starts bash to ask for its version
    complete = made(main, {}, "gramfold", _VARIABLE)
    script = complete.source_template % complete.source_vars()
    click.echo(f"# Completion of gramfold in {shell}; to install it, run once\n#     {_HOW[shell]}\n{script}")
