"""What tests of several rooms share."""

import signal

import pytest

from tests.kernels_loaded import load_kernels


@pytest.fixture
def heard():
    """Python's own handler, also where the tests run in the background of a shell, which ignores the key."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True, scope="session")
def _compiled_at_any_size():
    """Which of two equal ways a small table takes does not depend on the tests before."""
    load_kernels()
