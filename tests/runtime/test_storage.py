"""Arrays in files."""

import shutil

import numpy as np
import pytest

from gramfold.errors import InputError, MemoryForecastError
from gramfold.runtime.storage import array_in_file, check_room


def test_an_array_lives_in_a_file_that_nobody_sees(tmp_path):
    array = array_in_file(tmp_path, (1000, 2000), np.float32)
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, 0)
    array[:] = np.arange(2000)
    assert array[7, 1234] == 1234
    assert list(tmp_path.iterdir()) == []


def test_a_folder_must_be_there_and_have_room(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="is not a folder"):
        array_in_file(tmp_path / "absent", (2, 2), np.float64)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=799))
    check_room(tmp_path, (9, 11), np.float64)
    with pytest.raises(MemoryForecastError, match=r"10 x 10 needs 0\.0 GB on disk"):
        check_room(tmp_path, (10, 10), np.float64)
