"""Sound made to order: what is in it, and what the distortions do."""

import numpy as np
import pytest

from gramfold.datasets import distort_audio, log_spectra, make_audio_clips
from gramfold.datasets.audio import RATE


def tone(hertz: float, seconds: float = 1.0) -> np.ndarray:
    return np.sqrt(2) * np.sin(2 * np.pi * hertz * np.arange(int(RATE * seconds)) / RATE)[None]


def test_clips_have_power_one_and_are_never_silent() -> None:
    clips = make_audio_clips(5, seconds=1.0, random_state=0)
    np.testing.assert_allclose(np.mean(clips**2, axis=1), 1.0)
    tenths = clips.reshape(5, 10, 800)
    assert np.mean(tenths**2, axis=2).min() > 1e-3


def test_clips_are_made_of_few_frequencies() -> None:
    clips = make_audio_clips(5, seconds=1.0, random_state=1)
    power = np.sort(np.abs(np.fft.rfft(clips, axis=1)) ** 2, axis=1)[:, ::-1]
    share = power[:, :400].sum(axis=1) / power.sum(axis=1)  # a tenth of the 4001 frequencies
    assert share.min() > 0.6  # a chirp spreads
    noise = np.sort(np.abs(np.fft.rfft(np.random.default_rng(0).standard_normal(8000))) ** 2)[::-1]
    assert noise[:400].sum() / noise.sum() < 0.4


def test_no_two_clips_are_alike_and_seeds_repeat() -> None:
    first, second = make_audio_clips(4, random_state=3), make_audio_clips(4, random_state=3)
    np.testing.assert_array_equal(first, second)
    between = np.corrcoef(log_spectra(first))
    assert np.abs(between - np.eye(4)).max() < 0.9


def test_noise_has_its_level() -> None:
    clips = 3.0 * make_audio_clips(4, random_state=0)
    added = distort_audio(clips, noise=0.5, random_state=0) - clips
    np.testing.assert_allclose(added.std(axis=1), 1.5, rtol=0.02)


def test_a_shift_moves_what_is_there() -> None:
    clips = make_audio_clips(2, random_state=0)
    late, early = distort_audio(clips, shift=100), distort_audio(clips, shift=-100)
    np.testing.assert_array_equal(late[:, 100:], clips[:, :-100])
    np.testing.assert_array_equal(early[:, :-100], clips[:, 100:])
    assert (late[:, :100] == 0).all()
    assert (early[:, -100:] == 0).all()
    assert (distort_audio(clips, shift=10**6) == 0).all()


def test_resampling_keeps_what_is_low_and_folds_what_is_high() -> None:
    low, high = tone(100), tone(3000)
    assert np.corrcoef(distort_audio(low, resample=0.5), low)[0, 1] > 0.99
    spectrum = np.abs(np.fft.rfft(distort_audio(high, resample=0.5)[0]))
    assert spectrum.argmax() == 1000  # 4000 samples a second cannot tell 3000 Hz from 1000
    np.testing.assert_array_equal(distort_audio(low, resample=1.0), low)


def test_clipping_cuts_off_and_nothing_else() -> None:
    clips = make_audio_clips(2, random_state=0)
    cut = distort_audio(clips, clip=0.7)
    np.testing.assert_allclose(cut, np.clip(clips, -0.7, 0.7))


def test_spectra_show_a_tone_in_its_band_in_every_frame() -> None:
    spectra = log_spectra(tone(1000), frame=256, step=128).reshape(-1, 128)
    assert spectra.shape == (61, 128)
    # bands are 8000/256 = 31.25 Hz apart and the first of them is not 0 Hz
    assert (spectra.argmax(axis=1) == 1000 / 31.25 - 1).all()


def test_spectra_do_not_depend_on_loudness_but_for_a_constant() -> None:
    clips = make_audio_clips(2, random_state=0)
    np.testing.assert_allclose(log_spectra(10 * clips), log_spectra(clips) + np.log(100), atol=1e-9)


def test_bad_sound_gets_its_sentence() -> None:
    clips = make_audio_clips(2, seconds=0.1, random_state=0)
    for act, sentence in (
        (lambda: make_audio_clips(0), "n_clips=0"),
        (lambda: make_audio_clips(1, seconds=-1.0), "seconds=-1.0"),
        (lambda: distort_audio(clips[0]), "1 dimensions; give a 2-D array with one clip per row"),
        (lambda: distort_audio(clips, resample=1.5), "resample=1.5"),
        (lambda: distort_audio(clips, noise=-1.0), "noise=-1.0"),
        (lambda: distort_audio(clips, clip=0.0), "clip=0.0"),
        (lambda: log_spectra(clips, frame=1000), "a frame has 1000 samples; give a 2-D array of longer clips"),
    ):
        with pytest.raises(ValueError, match=sentence):
            act()
