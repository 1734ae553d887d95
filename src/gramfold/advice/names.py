"""What the name of a column says: that it names rows, or that it holds their classes."""

import re
from typing import Any

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WHO = {
    *("patient", "subject", "participant", "person", "customer", "client", "user", "donor", "employee", "student"),
    *("member", "respondent", "specimen"),
}
_WHAT = {*_WHO, "account", "order", "invoice", "transaction", "record", "case", "sample", "item", "product", "device"}
_NUMBER = {"number", "num", "no", "nr", "key", "code"}
_KEY = {"mrn", "ssn", "uuid", "guid", "barcode", *_WHO, *(f"{one}id" for one in _WHAT)}
_PLACE = {"index", "idx", "row", "rownum", "rownumber", "nr", "no", "key"}  # may be measured too, as rows of an image
_CLASS = {
    *("target", "label", "labels", "class", "classes", "cluster", "species", "diagnosis", "kind", "type", "group"),
    *("category", "outcome", "response", "genotype", "phenotype", "treatment", "condition", "batch"),
}


def words_of(name: Any) -> list[str]:
    """The words of a name, in small letters: "PatientID" and "patient_id" have two."""
    return [word.lower() for word in _WORD.findall(name)] if isinstance(name, str) else []


def says_key(name: Any) -> bool:
    """Whether a column is called as one whose numbers name somebody or something, each row's or that of several."""
    words = words_of(name)
    if not words:
        return False
    numbered = len(words) > 1 and words[-1] in _NUMBER and words[-2] in _WHAT
    return (
        "id" in (words[0], words[-1]) or (len(words) == 1 and words[0] in _KEY) or words[-1] in _KEY - _WHO or numbered
    )


def says_id(name: Any) -> bool:
    """Whether a column is called as one that names rows."""
    words = words_of(name)
    place = "".join(words) in _PLACE or (isinstance(name, str) and name.lower() == "unnamed: 0")
    return says_key(name) or place


def says_class(name: Any) -> bool:
    """Whether a column is called as one that holds classes of the rows."""
    words = words_of(name)
    return name == "y" or (bool(words) and not _CLASS.isdisjoint((words[0], words[-1])))
