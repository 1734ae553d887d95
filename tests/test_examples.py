"""The examples run as their first lines say, and their pictures show something."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_unfolding_draws_what_it_promises(tmp_path):
    from matplotlib.image import imread

    script = ROOT / "examples" / "unfolding.py"
    promised = [word for word in script.read_text("utf8").split() if word.endswith(".png")]
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(promised)
    for picture in tmp_path.iterdir():
        assert len(np.unique(imread(picture).reshape(-1, 4), axis=0)) > 50, picture  # not blank


@pytest.mark.slow
def test_unfolding_counts_dimensions():
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import unfolding
    finally:
        sys.path.remove(str(ROOT / "examples"))
    figure = unfolding.dimension()
    counted = [sum(bar.get_height() > 0.05 for bar in ax.patches) for ax in figure.axes]
    assert counted == [1, 2, 2, 3]  # a line, a ring, a sheet, a solid
