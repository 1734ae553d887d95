"""Columns as users have them: dates in many forms, numbers as text, codes for missing values, classes, rounding."""

import numpy as np
import pytest

import gramfold
from gramfold.advice.dates import is_date
from gramfold.datasets import make_swiss_roll

pandas = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
N = 300
ROLL = make_swiss_roll(N, random_state=0).points
DAYS = pandas.Series(pandas.date_range("2015-01-03", periods=2_000)).sample(N, random_state=0)
SECONDS = (DAYS - pandas.Timestamp("1970-01-01")).dt.total_seconds().to_numpy() + RNG.random(N)
EXCEL = (DAYS - pandas.Timestamp("1899-12-30")).dt.days.to_numpy()
CLASS = "may be a class"
AS_TEXT = "it holds numbers written as text"


@pytest.fixture(autouse=True)
def few_rows_in_trials(monkeypatch):
    monkeypatch.setattr("gramfold.advice.trial.ROWS", 40)  # too few for a trial, which is not what is tested


def advised(name, values):
    table = pandas.DataFrame(ROLL, columns=["a", "b", "c"])
    table.insert(1, name, values)
    advice = gramfold.advise(table)
    places = advice.estimator.fit_transform(table)
    assert np.isfinite(places).all()
    return advice


def holed(values):
    return np.where(np.isin(np.arange(N), [7, 90]), np.nan, values)


