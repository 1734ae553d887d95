"""Recognise file types by their first bytes."""

from pathlib import Path

from gramfold.errors import InputError

# First bytes, type of file, its endings, remedy. No line of text may begin with any of these bytes.
_SIGNATURES: list[tuple[bytes, str, tuple[str, ...], str]] = [
    (b"\x93NUMPY", "a .npy array", (".npy",), "change its ending to .npy"),
    (b"PK\x03\x04", "a zip archive", (".npz",), "unpack it, or if it is an Excel workbook save it as .csv"),
    (b"PAR1\x15", "a parquet file", (".parquet",), "change its ending to .parquet"),
    (b"ARROW1\0", "a feather file", (".feather",), "change its ending to .feather"),
    (b"FEA1\0", "a feather file (version 1)", (".feather",), "change its ending to .feather"),
    (b"\x1f\x8b", "compressed with gzip", (), "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", (), "unpack it first"),
    (b"\xfd7zXZ\0", "compressed with xz", (), "unpack it first"),
    (b"BZh91AY&SY", "compressed with bzip2", (), "unpack it first"),
    (b"\x89HDF", "an HDF5 file", (), "save the table as .npy or .parquet"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook", (), "save it as .csv"),
    (b"\xff\xfe", "text in UTF-16", (), "save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", (), "save it as UTF-8"),
]
_LONGEST = max(len(first) for first, *_ in _SIGNATURES)


def refuse_another_kind(path: Path) -> None:
    """Raise an error if the first bytes show another file type than the ending of the name."""
    with path.open("rb") as stream:
        head = stream.read(_LONGEST)
    for first, what, endings, remedy in _SIGNATURES:
        if head.startswith(first) and path.suffix.lower() not in endings:
            raise InputError(f"'{path}' is {what}, not a {path.suffix} file: {remedy}.")
