"""Where a map is written if nobody says it: beside its table, and never over a file that is no map."""

from pathlib import Path

from gramfold.errors import InputError

_PACKED = (".gz", ".bz2", ".xz", ".zst")
_MOST_READ = 1_000  # characters of a header


def map_beside(source: Path) -> Path:
    """TABLE.map.csv, in the folder of TABLE.csv (or .csv.gz, .parquet, …); a file that is no map is not replaced."""
    if str(source) == "-" or any(mark in str(source) for mark in "*?["):
        raise InputError(f"'{source}' is no single file, beside which a map could be written: name one with --out.")
    stem = Path(source.stem) if source.suffix.lower() in _PACKED else source
    path = source.with_name(f"{stem.stem}.map.csv")
    if path.is_file() and not _is_map(path):
        raise InputError(f"'{path}' exists, and is no map of gramfold: name another file to write with --out.")
    return path


def _is_map(path: Path) -> bool:
    """Whether a file has the header of a map: columns called after a method, from 0 on."""
    from gramfold.methods.names import method_names

    stems = {name.replace("_", "") for name in method_names()}
    with path.open(encoding="utf-8", errors="replace") as stream:
        names = stream.readline(_MOST_READ).strip().split(",")
    return any(name.endswith("0") and name.removesuffix("0") in stems for name in names)