LEFT_OUT = {
    "PatientID": ("PatientID", RNG.choice(40_000, N, replace=False), "names rows"),
    "patient": ("patient", RNG.choice(40_000, N, replace=False), "names rows"),
    "mrn": ("mrn", RNG.choice(40_000, N, replace=False), "names rows"),
    "patient no": ("Patient No", RNG.choice(40_000, N, replace=False), "names rows"),
    "two rows of each": ("subject_id", np.repeat(RNG.choice(9_000, N // 2, replace=False), 2), "2.0 rows of each"),
    "two rows of each text": ("subject_id", [f"S{i // 2:03d}" for i in range(N)], "2.0 rows of each"),
    "gaps": ("code", holed(np.arange(N)), "and gaps: a row number"),
    "gaps, in another order": ("code", holed(RNG.permutation(N)), "and gaps: a row number"),
    "yyyymmdd": ("x", DAYS.dt.strftime("%Y%m%d").astype(int).to_numpy(), "dates as numbers"),
    "yyyymm": ("x", DAYS.dt.strftime("%Y%m").astype(int).to_numpy(), "dates as numbers"),
    "yyyymmdd with gaps": ("x", holed(DAYS.dt.strftime("%Y%m%d").astype(float).to_numpy()), "dates as numbers"),
    "seconds in order": ("x", np.sort(SECONDS), "seconds since 1970"),
    "seconds by name": ("created_at", SECONDS, "seconds since 1970"),
    "milliseconds by name": ("timestamp", 1e3 * SECONDS, "seconds since 1970"),
    "days by name": ("VisitDate", EXCEL + RNG.random(N), "days of a spreadsheet"),
    "rounding": ("temp_K", 300 + 1e-9 * RNG.normal(size=N), "it is 300 in all rows, up to rounding"),
    "rounding of float32": ("temp_K", np.float32(0.1) + RNG.choice([0, 1e-8], N).astype(np.float32), "up to rounding"),
    "numbers as text": ("x", [f"{one:.3f}" for one in ROLL[:, 0]], AS_TEXT),
    "numbers with a comma": ("x", [f"{one:.3f}".replace(".", ",") for one in ROLL[:, 0]], 'replace(",", ".")'),
    "few numbers as text": ("x", RNG.choice(["9.8", "10.1", "7.5"], N), AS_TEXT),
    "few numbers with a comma": ("x", RNG.choice(["9,8", "10,1", "7,5"], N), 'replace(",", ".")'),
    "a class as text": ("what", RNG.choice(["a", "b", "c"], N), "it holds text"),
    "row numbers as text": ("x", [str(one) for one in RNG.permutation(N)], "another text in each row"),
    **{
        form: ("x", DAYS.dt.strftime(form).to_numpy(dtype=object), "dates as text")
        for form in ("%d %b %Y", "%m/%d/%Y", "%d.%m.%Y", "%B %d, %Y", "%d-%b-%y", "%a %d %b %Y %H:%M", "%Y/%m/%d")
    },
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_columns_that_measure_nothing_are_left_out(name):
    column, values, words = LEFT_OUT[name]
    advice = advised(column, values)
    assert advice.left_out.value == (column,)
    assert words in advice.left_out.reason
    assert not any(f"'{column}'" in note for note in advice.notes)


NOTED = {
    "seconds without a name": ("x", SECONDS, "the size of seconds since 1970"),
    "days in order": ("x", np.sort(EXCEL + RNG.random(N)), "days of a spreadsheet"),
    "many rows of each": ("subject_id", np.arange(N) % 20, "its name says that its numbers name something"),
    "a code": ("x", np.where(RNG.random(N) < 0.05, -999, RNG.normal(20, 5, N)), "values -999, repeated and far below"),
    "a code above": ("x", np.where(RNG.random(N) < 0.05, 999, RNG.normal(20, 5, N)), "values 999, repeated and far"),
    "two codes": ("x", np.where(np.arange(N) % 9, RNG.normal(20, 5, N), RNG.choice([-999, -998], N)), "-999 and -998"),
    "a class as numbers": ("target", RNG.integers(0, 3, N), CLASS),
    "a class by its last word": ("tumorType", RNG.integers(0, 3, N), CLASS),
    "a class of yes and no": ("label", RNG.random(N) < 0.5, CLASS),
}


@pytest.mark.parametrize("name", NOTED)
def test_what_only_the_user_knows_is_noted(name):
    column, values, words = NOTED[name]
    advice = advised(column, values)
    assert advice.left_out.value == ()
    assert [note for note in advice.notes if note.startswith(f"column '{column}': ") and words in note]


HONEST = {
    "incomes": ("income", RNG.uniform(30_000, 60_000, N)),
    "sorted incomes": ("income", np.sort(RNG.lognormal(10.5, 0.6, N))),
    "revenues, the largest first": ("revenue", np.sort(RNG.lognormal(20, 1.5, N))[::-1]),
    "eight digits": ("x", np.round(RNG.normal(2.0e7, 1e6, N))),
    "inner diameters": ("diameter", RNG.integers(10, 50, N)),
    "small differences": ("x", 300 + 1e-6 * RNG.normal(size=N)),
    "outliers": ("x", np.r_[RNG.normal(size=N - 3), -400, -410, -999]),
    "two groups": ("x", np.r_[RNG.normal(size=N // 2), RNG.normal(1_000, 1, N // 2)]),
    "grades": ("grade", RNG.integers(1, 6, N)),
    "half of them zero": ("x", np.where(RNG.random(N) < 0.4, 0, RNG.exponential(size=N))),
}


@pytest.mark.parametrize("name", HONEST)
def test_nothing_is_said_of_measurements(name):
    column, values = HONEST[name]
    advice = advised(column, values)
    assert advice.left_out.value == ()
    assert not any(f"'{column}'" in note for note in advice.notes)


def test_classes_of_few_rows_are_noted():
    table = pandas.DataFrame({"a": ROLL[:20, 0], "b": ROLL[:20, 1], "species": np.arange(20) % 3})
    assert any(note.startswith("column 'species': may be a class") for note in gramfold.advise(table).notes)


def test_columns_of_one_doubt_share_a_note():
    table = np.where(RNG.random((N, 12)) < 0.05, -999, RNG.normal(size=(N, 12)))
    (note,) = (note for note in gramfold.advise(table).notes if "missing" in note)
    assert note.startswith("columns 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11: its values -999")


@pytest.mark.parametrize(
    "text", ["1.3.19", "12345678", "9.8", "may be", "March", "31/31/2019", "0/5/2019", "12-13", "2019-77"]
)
def test_what_is_no_date(text):
    assert not is_date(text)
