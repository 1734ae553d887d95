"""Which clip is this? One second of distorted sound, by a few numbers: `python -m benchmarks.audio_fingerprints [png]`.

Features are learnt on clips of their own (200 of 3 s, six seconds out of each). The library is 100 other clips of 3 s:
each second of them that begins at a multiple of 0.1 s, 2,100 in all. A query is one second of a library clip, begun
anywhere, distorted, and answered by the nearest second of the library. The lower layer learns from noise, resampling
and clipping, the upper also from shifts: alignment noise.
"""

import sys
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from gramfold import PCA, DistortionDiscriminantAnalysis
from gramfold.datasets import distort_audio, log_spectra, make_audio_clips

_SECOND, _GRID, _REACH = 8000, 800, 400  # samples: of a row, between rows of the library, of alignment noise
_FRAME, _BANDS = 256, 128
_LEARN, _EACH, _KNOWN, _QUERIES = 200, 6, 100, 300
_SIZES = (8, 16, 32, 64)
_KINDS: dict[str, dict[str, float]] = {
    "none (begun anywhere)": {},
    "noise, 6 dB below": {"noise": 0.5},
    "resampling to 0.4": {"resample": 0.4},
    "clipping at 0.5 rms": {"clip": 0.5},
    "all three, weaker": {"noise": 0.25, "resample": 0.6, "clip": 1.0},
}


def seconds_of(clips: Any, begins: Any, seed: int = 0, **distortion: Any) -> NDArray[np.float32]:
    """Spectra of one distorted second of each clip."""
    cut = np.stack([clip[begin : begin + _SECOND] for clip, begin in zip(clips, begins, strict=True)])
    spoilt = distort_audio(cut, random_state=seed, **distortion)
    return log_spectra(spoilt, frame=_FRAME, step=_FRAME).astype(np.float32)


def learn(size: int, clips: Any, begins: Any) -> dict[str, Any]:
    """Features of this many numbers, and a function that gives them."""
    X = seconds_of(clips, begins)
    lower = [seconds_of(clips, begins, seed, **kind) for seed, kind in enumerate(_KINDS.values()) if kind]
    moved = [seconds_of(clips, begins + by) for by in (-_REACH, -_REACH // 2, _REACH // 2, _REACH)]
    started = perf_counter()
    principal = PCA(size).fit(X)
    between = perf_counter()
    layered = DistortionDiscriminantAnalysis(size, layers=[(_BANDS, _BANDS, 16)])
    layered.fit(X, X_distorted=[np.stack(lower), np.stack(lower + moved)])
    print(f"{size} numbers: PCA {between - started:.1f} s, DDA {perf_counter() - between:.1f} s", file=sys.stderr)
    spread = principal.embedding_.std(axis=0)
    return {
        "PCA": principal.transform,
        "PCA, whitened": lambda rows: principal.transform(rows) / spread,
        "DDA": layered.transform,
    }


def rates() -> dict[tuple[str, str, int], float]:
    """Share of the queries that find their clip, by features, distortion and size."""
    rng = np.random.default_rng(0)
    clips = np.repeat(make_audio_clips(_LEARN, seconds=3.0, random_state=1), _EACH, axis=0)
    begins = rng.integers(_REACH, 2 * _SECOND - _REACH, len(clips))
    known = make_audio_clips(_KNOWN, seconds=3.0, random_state=2)
    grid = np.arange(0, 2 * _SECOND + 1, _GRID)
    library = np.concatenate([seconds_of(known, np.full(_KNOWN, begin)) for begin in grid])
    owner = np.tile(np.arange(_KNOWN), len(grid))
    asked = rng.integers(0, _KNOWN, _QUERIES)
    at = rng.integers(0, 2 * _SECOND + 1, _QUERIES)
    queries = {name: seconds_of(known[asked], at, 99, **kind) for name, kind in _KINDS.items()}
    found = {}
    for size in _SIZES:
        for features, transform in learn(size, clips, begins).items():
            nearest = NearestNeighbors(n_neighbors=1).fit(transform(library))
            for name, rows in queries.items():
                answer = owner[nearest.kneighbors(transform(rows))[1][:, 0]]
                found[features, name, size] = float(np.mean(answer == asked))
    return found


def draw(found: dict[tuple[str, str, int], float], path: str) -> None:
    """A panel for each distortion."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 2.6), layout="constrained")
    panels = figure.subplots(1, len(_KINDS), sharey=True)
    for panel, name in zip(panels, _KINDS, strict=True):
        for features, style in (("PCA", "C1o--"), ("PCA, whitened", "C2s:"), ("DDA", "C0o-")):
            panel.plot(_SIZES, [found[features, name, size] for size in _SIZES], style, label=features, markersize=4)
        panel.set_title(name, fontsize=9)
        panel.set_xscale("log", base=2)
        panel.set_xticks(_SIZES, [str(size) for size in _SIZES])
        panel.set_ylim(-0.03, 1.03)
    panels[0].set_ylabel("clips found")
    panels[len(_KINDS) // 2].set_xlabel("numbers a second")
    panels[0].legend(fontsize=8)
    figure.savefig(path, dpi=80)


def main() -> None:
    """Print the table; draw it where a file is named."""
    found = rates()
    print(
        f"| distortion | features | {' | '.join(f'{size} numbers' for size in _SIZES)} |\n|{'---|' * (2 + len(_SIZES))}"
    )
    for name in _KINDS:
        for features in ("PCA", "PCA, whitened", "DDA"):
            row = " | ".join(f"{found[features, name, size]:.0%}" for size in _SIZES)
            print(f"| {name} | {features} | {row} |")
    if sys.argv[1:]:
        draw(found, sys.argv[1])


if __name__ == "__main__":
    main()
