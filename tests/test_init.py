"""The front door: lazy, cheap, and the same for tools as for the interpreter."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gramfold

STUB = Path(gramfold.__file__).with_suffix(".pyi")


def test_every_name_loads():
    for name in gramfold.__all__:
        assert getattr(gramfold, name) is not None
    assert set(gramfold.__all__) <= set(dir(gramfold))


def test_rooms_are_loaded_when_first_used():
    code = (
        "import sys, tempfile; from pathlib import Path; import gramfold\n"
        "rooms = ('datasets', 'diagnostics', 'distributed', 'errors', 'io', 'plotting')\n"
        "rooms = {f'gramfold.{name}' for name in rooms}\n"
        "assert not rooms & set(sys.modules)\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    path = Path(folder) / 'table.csv'\n"
        "    gramfold.io.write_table(path, [[1.5, 2.0]], ['a', 'b'])\n"
        "    table = gramfold.io.read_table(path)\n"
        "assert table.values.tolist() == [[1.5, 2.0]] and table.names == ['a', 'b']\n"
        "assert not {'gramfold.datasets', 'gramfold.plotting'} & set(sys.modules)\n"
        "for name in ('datasets', 'diagnostics', 'distributed', 'errors', 'io', 'plotting'):\n"
        "    assert getattr(gramfold, name) is sys.modules[f'gramfold.{name}']\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Isomop'"):
        _ = gramfold.Isomop


def test_tools_see_the_same_names():
    tree = ast.parse(STUB.read_text("utf8"))
    seen = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(gramfold.__all__)
    (listed,) = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)]
    assert listed == gramfold.__all__


def test_imports_stay_light():
    code = (
        "import sys; import gramfold\n"
        "assert not {'numpy', 'scipy', 'sklearn'} & set(sys.modules)\n"
        "from gramfold import Isomap, LLE, LaplacianEigenmaps, KernelPCA, ClassicalMDS\n"
        "heavy = {'numba', 'faiss', 'matplotlib', 'tqdm', 'click', 'sklearn.manifold', 'sklearn.metrics'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
