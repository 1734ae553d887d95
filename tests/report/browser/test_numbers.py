"""The numbers that a reader sees on the page are those of Python, asked anew."""

import hashlib

import numpy as np
import pytest
from sklearn.decomposition import PCA

from gramfold.diagnostics import Judged, dimension, faults, measures, stability, verdict
from tests.report.browser.visit import Visit, numbers_in

READ = """() => [...document.querySelectorAll("data[data-name]")].map((element) => [
  element.dataset.name, element.dataset.value, element.textContent, element.getClientRects().length > 0])"""


@pytest.fixture(scope="module")
def roll(browser, report):
    return report("roll")


@pytest.fixture(scope="module")
def page(browser, roll):
    """Open for all tests of this file: they only read."""
    with Visit(browser, roll.path) as seen:
        yield seen
        assert seen.complaints == []


@pytest.fixture(scope="module")
def read(page):
    """Name, exact value, words and whether they are seen, of every number on the page."""
    return page.value(READ)


def same(read, wanted):
    """Every one of these is on the page, to the last bit."""
    found = {name: value for name, value, *_ in read}
    missing = wanted.keys() - found.keys()
    assert not missing
    for name, value in wanted.items():
        assert float(found[name]) == pytest.approx(float(value), rel=1e-12, abs=1e-12), name


def test_what_is_read_is_the_exact_number_rounded(read):
    assert len(read) > 80
    for name, value, words, _ in read:
        if name in ("made.digest", "made.seed"):
            assert value.startswith(words)
            continue
        exact, shown = float(value), numbers_in(words.removeprefix("<").removeprefix(">"))
        if np.isnan(exact):
            assert not shown, name
            continue
        assert len(shown) == 1, (name, words)
        scale = 100 if "%" in words else 1
        digits = len(words.split(".")[1].rstrip("% s").split("e")[0]) if "." in words else 0
        size = 10.0 ** (int(words.split("e")[1].replace("−", "-")) if "e" in words else 0)
        unit = size * 10.0**-digits
        if digits == 0 and abs(shown[0]) >= 1000:  # four digits of a large number
            unit = 10.0 ** (np.floor(np.log10(abs(shown[0]))) - 3)
        assert abs(scale * exact - shown[0]) <= 0.51 * unit, (name, value, words)


def test_all_numbers_are_seen_but_those_that_are_folded_away(read):
    hidden = {name for name, _, _, seen in read if not seen}
    assert all(name.startswith(("spectrum.", "verdict.")) for name in hidden), hidden


def test_the_verdict_is_that_of_python(page, roll, read):
    wanted = verdict(roll.model)
    same(read, {f"verdict.{j}": one.number for j, one in enumerate(wanted.sentences) if np.isfinite(one.number)})
    words = page.text("#verdict")
    for one in wanted.sentences:
        assert " ".join(one.text.split()) in words
    assert wanted.kind in words
    for name in wanted.faults:
        assert name in words


def test_the_faults_are_those_of_python(read, roll):
    found = faults(roll.model)
    wanted = {"faults.kept": found.kept.value}
    for name in ("glued", "torn", "strained", "collapsed"):
        fault = getattr(found, name)
        wanted |= {f"faults.{name}.total": fault.total, f"faults.{name}.threshold": fault.threshold}
        wanted |= {f"faults.{name}.plain": fault.plain}
        if name != "collapsed":
            wanted |= {f"faults.{name}.chance": fault.chance}
    same(read, wanted)


def test_the_measures_are_those_of_python_for_the_map_and_for_pca(read, roll):
    rows = roll.X.to_numpy()
    judged = Judged(roll.model)
    of = {"measures": measures(judged), "pca": measures(judged.with_map(PCA(2).fit_transform(rows)))}
    for who, found in of.items():
        wanted = {f"{who}.{name}": float(one.value) for name, one in found.items()}
        low, high = found["triplet_accuracy"].interval
        same(read, wanted | {f"{who}.triplet_accuracy.low": low, f"{who}.triplet_accuracy.high": high})
    chance = {name: float(value) for name, value, *_ in read if name.startswith("chance.")}
    assert chance.keys() == {f"chance.{name}" for name in of["pca"]}
    assert abs(chance["chance.lcmc"]) < 0.03
    assert chance["chance.trustworthiness"] == pytest.approx(0.5, abs=0.03)


def test_the_dimension_spectrum_and_stability_are_those_of_python(read, roll):
    found = dimension(roll.model)
    wanted = {"dimension.value": found.value}
    for name in ("two_nn", "maximum_likelihood", "correlation_dimension", "local_pca", "spectral_gap"):
        one = getattr(found, name)
        wanted |= {f"dimension.{name}": one.value}
        wanted |= {f"dimension.{name}.low": one.interval[0], f"dimension.{name}.high": one.interval[1]}
    moved = stability(roll.model)
    wanted |= {"stability.value": moved.value, "stability.fitted": moved.fitted, "stability.new": moved.new}
    wanted |= {"stability.low": moved.interval[0], "stability.high": moved.interval[1]}
    wanted |= {f"spectrum.{j + 1}": value for j, value in enumerate(roll.model.leading_eigenvalues(2))}
    same(read, wanted)


def test_the_digest_is_of_the_rows(read, roll):
    from gramfold.report.provenance import digest_of

    found = {name: value for name, value, *_ in read}["made.digest"]
    assert found == digest_of(roll.X.to_numpy())
    assert len(found) == len(hashlib.sha256().hexdigest())
    assert found != digest_of(roll.X.to_numpy()[::-1])
