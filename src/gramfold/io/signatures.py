"""Files told by their first bytes, whatever they are called."""

from pathlib import Path

from gramfold.errors import InputError

# First bytes, what such a file is, how it may be called, what to do. None may be the beginning of a line of text.
_SIGNATURES: list[tuple[bytes, str, tuple[str, ...], str]] = [
    (b"\x93NUMPY", "an array as numpy.save writes it", (".npy",), "call it .npy"),
    (b"PK\x03\x04", "a zip archive", (".npz",), "unpack it, or save a workbook of Excel as .csv"),
    (b"PAR1\x15", "a parquet file", (".parquet",), "call it .parquet"),
    (b"ARROW1\0", "a feather file", (".feather",), "call it .feather"),
    (b"FEA1\0", "a feather file of the first version", (".feather",), "call it .feather"),
    (b"\x1f\x8b", "compressed with gzip", (), "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", (), "unpack it first"),
    (b"\xfd7zXZ\0", "compressed with xz", (), "unpack it first"),
    (b"BZh91AY&SY", "compressed with bzip2", (), "unpack it first"),
    (b"\x89HDF", "an HDF5 file", (), "save the table as .npy or .parquet"),
    (b"\xd0\xcf\x11\xe0", "a workbook of Excel", (), "save it as .csv"),
    (b"\xff\xfe", "text in UTF-16", (), "save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", (), "save it as UTF-8"),
]
_LONGEST = max(len(first) for first, *_ in _SIGNATURES)


def refuse_another_kind(path: Path) -> None:
    """Refuse a file that is known to be something else than its ending says."""
    with path.open("rb") as stream:
        head = stream.read(_LONGEST)
    for first, what, endings, remedy in _SIGNATURES:
        if head.startswith(first) and path.suffix.lower() not in endings:
            raise InputError(f"'{path}' is {what}, not a {path.suffix} file: {remedy}.")
