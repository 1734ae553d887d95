"""The pages tell the truth: their Python runs, and every method has its four places."""

import re
from pathlib import Path

import pytest

from tests.contract.discovery import exported

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    space = {"__name__": "__page__"}
    for code in re.findall(r"^```python\n(.*?)^```", page.read_text("utf8"), re.DOTALL | re.MULTILINE):
        if not code.startswith(">>>"):  # those are doctests, which pytest finds by itself
            exec(compile(code, page.name, "exec"), space)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("cls", exported(), ids=lambda cls: cls.__name__)
def test_one_name_in_four_places(cls):
    room, name = cls.__module__.split(".")[1:3]
    assert name.replace("_", "") == cls.__name__.lower()
    assert (ROOT / "tests" / room / f"test_{name}.py").is_file()
    page = (ROOT / "docs" / "methods" / f"{name}.md").read_text("utf8")
    assert page.startswith(f"# {cls.__name__}\n")
    assert f"methods/{name}.md" in (ROOT / "docs" / "README.md").read_text("utf8")


@pytest.mark.parametrize("cls", exported(), ids=lambda cls: cls.__name__)
def test_every_parameter_is_documented(cls):
    for name, default in cls().get_params().items():
        assert re.search(rf"^{name} : .*default={re.escape(repr(default))}$", cls.__doc__, re.MULTILINE), name
