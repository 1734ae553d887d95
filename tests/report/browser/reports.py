"""Reports that are looked at in a browser: small, and between them every kind of column and map."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from gramfold import PCA, Isomap
from gramfold.datasets import make_swiss_roll
from gramfold.report import write_report

N = 300

#: Each would do something if any part of a page took it for more than words.
HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<!--<script>",
    "]]><svg onload=window.hacked=1>",
    '"><b onmouseover="window.hacked=1">',
    '=HYPERLINK("http://example.invalid","a")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\u202eהפוך\u2066<i>",
    "{{title}}${window.hacked=1}\\u003c",
    "__proto__",
    "a\nb\tc",
    "&lt;script&gt;&amp;",
)


@dataclass(frozen=True, eq=False)
class Report:
    """A page and what it is about."""

    path: Path
    model: Any
    X: Any
    Y: np.ndarray
    table: pd.DataFrame


def roll(folder: Path) -> Report:
    """A sheet of 300 rows with columns of every kind, some values missing."""
    sample = make_swiss_roll(N, random_state=3)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(sample.points, columns=["breadth", "height", "depth"])
    model = Isomap(n_components=2, n_neighbors=8).fit(X)
    along = sample.truth[:, 0]
    kinds = np.array(["amber", "birch", "cedar", "dune", "ember"])[np.minimum(along // 19, 4).astype(int)]
    table = X.assign(
        along=along,
        gaps=np.where(rng.uniform(size=N) < 0.1, np.nan, rng.normal(size=N)),
        kind=pd.Series(kinds).where(rng.uniform(size=N) > 0.05, None),
        many=[f"level {k}" for k in (np.arange(N) * 7) % 40],
        day=pd.Timestamp("2024-01-01") + pd.to_timedelta((along * 4).astype(int), unit="D"),
        remark=[f"seen {'twice' if i % 3 else 'once'} at gate {i % 17}, {i}" for i in range(N)],
        name=[f"row “{i:03d}” ü" for i in range(N)],
    )
    path = write_report(folder / "roll of rows.html", model, table=table, color="kind", label="name", stability=True)
    return Report(path, model, X, model.embedding_, table)


def solid(folder: Path) -> Report:
    """Three coordinates, arrows for the columns, no table but the rows themselves."""
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(N, 3)) * [3, 2, 1]
    X = pd.DataFrame(hidden @ rng.normal(size=(3, 5)), columns=["first", "second", "third", "fourth", "fifth"])
    model = PCA(n_components=3).fit(X)
    path = model.report(folder / "solid.html", color="first", title="Three coordinates")
    return Report(path, model, X, model.embedding_, X)


def faces(folder: Path) -> Report:
    """Rows that are pictures of 8 × 8 pixels."""
    X, kinds = (part[:N] for part in load_digits(return_X_y=True))
    model = Isomap(n_components=2, n_neighbors=12).fit(X)
    table = pd.DataFrame({"digit": pd.Categorical(kinds.astype(str))})
    path = model.report(folder / "faces.html", table=table, color="digit", pictures=(8, 8), title="Digits")
    return Report(path, model, X, model.embedding_, table)


def hostile(folder: Path) -> Report:
    """Every text that a user can give tries to be more than text."""
    rng = np.random.default_rng(2)
    n = 120
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list(HOSTILE[:3]))
    model = PCA(n_components=2).fit(X)
    bad = [HOSTILE[i % len(HOSTILE)] for i in range(n)]
    table = X.assign(
        **{HOSTILE[3]: bad, HOSTILE[5]: [f"{i} {text}" for i, text in enumerate(bad)], HOSTILE[4]: pd.Categorical(bad)},
        **{HOSTILE[7]: rng.normal(size=n), "__proto__": rng.normal(size=n)},
    )
    path = model.report(
        folder / "hostile.html", table=table, color=HOSTILE[4], label=HOSTILE[5], title=HOSTILE[0] + HOSTILE[1]
    )
    return Report(path, model, X, model.embedding_, table)


def thinned(folder: Path) -> Report:
    """2,000 rows of which 500 are drawn, the map made by others."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2000, 3))
    table = pd.DataFrame({"number": np.arange(2000), "size": rng.normal(size=2000)})
    path = write_report(folder / "thinned.html", X, X[:, :2], table=table, color="size", most=500, dimension=False)
    return Report(path, None, X, X[:, :2], table)


ALL = {made.__name__: made for made in (roll, solid, faces, hostile, thinned)}
