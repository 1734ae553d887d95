"""What tests of several rooms share."""

import signal

import pytest


@pytest.fixture
def heard():
    """Python's own handler, also where the tests run in the background of a shell, which ignores the key."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
