"""Generate audio clips of tones and chirps, distort them, and compute their spectra."""

import numpy as np
from numpy.typing import NDArray

from gramfold.datasets._arguments import between, count, nonnegative, positive
from gramfold.datasets._randomness import RandomStateLike, generator

RATE = 8000  # samples a second
_NOTES_PER_SECOND = 8.0
_LOWEST, _HIGHEST = 150.0, 3000.0  # hertz
_HARMONICS = (1.0, 0.5, 0.25)  # loudness of a tone and its first overtones
_CHIRPS = 0.3  # share of the notes that glide
_OCTAVES = 1.0  # that they glide at most, up or down
_QUIET = 1e-3  # share of the mean power that is added to every band: the logarithm of 0 is not finite


def make_audio_clips(
    n_clips: int = 50, *, seconds: float = 2.0, random_state: RandomStateLike = 0
) -> NDArray[np.float64]:
    """Generate audio clips of overlapping tones, with overtones, and chirps.

    Parameters
    ----------
    n_clips : int, default=50
        Number of clips.
    seconds : float, default=2.0
        Length of each clip, at 8,000 samples per second.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator. A fixed seed gives the same data in each call, None gives different data.

    Returns
    -------
    ndarray of shape (n_clips, 8000 · seconds)
        One clip per row; the mean square of each is 1.

    Examples
    --------
    >>> from gramfold.datasets import make_audio_clips
    >>> make_audio_clips(3, seconds=0.5, random_state=0).shape
    (3, 4000)
    """
    n_clips = count("n_clips", n_clips)
    samples = max(1, round(RATE * positive("seconds", seconds)))
    rng = generator(random_state)
    clips = np.stack([_clip(samples, rng) for _ in range(n_clips)])
    return np.asarray(clips / np.sqrt(np.mean(clips**2, axis=1, keepdims=True)))


def distort_audio(
    clips: NDArray[np.floating],
    *,
    noise: float = 0.0,
    shift: int = 0,
    resample: float = 1.0,
    clip: float | None = None,
    random_state: RandomStateLike = 0,
) -> NDArray[np.float64]:
    """Distort audio clips by a shift, resampling, noise and clipping.

    Parameters
    ----------
    clips : array of shape (n_clips, n_samples)
        One clip per row.
    noise : float, default=0.0
        Standard deviation of white noise, relative to the root mean square of each clip.
    shift : int, default=0
        Number of samples by which each clip is delayed or, if negative, advanced. The rest is filled with silence.
    resample : float, default=1.0
        Share of the sampling rate, in (0, 1], to which each clip is resampled, and back, by linear interpolation. High
        frequencies are lost or aliased.
    clip : float, optional
        Largest amplitude, relative to the root mean square of each clip; larger values are clipped. By default none is.
    random_state : int, RandomState, Generator or None, default=0
        Seed or random generator of the noise. A fixed seed gives the same noise in each call; for several noisy
        versions pass different seeds, or None.

    Returns
    -------
    ndarray of shape (n_clips, n_samples)
        Distorted clips; distortions are applied in the order shift, resample, noise, clip.

    Examples
    --------
    >>> from gramfold.datasets import distort_audio, make_audio_clips
    >>> clips = make_audio_clips(3, random_state=0)
    >>> bool((abs(distort_audio(clips, clip=0.5)) <= 0.5 + 1e-9).all())
    True
    """
    spoilt = np.array(clips, dtype=np.float64)
    if spoilt.ndim != 2:
        raise ValueError(f"clips has {spoilt.ndim} dimensions; give a 2-D array with one clip per row.")
    level = np.sqrt(np.mean(spoilt**2, axis=1, keepdims=True))
    samples = spoilt.shape[1]
    if shift:
        late = np.zeros_like(spoilt)
        kept = max(0, samples - abs(shift))
        if shift > 0:
            late[:, samples - kept :] = spoilt[:, :kept]
        else:
            late[:, :kept] = spoilt[:, samples - kept :]
        spoilt = late
    if between("resample", resample, 0.0, 1.0, closed="high") < 1.0:
        here = np.arange(samples)
        seldom = np.arange(0.0, samples, 1.0 / resample)
        spoilt = np.stack([np.interp(here, seldom, np.interp(seldom, here, row)) for row in spoilt])
    if nonnegative("noise", noise) > 0:
        spoilt += noise * level * generator(random_state).standard_normal(spoilt.shape)
    if clip is not None:
        limit = positive("clip", clip) * level
        spoilt = np.clip(spoilt, -limit, limit)
    return np.asarray(spoilt)


def log_spectra(clips: NDArray[np.floating], *, frame: int = 256, step: int = 128) -> NDArray[np.float64]:
    """Compute the log power in each frequency band of each frame, frames along the columns.

    Parameters
    ----------
    clips : array of shape (n_clips, n_samples)
        One clip per row.
    frame : int, default=256
        Number of samples in a frame. Each frame is multiplied by a Hann window.
    step : int, default=128
        Number of samples from the start of one frame to the start of the next.

    Returns
    -------
    ndarray of shape (n_clips, n_frames · frame/2)
        Bands of the first frame, then those of the next; the band of frequency 0 is left out.

    Examples
    --------
    >>> from gramfold.datasets import log_spectra, make_audio_clips
    >>> log_spectra(make_audio_clips(3, seconds=1.0, random_state=0)).shape  # 61 frames of 128 bands
    (3, 7808)
    """
    frame, step = count("frame", frame, least=2), count("step", step)
    clips = np.asarray(clips, dtype=np.float64)
    if clips.ndim != 2 or clips.shape[1] < frame:
        raise ValueError(
            f"clips has shape {clips.shape}, but a frame has {frame} samples; give a 2-D array of longer clips, one "
            "per row."
        )
    window = np.hanning(frame)
    starts = range(0, clips.shape[1] - frame + 1, step)
    power = [np.abs(np.fft.rfft(clips[:, start : start + frame] * window)[:, 1:]) ** 2 for start in starts]
    whole = np.stack(power, axis=1)  # (n, frames, bands)
    quiet = _QUIET * whole.mean(axis=(1, 2), keepdims=True)
    return np.asarray(np.log(whole + quiet).reshape(len(clips), -1))


def _clip(samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    total = np.zeros(samples)
    n_notes = max(1, rng.poisson(_NOTES_PER_SECOND * samples / RATE))
    # the first note lasts the whole clip, so that no part of it is silent
    for number in range(n_notes + 1):
        length = samples if number == 0 else min(samples, int(RATE * rng.uniform(0.1, 0.6)))
        start = int(rng.integers(0, samples - length + 1))
        time = np.arange(length) / RATE
        pitch = np.exp(rng.uniform(np.log(_LOWEST), np.log(_HIGHEST)))
        glide = _OCTAVES * rng.uniform(-1, 1) if rng.random() < _CHIRPS else 0.0
        hertz = np.minimum(pitch * 2.0 ** (glide * time / max(time[-1], 1 / RATE)), 0.5 * RATE)
        phase = 2 * np.pi * (np.cumsum(hertz) / RATE + rng.random())
        fade = np.sin(np.pi * (np.arange(length) + 0.5) / length) ** 0.5
        for overtone, loudness in enumerate(_HARMONICS, start=1):
            heard = overtone * hertz < 0.5 * RATE  # nothing above the Nyquist frequency
            total[start : start + length] += rng.uniform(0.5, 1.0) * loudness * fade * heard * np.sin(overtone * phase)
    return total
