"""How many planted faults are named, and how many good maps are free of them: no times."""

from benchmarks.fault_sets import FaultyMap, first_half, second_half
from gramfold.diagnostics import faults


def main() -> None:
    """Print a table of each half, and the counts."""
    for half in (first_half, second_half):
        print(f"\n{half.__name__.replace('_', ' ')}\n")
        right = [_line(one) for one in half()]
        print(f"\n{sum(right)} of {len(right)} as they should be")


def _line(one: FaultyMap) -> bool:
    found = faults(one.X, one.Y)
    named = found.named
    right = (one.fault in named and len(named) <= 2) if one.fault else not named
    values = ", ".join(f"{fault.name} {fault.total:.3f}/{fault.threshold:.3f}" for fault in found)
    print(f"| {one.name} | {one.fault or '–'} | {', '.join(named) or '–'} | {values} |{'' if right else ' **wrong**'}")
    return right


if __name__ == "__main__":
    main()
