"""Recognise file types by their first bytes."""

from dataclasses import dataclass

from gramfold.errors import InputError

COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "xz", b"BZh91AY&SY": "bzip2"}
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


@dataclass(frozen=True)
class _Signature:
    first: bytes  # no line of text may begin with these
    what: str
    endings: tuple[str, ...]
    remedy: str
    place: int = 0


_SIGNATURES = [
    _Signature(b"\x93NUMPY", "a .npy array", (".npy",), "change its ending to .npy"),
    _Signature(
        b"PK\x03\x04",
        "a zip archive",
        (".npz", *WORKBOOKS),
        "unpack it, or if it is an Excel workbook change its ending to .xlsx",
    ),
    _Signature(b"PAR1\x15", "a parquet file", (".parquet", ".pq"), "change its ending to .parquet"),
    _Signature(b"ARROW1\0", "a feather file", (".feather", ".arrow", ".ipc"), "change its ending to .feather"),
    _Signature(b"FEA1\0", "a feather file (version 1)", (".feather",), "change its ending to .feather"),
    _Signature(b"\xff\xff\xff\xff", "an Arrow stream", (".arrows", ".arrow", ".ipc"), "change its ending to .arrows"),
    _Signature(b"\x89HDF", "an HDF5 file", (".h5ad",), "change its ending to .h5ad if it is one of anndata"),
    _Signature(b"\xd0\xcf\x11\xe0", "an Excel workbook", (".xls",), "change its ending to .xls"),
    _Signature(b"%PDF-", "a PDF document", (), "save the table of it as .csv"),
    _Signature(b"\x89PNG", "a picture", (), "put the pictures into a folder and give its name"),
    _Signature(b"\xff\xd8\xff", "a picture", (), "put the pictures into a folder and give its name"),
    _Signature(b"SQLite format 3\0", "a SQLite database", (), "save the table of it as .csv"),
    _Signature(b"\x80\x04\x95", "a pickle, which may run code", (), "save the table of it as .parquet"),
    _Signature(b"ustar", "a tar archive", (), "unpack it", place=257),
]
LONGEST = max(one.place + len(one.first) for one in _SIGNATURES)


def ending_by_content(head: bytes) -> str:
    """The ending that files with these first bytes have, .csv for text; empty if they are of no known kind."""
    for one in _SIGNATURES:
        if head[one.place :].startswith(one.first):
            if one.first == b"PK\x03\x04":
                return ".npz" if b".npy" in head[:LONGEST] else ".xlsx"
            return one.endings[0] if one.endings else ""
    return ".csv"


def refuse_another_kind(source: str, ending: str, head: bytes) -> None:
    """Raise an error if the first bytes show another file type than the ending of the name."""
    for one in _SIGNATURES:
        if head[one.place :].startswith(one.first) and ending not in one.endings:
            called = f"not a {ending} file" if ending else "which cannot be read"
            raise InputError(f"'{source}' is {one.what}, {called}: {one.remedy}.")
