"""How many verdicts are right, of data whose shape is known and maps whose faults are: no times."""

import sys
from collections.abc import Iterator

from benchmarks.verdict_sets import SEEDS, JudgedSet, first_half, second_half
from gramfold.diagnostics import verdict


def main() -> None:
    """Print a table of each half, and the counts: a set is right if two of its three seeds are."""
    halves = {"first": first_half, "second": second_half}
    for name in sys.argv[1:] or halves:
        print(f"\n{name} half\n\n| set | should be | seeds {', '.join(map(str, SEEDS))} | right |\n|---|---|---|---|")
        right = list(_lines(halves[name]()))
        sets = sum(count >= 2 for count in right)
        print(f"\n{sets} of {len(right)} sets, {sum(right)} of {len(SEEDS) * len(right)} verdicts are right")


def _lines(sets: Iterator[JudgedSet]) -> Iterator[int]:
    for one in sets:
        made = [one.make(seed) for seed in SEEDS]
        if any(pair is None for pair in made):
            print(f"| {one.name} | the data are absent | | |")
            continue
        found, right = [], 0
        for seed, pair in zip(SEEDS, made, strict=True):
            assert pair is not None
            told = verdict(*pair, random_state=seed)
            good = one.right_kind(told.kind), one.right_faults(told.faults)
            right += all(good)
            words = f"{told.kind} ({told.sure}), {' '.join(told.faults) or 'no fault'}"
            found.append(words if all(good) else f"**{words}**")
        should = f"{' or '.join(one.kinds)}; {_faults(one)}"
        print(f"| {one.name} | {should} | {'; '.join(found)} | {right} |", flush=True)
        yield right


def _faults(one: JudgedSet) -> str:
    parts = [*one.must, *([f"one of {' '.join(one.one_of)}"] if one.one_of else [])]
    may = f" (may be {' '.join(one.may)})" if one.may else ""
    return (", ".join(parts) or "no fault") + may


if __name__ == "__main__":
    main()
