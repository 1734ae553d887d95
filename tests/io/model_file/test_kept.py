"""Files that an earlier version wrote are read for ever."""

import io
import zipfile
from collections.abc import Iterator

import numpy as np
import pytest

import gramfold
from gramfold.errors import GramfoldWarning
from tests.io.model_file.kept import ARCHIVE, COORDINATES, placed
from tests.io.model_file.models import VARIANTS, new_rows

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")


@pytest.fixture(scope="module")
def archive() -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(ARCHIVE) as opened:
        yield opened


def names() -> list[str]:
    with zipfile.ZipFile(ARCHIVE) as opened, np.load(io.BytesIO(opened.read(COORDINATES))) as said:
        return list(said)


@pytest.mark.parametrize(("number", "name"), list(enumerate(names())))
def test_a_file_of_format_1_is_read(number, name, archive, tmp_path):
    path = tmp_path / "kept.gramfold"
    path.write_bytes(archive.read(f"{number}.gramfold"))
    with np.load(io.BytesIO(archive.read(COORDINATES))) as said:
        expected = said[name]
    model = gramfold.load(path)
    found = placed(model, new_rows(VARIANTS[name][1]()))
    size = float(np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=(1e-4 if found.dtype == np.float32 else 1e-7) * size)
