"""Two jobs timed in turn, so that a noisy machine slows both alike."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Race:
    """Seconds of each run of ours and the peer's; of processor time too, where others may use the machine."""

    job: str
    ours: list[float]
    peer: list[float]
    target: str
    cpu: tuple[list[float], list[float]] = field(default=([], []), kw_only=True)

    @property
    def ratio(self) -> float:
        """Median peer time over median own time: above 1 we are faster; NaN where nothing was measured."""
        if not self.ours or not self.peer:
            return float("nan")
        return statistics.median(self.peer) / statistics.median(self.ours)

    @property
    def extra(self) -> float:
        """Median own time less median peer time, in seconds."""
        return statistics.median(self.ours) - statistics.median(self.peer)

    def judged(self, target: str, met: bool) -> "Race":
        """The same race; the table says whether the target was met."""
        return replace(self, target=f"{target}: {'met' if met else '**missed**'}")

    def row(self) -> str:
        """One line of the table."""
        ratio = f"{self.ratio:.2f}x" if self.ours and self.peer else "–"
        return (
            f"| {self.job} | {_spread(self.ours)} | {_spread(self.peer)} | {ratio} | {_cpu_ratio(*self.cpu)} "
            f"| {self.target} | {len(self.ours)} |"
        )


HEADER = (
    "| job | gramfold, s (range) | peer, s (range) | peer / gramfold | of CPU time | target | runs |\n"
    "|---|---|---|---|---|---|---|"
)


def race(
    job: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    target: str,
    runs: int = 3,
    warm: bool = True,
    peer_factor: int = 1,
    cpu: bool = False,
) -> Race:
    """Time both in turn; with `warm`, after one untimed run of ours (compiled code loads there).

    A peer whose time is proportional to its work may do a part of it: `peer_factor` says how small a part. `cpu` adds
    the ratio of this process's processor time, all threads together.
    """
    if warm:
        ours()
    times: tuple[list[float], list[float]] = ([], [])
    busy: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for work, kept, kept_cpu in zip((ours, peer), times, busy, strict=True):
            started, started_cpu = time.perf_counter(), time.process_time()
            work()
            kept.append(time.perf_counter() - started)
            kept_cpu.append(time.process_time() - started_cpu)
    theirs = [seconds * peer_factor for seconds in times[1]]
    return Race(job, times[0], theirs, target, cpu=busy if cpu else ([], []))


def cold(statement: str) -> Callable[[], object]:
    """The statement in a fresh interpreter."""
    return lambda: subprocess.run([sys.executable, "-c", statement], check=True)


def _cpu_ratio(ours: list[float], peer: list[float]) -> str:
    if not ours or not peer:
        return "–"
    mine, theirs = statistics.median(ours), statistics.median(peer)
    return f"{theirs / mine:.2f}x ({mine:.3g} and {theirs:.3g} s)"


def _spread(seconds: list[float]) -> str:
    if not seconds:
        return "–"
    return f"{statistics.median(seconds):.3g} ({min(seconds):.3g}–{max(seconds):.3g})"
