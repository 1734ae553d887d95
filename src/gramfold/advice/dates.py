"""Columns that hold dates: as text, as numbers such as 20190103, as seconds since 1970, or as days of a spreadsheet.

    text                    2019-01-03, 1/3/2019, 3.1.2019, 03 Jan 2019, January 3, 2019, …; a time of day may follow
    yyyymmdd, yyyymm        every number is a day, or a month, of the calendar: one random number in 25, or in 8, is
    seconds since 1970      1985 to 2039, also in thousandths, …, and the name says so, or they rise from row to row and
                            lie in the years 2000 to 2033, at most 12 apart
    days of a spreadsheet   1954 to 2064 (20,000 to 60,000), and the name says so

Incomes and distances have such sizes too: where only the size (seconds) or the size and the order (days) speak for a
date, that is told and the column stays.
"""

import re
from typing import Any

import numpy as np

from gramfold.advice.names import words_of
from gramfold.types import Floats

_FEWEST = 8  # rows of which it is no chance that all are days of the calendar
_YEARS = (1900, 2100)
_SECONDS = (4.7e8, 2.2e9)  # since 1970: 1985 to 2039
_RISING, _APART = (9.4e8, 2.0e9), 4e8  # 2000 to 2033; 12 years
_PARTS = (1.0, 1e3, 1e6, 1e9)  # of a second
_DAYS = (20_000.0, 60_000.0)  # of a spreadsheet: 1954 to 2064
_DIFFERENT = 0.9  # distinct values per row of a clock without a name

_SAY_TIME = {
    *("date", "dates", "datetime", "datum", "day", "time", "timestamp", "ts", "epoch", "unix", "unixtime", "dob"),
    *("birthdate", "birthday", "created", "updated", "modified", "visited", "admitted", "discharged"),
}
_NO_DURATION = "whose differences are no durations (days since the first would be a number)"

_CLOCK = r"([ T,]+\d{1,2}[:.]\d{2}.*)?$"
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TEXTS = (
    re.compile(r"^(?P<a>\d{1,2})(?P<sep>[./-])(?P<b>\d{1,2})(?P=sep)\d{4}" + _CLOCK),
    re.compile(r"^(?P<a>\d{1,2})/(?P<b>\d{1,2})/\d{2}" + _CLOCK),
)
_NAMED_TEXTS = re.compile(
    rf"^([a-z]{{2,9}}\.?,? )?(\d{{1,2}}\.?[ /-]?{_MONTH}[ ,/-]+\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}}|{_MONTH} \d{{4}})"
    + _CLOCK,
    re.IGNORECASE,
)


def is_date(text: str) -> bool:
    """Whether a text is a date in one of the usual forms."""
    text = text.strip()
    for form in _TEXTS:
        found = form.match(text)
        if found:
            one, other = sorted((int(found["a"]), int(found["b"])))
            return 1 <= one <= 12 and other <= 31
    if _NAMED_TEXTS.match(text):
        return True
    if not re.match(r"^\d{4}[-/]\d", text):
        return False
    try:
        np.datetime64(text.replace("/", "-"))
    except ValueError:
        return False
    return True


def numbers_are_dates(values: Floats) -> str | None:
    """Why a column of numbers (n,), without gaps, holds days or months of the calendar; None where it may measure."""
    if len(values) < _FEWEST:
        return None
    return f"it holds dates as numbers (such as {values[0]:.0f}), {_NO_DURATION}" if _calendar(values) else None


def numbers_are_clock(values: Floats, name: Any = None) -> str | None:
    """Why a column of numbers (n,), without gaps, holds seconds or days since a date; None where it may measure."""
    if len(values) < _FEWEST:
        return None
    rising = any(_within(values, _RISING, part) and np.ptp(values) <= _APART * part for part in _PARTS)
    if _seconds(values) and (_says_time(name) or (rising and (np.diff(values) >= 0).all())):
        return "it holds seconds since 1970, or parts of them: a clock, which is no measurement of the rows"
    if _within(values, _DAYS) and _says_time(name):
        return "it holds dates as days of a spreadsheet: a clock, which is no measurement of the rows"
    return None


def may_be_dates(values: Floats) -> str | None:
    """What to look at in a column of numbers that has the size of dates, and may be something else."""
    if len(values) < _FEWEST or len(np.unique(values)) < _DIFFERENT * len(values):
        return None
    if _seconds(values):
        return "its values have the size of seconds since 1970: leave it out if they are dates"
    if _within(values, _DAYS) and _in_order(values):
        return "its values have the size and order of dates as days of a spreadsheet: leave it out if they are dates"
    return None


def _says_time(name: Any) -> bool:
    return not _SAY_TIME.isdisjoint(words_of(name))


def _calendar(values: Floats) -> bool:
    """Whether all are days (yyyymmdd) or months (yyyymm), and not all of one month or year."""
    if not np.array_equal(values, np.floor(values)) or (values < _YEARS[0] * 100).any():
        return False
    if (values >= _YEARS[0] * 10_000).all() and (values < (_YEARS[1] + 1) * 10_000).all():
        months, days = values // 100, values % 100
    elif (values < (_YEARS[1] + 1) * 100).all():
        months, days = values, np.ones(len(values))
    else:
        return False
    if len(np.unique(values)) < 3 or not ((months % 100 >= 1) & (months % 100 <= 12)).all():
        return False
    first = ((months // 100 - 1970) * 12 + months % 100 - 1).astype(np.int64).astype("datetime64[M]")
    longest = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.float64)
    return bool(((days >= 1) & (days <= longest)).all())


def _within(values: Floats, limits: tuple[float, float], part: float = 1.0) -> bool:
    return bool(values.min() >= limits[0] * part and values.max() <= limits[1] * part)


def _seconds(values: Floats) -> bool:
    return any(_within(values, _SECONDS, part) for part in _PARTS)


def _in_order(values: Floats) -> bool:
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())
