"""Stages are timed always and told when asked."""

import logging
import time

import pytest

from gramfold.runtime.progress import SILENT, Stages

LOG = logging.getLogger("gramfold")


def test_stages_are_timed_and_add_up(monkeypatch):
    clock = iter([0.0, 2.0, 10.0, 13.0, 20.0, 20.5])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    stages = Stages()
    for name in ("kernel", "spectrum", "kernel"):
        with stages(name):
            pass
    assert stages.seconds == {"kernel": 2.5, "spectrum": 3.0}
    assert list(stages.seconds) == ["kernel", "spectrum"]


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_stage_that_fails_is_timed_and_fails(verbose):
    stages = Stages(verbose)
    with pytest.raises(ZeroDivisionError), stages("kernel"):
        _ = 1 / 0
    assert stages.seconds["kernel"] >= 0
    assert not LOG.handlers


def test_verbose_tells_on_standard_error(capsys):
    with Stages(2, "Isomap")("kernel"):
        LOG.info("compiled %s", "walks")
    told = capsys.readouterr()
    assert told.out == ""
    first, second, third = told.err.splitlines()
    assert (first, second) == ("[Isomap] kernel ...", "[Isomap] compiled walks")
    assert third.startswith("[Isomap] kernel: 0.0")
    assert third.endswith(" s")


def test_the_log_is_left_as_it_was(capsys):
    level = LOG.level
    with Stages(1)("kernel"):
        assert LOG.isEnabledFor(logging.INFO)
    assert (LOG.level, LOG.handlers) == (level, [])
    capsys.readouterr()
    LOG.info("after")
    assert capsys.readouterr().err == ""


def test_a_stage_within_a_stage_tells_the_log_once(capsys):
    stages = Stages(1, "X")
    with stages("outer"), stages("inner"):
        LOG.info("once")
    assert capsys.readouterr().err.count("once") == 1


def test_silence(capsys):
    stages = Stages(0)
    with stages("kernel"):
        stages.say("nothing")
        LOG.info("nothing")
    items = [1, 2]
    assert stages.bar(items, 2, "rows") is items
    assert capsys.readouterr() == ("", "")
    assert SILENT.verbose is False


def test_a_bar_gives_every_item_and_goes_to_standard_error(capsys):
    assert list(Stages(1, "X").bar(iter("abc"), 3, "rows")) == ["a", "b", "c"]
    told = capsys.readouterr()
    assert "[X] rows" in told.err
    assert told.out == ""
