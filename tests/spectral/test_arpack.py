"""ARPACK draws nothing that differs from run to run: every call has a start and a seeded generator."""

import ast
from pathlib import Path

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

import gramfold
from gramfold.spectral.arpack import SEEDED


def test_every_call_has_a_start_and_a_seed() -> None:
    calls = [
        (path.name, {one.arg for one in node.keywords}, ast.unparse(node))
        for path in Path(gramfold.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "eigsh"
    ]
    assert len(calls) >= 3
    for name, keywords, text in calls:
        assert "v0" in keywords, name
        assert "**SEEDED" in text, name


def test_an_invariant_subspace_is_left_in_the_same_way_each_time() -> None:
    """A start within an eigenspace: what is found beyond it comes from the generator."""
    values = np.repeat([3.0, 2.0, 1.0], 20)
    product = LinearOperator((60, 60), matvec=lambda v: values * v, dtype=np.float64)
    start = (values == 3.0) * 1.0
    found = [eigsh(product, 3, which="LA", v0=start, **SEEDED)[1] for _ in range(2)]
    np.testing.assert_array_equal(*found)
