"""Stages are timed always and told when asked."""

import contextlib
import logging
import threading
import time

import pytest

from gramfold.errors import InputError
from gramfold.runtime.progress import SILENT, Stages, beat, beats
from gramfold.runtime.threads import blocks, run_blocks, stop_flag

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


# --- the callback


class Heard(list):
    """Keeps what it is called with."""

    def __call__(self, stage, done, total):
        self.append((stage, done, total))


@pytest.fixture
def at_once(monkeypatch):
    """Steps are told however soon they come."""
    monkeypatch.setattr("gramfold.runtime.progress._PAUSE", 0.0)


@pytest.mark.usefixtures("at_once")
def test_a_stage_of_unknown_length_ends_with_the_steps_that_were_made():
    heard = Heard()
    with Stages(progress=heard)("spectrum"):
        for _ in beats(range(3)):
            pass
    assert heard == [
        ("spectrum", 0, None),
        ("spectrum", 1, None),
        ("spectrum", 2, None),
        ("spectrum", 3, None),
        ("spectrum", 3, 3),
    ]
    heard.clear()
    with Stages(progress=heard)("graph"):
        pass
    assert heard == [("graph", 0, None), ("graph", 1, 1)]


@pytest.mark.usefixtures("at_once")
def test_a_bar_within_a_stage_has_both_names_and_counts_its_own_items():
    heard = Heard()
    stages = Stages(progress=heard)
    with stages("kernel"):
        for _ in stages.bar("ab", 2, "geodesics"):
            beat()
    assert heard == [
        ("kernel", 0, None),
        ("kernel: geodesics", 0, 2),
        ("kernel: geodesics", 0, 2),  # a beat within an item: work goes on
        ("kernel: geodesics", 1, 2),
        ("kernel: geodesics", 1, 2),
        ("kernel: geodesics", 2, 2),
        ("kernel", 1, 1),
    ]


def test_a_loop_that_is_left_early_is_told_as_ended():
    heard = Heard()
    stages = Stages(progress=heard)
    with stages("iterations"):
        for _ in stages.bar(range(100), 100, "steps"):
            break
    assert heard == [
        ("iterations", 0, None),
        ("iterations: steps", 0, 100),
        ("iterations: steps", 100, 100),
        ("iterations", 1, 1),
    ]


def test_between_start_and_end_it_is_called_at_most_ten_times_a_second(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    heard = Heard()
    stages = Stages(progress=heard)
    with stages("spectrum"):
        for _ in range(1000):
            now[0] += 0.001
            beat()
    assert 8 <= len(heard) - 2 <= 10


def test_a_slow_callback_is_not_called_at_every_step(monkeypatch):
    now, heard = [0.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def slow(*told):
        heard.append(told)
        now[0] += 0.5

    stages = Stages(progress=slow)
    with stages("spectrum"):
        for _ in range(1000):
            now[0] += 0.001
            beat()
    assert 8 <= len(heard) - 2 <= 10


def test_the_same_steps_move_the_bar_and_the_callback(at_once, capsys):
    heard = Heard()
    with Stages(1, "X", heard)("spectrum"):
        for _ in beats(range(3)):
            pass
    shown = capsys.readouterr().err
    assert all(f"[X] spectrum: {done}it" in shown for done in (1, 2, 3))
    assert [done for _, done, _ in heard] == [0, 1, 2, 3, 3]


@pytest.mark.usefixtures("at_once")
def test_work_within_a_stage_that_nobody_is_told_of_is_a_step_of_the_stage_around():
    heard, silent = Heard(), Stages()
    with Stages(progress=heard)("refits"), silent("fit"):
        for _ in silent.bar(range(2), 2, "rows"):
            pass
    assert heard == [("refits", 0, None), ("refits", 1, None), ("refits", 2, None), ("refits", 2, 2)]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_only_the_thread_that_began_the_stage_calls_it(n_jobs):
    threads = set()

    def work(part):
        for _ in beats(range(3)):
            time.sleep(0.001)

    stages = Stages(progress=lambda *_: threads.add(threading.get_ident()))
    with stages("neighbors"):
        run_blocks(work, blocks(8, 1), n_jobs, stages=stages, what="search")
        run_blocks(work, blocks(8, 1), n_jobs)
    assert threads == {threading.get_ident()}


@pytest.mark.usefixtures("at_once")
def test_a_long_block_is_under_way_and_can_be_ended(monkeypatch):
    monkeypatch.setattr("gramfold.runtime.threads._PATIENCE", 0.01)
    flag, calls = stop_flag(), []

    def impatient(*call):
        calls.append(call)
        if len(calls) > 5:
            raise EndedError

    def work(_):
        while not flag[0]:
            time.sleep(0.005)

    with pytest.raises(EndedError), Stages(progress=impatient)("kernel"):
        run_blocks(work, [slice(0, 1)], 1, stop=flag)


class EndedError(Exception):
    pass


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("kind", [EndedError, StopIteration, KeyboardInterrupt, ValueError, GeneratorExit, SystemExit])
@pytest.mark.parametrize("when", range(11))
def test_what_it_raises_reaches_the_caller_unchanged(kind, when):
    raised, calls = kind("enough"), []

    def cancel(*call):
        calls.append(call)
        if len(calls) > when:
            raise raised

    def two_stages():
        stages = Stages(progress=cancel)
        with stages("kernel"):
            for _ in stages.bar(range(2), 2, "values"):
                pass
            for _ in stages.bar(range(9), 9, "left"):
                break
            beat()
        with stages("spectrum"), contextlib.suppress(ValueError):  # as of a solver that failed
            beat()

    with pytest.raises(kind) as caught:
        two_stages()
    assert caught.value is raised
    beat()  # nothing is under way
    assert len(calls) == when + 1


@pytest.mark.usefixtures("at_once")
def test_work_within_the_callback_is_none_of_its_steps():
    heard = Heard()

    def busy(*call):
        heard(*call)
        with Stages()("inner"):
            beat()

    with Stages(progress=busy)("outer"):
        beat()
    assert heard == [("outer", 0, None), ("outer", 1, None), ("outer", 1, 1)]


def test_what_cannot_be_called_is_refused():
    with pytest.raises(InputError, match=r"progress=3 cannot be called: pass a function of \(stage, done, total\)"):
        Stages(progress=3)
