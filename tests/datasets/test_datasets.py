"""The room as a whole: what it exports, what it costs to import, what its page says."""

import re
import subprocess
import sys
from pathlib import Path

from gramfold import datasets

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"


def test_import_is_cheap() -> None:
    code = "import sys, gramfold.datasets; sys.exit('scipy' in sys.modules or 'sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_page_shows_every_data_set_and_its_examples_run() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in datasets.__all__:
        assert f"`{name}" in text, name
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(block, "datasets.md", "exec"), {})
