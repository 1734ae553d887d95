"""Columns that name rows, in every form, and measurements that look like them."""

import numpy as np
import pytest
from sklearn.base import clone

import gramfold
from gramfold.advice.ids import names_rows
from gramfold.advice.names import says_id
from gramfold.datasets import make_swiss_roll

RNG = np.random.default_rng(0)
N = 300
ROLL = make_swiss_roll(N, random_state=0).points

IDS = {
    "from 0": np.arange(N),
    "from 1": np.arange(1, N + 1),
    "shuffled": RNG.permutation(N),
    "offset": np.arange(N) + 10_000,
    "shuffled and offset": RNG.permutation(N) + 7_000_000,
    "backwards": np.arange(N)[::-1],
    "in steps of ten": 10 * np.arange(N),
    "whole floats": RNG.permutation(N).astype(np.float32),
    "negative": -RNG.permutation(N),
    "some of more": RNG.permutation(1_500)[:N],
    "account numbers": RNG.choice(9 * 10**8, N, replace=False) + 10**8,
    "time stamps": 1_600_000_000 + np.sort(RNG.choice(10**7, N, replace=False)),
}
HONEST = {
    "sorted measurements": np.sort(RNG.normal(size=N)),
    "prices in cents": np.round(100 * RNG.lognormal(3, 1, N)),
    "sorted prices in cents": np.sort(np.round(100 * RNG.lognormal(3, 1, N))),
    "ages": RNG.integers(18, 90, N),
    "even steps of a length": np.linspace(0, 1, N),
    "counts": RNG.poisson(500, N),
    "years": RNG.integers(1950, 2020, N),
    "populations": np.round(np.exp(RNG.normal(11, 2, N))),
}


@pytest.mark.parametrize("name", IDS)
def test_numbers_that_name_rows(name):
    assert names_rows(IDS[name].astype(np.float64))


@pytest.mark.parametrize("name", HONEST)
def test_measurements_stay(name):
    assert names_rows(HONEST[name].astype(np.float64)) is None


def test_no_measurement_is_mistaken_over_many_draws():
    """Whole numbers at random, of many ranges and sizes: an id once in a thousand at most."""
    drawn = np.random.default_rng(1)
    found = [
        names_rows(drawn.integers(0, high, size=n).astype(np.float64)) is not None
        for n in (8, 20, 100, 500)
        for high in (n, 2 * n, 10 * n, n * n, 50 * n * n)
        for _ in range(200)
    ]
    assert np.mean(found) <= 1e-3


def test_copies_of_rows_have_their_id_too():
    numbers = RNG.permutation(3_000)[:1_500]
    assert names_rows(np.concatenate([numbers, numbers[:20]]).astype(np.float64))
    assert names_rows(np.repeat(numbers, 5).astype(np.float64)) is None  # five visits of each: they say who


@pytest.mark.parametrize("values", [[1, 2, 3], [0, 1, 2, 3]])
def test_few_rows_are_numbered_only_in_order_from_the_start(values):
    assert names_rows(np.array(values, dtype=float))
    assert names_rows(np.array(values[::-1], dtype=float)) is None
    assert names_rows(np.array(values, dtype=float) + 20) is None


def test_names_say_so():
    assert all(map(says_id, ["id", "ID", "patient_id", "Unnamed: 0", "index", "customerId", "row"]))
    assert not any(map(says_id, ["width", "acid", "liquid", "idle", "price", 3, None, "humid"]))
    sparse = np.array([3.0, 900.0, 17.0, 40.0])
    assert names_rows(sparse, "patient_id")
    assert names_rows(sparse, "price") is None


@pytest.mark.parametrize("place", [0, 3])
@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("framed", [False, True])
def test_an_id_never_becomes_a_map(name, place, framed, monkeypatch):
    monkeypatch.setattr("gramfold.advice.trial.ROWS", 40)  # too few for a trial, which is not what is tested
    table = np.insert(ROLL, place, IDS[name], axis=1)
    key = place
    if framed:
        pandas = pytest.importorskip("pandas")
        names = ["x", "y", "z"]
        names.insert(place, "code")  # which does not say so
        table, key = pandas.DataFrame(table, columns=names), "code"
        table["code"] = IDS[name]
    advice = gramfold.advise(table)
    assert advice.left_out.value == (key,)
    after = clone(advice.estimator[1:])  # all but the step that leaves columns out
    np.testing.assert_array_equal(advice.estimator.fit_transform(table), after.fit_transform(ROLL))


@pytest.mark.parametrize("texts", [[f"u{i:04d}" for i in range(N)], [str(i) + "-x" for i in RNG.permutation(N)]])
def test_texts_that_name_rows(texts, monkeypatch):
    monkeypatch.setattr("gramfold.advice.trial.ROWS", 40)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROLL, columns=["x", "y", "z"])
    frame.insert(1, "who", texts)
    assert gramfold.advise(frame).left_out.value == ("who",)
    assert gramfold.advise(frame.to_numpy()).left_out.value == (1,)
