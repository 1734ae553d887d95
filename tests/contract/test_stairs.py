"""How far a reader of one method has to run: which files outside of the numerical rooms a fit visits, and how often."""

import sys
from pathlib import Path

import pytest

import gramfold
from gramfold.errors import GramfoldWarning
from tests.contract.checks import sheet
from tests.contract.discovery import by_name, exported

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")

ROOT = Path(gramfold.__file__).parent
STAIRS = {"embedding", "methods"}  # a reader of a method reads these; the others are numbers


def visits(call) -> list[str]:
    """The files of the engine and of methods in the order in which functions of theirs are called."""
    seen: list[str] = []

    def note(frame, event, _):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(ROOT):
            short = file.relative_to(ROOT)
            place = "/".join(short.parts[:2])  # a method with its own helpers is one place
            if short.parts[0] in STAIRS and (not seen or seen[-1] != place):
                seen.append(place)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("cls", exported(), ids=by_name)
def test_a_fit_visits_few_files_and_seldom_turns(cls):
    X = sheet(60)
    cls().fit(X)  # what is imported once is no part of the way
    seen = visits(lambda: cls().fit(X))
    assert len(set(seen)) <= 8, seen
    assert len(seen) - 1 <= 12, seen
    assert any("methods" in file for file in seen), "the method's own file is on the way"
