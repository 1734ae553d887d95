"""A map of words by their use, beside latent semantic analysis: `python -m benchmarks.word_map nips_1-17.npz`.

Brand, IJCAI 2003, section 5. A word is the vector of log(1 + count) over the NIPS papers up to 1999, brought to length
1, so that the nearest rows are those of largest cosine; kernels sit on words drawn at random. LSA is the leading
singular vectors of the same rows. For each of 20 terms the nearest words on both maps are listed (Euclidean on the
kernel eigenmap, cosine for LSA), and how many of a word's ten nearest by cosine are among its ten nearest on the map.

The file is not part of this package: an npz of a CSR count matrix, documents × words (data, indices, indptr, shape),
with the names `words` and `docs` ("year/number"). The 1740 documents up to 1999 are Roweis' nips12 corpus.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from gramfold import KernelEigenmaps

TERMS = (
    *("kernel", "margin", "neuron", "synaptic", "cortex", "eye", "speech", "phoneme", "robot", "policy"),
    *(
        "reward",
        "bayesian",
        "posterior",
        "gaussian",
        "chip",
        "voltage",
        "backpropagation",
        "eigenvalues",
        "music",
        "face",
    ),
)
_NEAREST = 10
_LAST_YEAR = 1999


def read(path: Path, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Words that at least so many documents use, and their rows (words, documents) of length 1."""
    if not path.exists():
        sys.exit(f"{path} is not there: this experiment needs the NIPS word counts (see --help for the format).")
    stored = np.load(path)
    missing = {"data", "indices", "indptr", "shape", "words", "docs"} - set(stored)
    if missing:
        sys.exit(f"{path} has no {', '.join(sorted(missing))}: see --help for the format.")
    counts = csr_array(
        (stored["data"].astype(np.float64), stored["indices"].astype(np.int32), stored["indptr"]), shape=stored["shape"]
    )
    early = np.array([int(name.partition("/")[0]) <= _LAST_YEAR for name in stored["docs"]])
    rows = csr_array(counts[early].T)
    rows.data = np.log1p(rows.data)
    kept = np.flatnonzero(np.diff(rows.indptr) >= least)
    return stored["words"][kept], normalize(rows[kept].toarray())


def nearest(points: np.ndarray, some: np.ndarray, count: int) -> np.ndarray:
    """The rows nearest to some of them, (s, count), themselves left out."""
    squares = np.square(points).sum(axis=1) - 2 * points[some] @ points.T
    squares[np.arange(len(some)), some] = np.inf
    return np.argsort(squares, axis=1)[:, :count]


def main() -> None:
    """Print the lists and how well each map keeps neighbours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=Path)
    parser.add_argument("--least", type=int, default=20, help="documents that use a word, at least")
    parser.add_argument("--dimensions", type=int, default=10)
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--local-dim", type=int, default=2, help="principal axes of each kernel")
    parser.add_argument("--neighbors", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    words, X = read(options.counts, options.least)
    model = KernelEigenmaps(
        options.dimensions,
        options.kernels,
        n_neighbors=options.neighbors,
        centers="random",
        local_dim=options.local_dim,
    ).fit(X)
    lsa = TruncatedSVD(options.dimensions, random_state=0).fit_transform(X)
    maps = {"kernel eigenmap": model.embedding_, "LSA": normalize(lsa)}
    unknown = [term for term in TERMS if term not in words]
    if unknown:
        sys.exit(f"the corpus does not use {', '.join(unknown)} in {options.least} documents: lower --least.")
    terms = np.array([np.flatnonzero(words == term)[0] for term in TERMS])
    print(
        f"{len(words)} words in {X.shape[1]} documents, {options.dimensions} dimensions, {options.kernels} kernels of "
        f"{options.local_dim} axes; fitted in {sum(model.timings_.values()):.0f} s\n"
    )
    print("| word | " + " | ".join(maps) + " |\n|" + "---|" * (len(maps) + 1))
    lists = [nearest(places, terms, 5) for places in maps.values()]
    for number, term in enumerate(TERMS):
        print(f"| {term} | " + " | ".join(", ".join(words[one[number]]) for one in lists) + " |")
    sample = np.random.default_rng(0).choice(len(words), min(1000, len(words)), replace=False)
    true = nearest(X, sample, _NEAREST)
    print(
        f"\nof the {_NEAREST} nearest words by cosine, among the {_NEAREST} nearest on the map ({len(sample)} words):"
    )
    for name, places in maps.items():
        found = nearest(places, sample, _NEAREST)
        kept = np.mean([len(set(a) & set(b)) / _NEAREST for a, b in zip(true, found, strict=True)])
        print(f"{name}: {kept:.1%}")


if __name__ == "__main__":
    main()
