"""docs/first_maps.md is what happens: its commands are run on the five tables, and print what it shows."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from gramfold.cli import main
from tests import user_tables

PAGE = Path(__file__).parents[1] / "docs" / "first_maps.md"
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
TABLES = {
    "flowers": user_tables.flowers,
    "sensors": user_tables.sensors,
    "stationen": user_tables.stations,
    "wines": user_tables.wines,
    "cells": user_tables.cells,
}


def transcripts():
    """Of each section, its commands and what they print."""
    for section in PAGE.read_text("utf8").split("\n## ")[1:]:
        blocks = re.findall(r"^```console\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
        steps = [step for block in blocks for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
        if steps:
            yield section.splitlines()[0], [step.partition("\n")[::2] for step in steps]


TRANSCRIPTS = dict(transcripts())


def test_there_are_five_tables_and_one_command_each_makes_map_picture_and_model():
    for stem in TABLES:
        (steps,) = [steps for steps in TRANSCRIPTS.values() if any(f"embed {stem}." in command for command, _ in steps)]
        (first, printed), (second, _) = steps[0], steps[1]
        assert first.startswith(f"gramfold embed {stem}.")
        assert all(option in first for option in ("--color", "--picture", "--model"))
        assert "verdict" in printed
        assert second.startswith("gramfold transform ")


@pytest.mark.parametrize("title", TRANSCRIPTS)
def test_the_commands_print_what_is_shown(title, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    steps = TRANSCRIPTS[title]
    (stem,) = [stem for stem in TABLES if any(f" {stem}." in command for command, _ in steps)]
    if stem == "cells":
        pytest.importorskip("anndata")
    TABLES[stem](tmp_path)
    checker = doctest.OutputChecker()
    for command, expected in steps:
        words = shlex.split(command)
        if words[0] == "head":
            printed = "".join(Path(words[3]).read_text("utf8").splitlines(keepends=True)[: int(words[2])])
        else:
            result = CliRunner().invoke(main, words[1:], catch_exceptions=False)
            assert result.exit_code == 0, result.output
            printed = result.output
            for option in ("--picture", "--model", "--out"):
                assert option not in words or Path(words[words.index(option) + 1]).stat().st_size
        assert checker.check_output(expected, printed, LOOSE), f"{command}\nprinted\n{printed}"
