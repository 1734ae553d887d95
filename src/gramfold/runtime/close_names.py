"""Which known name was probably meant: for methods, columns, options, verbs, files and data sets alike."""

from collections.abc import Iterable, Sequence

_ALIKE = 0.62  # of 2 × letters in common / letters of both: 'rge' (0.67) is 'reg', 'umap' (0.60) is not 'isomap'
_BESIDE_THE_BEST = 0.08  # further below the best match, a name is not worth a mention
_MOST = 3


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """Known names that are like this one, best first; none if no name is.

    Capitals, and the kind of mark between two words, do not matter. A name that is a whole word of known ones is like
    these: mds is like classical_mds.

    Examples
    --------
    >>> close_names("isomp", ["isomap", "lle", "pca"])
    ['isomap']
    >>> close_names("MDS", ["classical_mds", "landmark_mds", "lle"])
    ['classical_mds', 'landmark_mds']
    >>> close_names("tsne", ["isomap", "sde"])
    []
    """
    from difflib import SequenceMatcher

    wanted = _plain(name)
    if not wanted:
        return []
    likeness = {}
    for other in dict.fromkeys(known):
        plain = _plain(other)
        likeness[other] = SequenceMatcher(None, plain, wanted).ratio()
        if wanted in plain.split():
            likeness[other] = max(likeness[other], _ALIKE)
    alike = sorted((other for other in likeness if likeness[other] >= _ALIKE), key=lambda other: -likeness[other])
    return [other for other in alike if likeness[other] >= likeness[alike[0]] - _BESIDE_THE_BEST][:_MOST]


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The question that ends an error, or None if no known name is like this one.

    Examples
    --------
    >>> did_you_mean("heigth", ["height", "weight"])
    "did you mean 'height'?"
    """
    close = close_names(name, known)
    return question(close) if close else None


def question(close: Sequence[str]) -> str:
    """The question with one name or several."""
    names = [f"'{one}'" for one in close]
    return f"did you mean {' or '.join([', '.join(names[:-1]), names[-1]] if names[1:] else names)}?"


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
