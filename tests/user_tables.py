"""Five tables as people have them, and rows of next week for each: what docs/first_maps.md works on."""

import gzip
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, load_wine

NEW = 12  # rows of next week


def _split(table: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of today and of next week."""
    new = np.zeros(len(table), dtype=bool)
    new[np.random.default_rng(seed).choice(len(table), NEW, replace=False)] = True
    return table[~new], table[new]


def flowers(folder: Path) -> None:
    """Iris: an id, four measurements, the species."""
    iris = load_iris()
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in iris.feature_names]
    table = pd.DataFrame(iris.data, columns=names)
    table.insert(0, "id", [f"F{row:03d}" for row in range(len(table))])
    table["species"] = iris.target_names[iris.target]
    today, later = _split(table, 0)
    today.to_csv(folder / "flowers.csv", index=False)
    later.to_csv(folder / "new_flowers.csv", index=False)


def sensors(folder: Path) -> None:
    """A machine's log: times, five sensors of different units that follow its load and the weather, gaps, its state."""
    rng = np.random.default_rng(1)
    n = 600
    load, weather = rng.random(n), rng.normal(size=n)
    table = pd.DataFrame(
        {
            "time": pd.date_range("2024-03-01", periods=n, freq="10min"),
            "temperature": 20 + 35 * load + 4 * weather,
            "pressure": 101_300 + 900 * weather + 400 * np.sin(3 * load),
            "rpm": 800 + 2200 * load**0.7,
            "vibration": 0.002 + 0.03 * load**3,
            "current": 2 + 9 * load + 0.3 * weather,
        }
    )
    table.iloc[:, 1:] *= 1 + 0.01 * rng.normal(size=(n, 5))
    table["state"] = np.where(load > 0.75, "strained", np.where(load > 0.3, "working", "idle"))
    table.iloc[:, 1:6] = table.iloc[:, 1:6].mask(rng.random((n, 5)) < 0.03)
    today, later = table[:-NEW], table[-NEW:]
    today.to_csv(folder / "sensors.csv", index=False, float_format="%.5g")
    later.to_csv(folder / "new_sensors.csv", index=False, float_format="%.5g")


def stations(folder: Path) -> None:
    """Weather stations as a spreadsheet of another country saves them: semicolons, decimal commas, Latin-1."""
    rng = np.random.default_rng(2)
    n = 240
    height, sea = rng.gamma(2.0, 220.0, n), rng.random(n)
    table = pd.DataFrame(
        {
            "Ort": [f"{stem} {number}" for number, stem in enumerate(rng.choice(["Köln", "Füssen", "Görlitz"], n))],
            "Höhe": height.round(1),
            "Temperatur": (11 - 0.0065 * height + 1.5 * sea + 0.2 * rng.normal(size=n)).round(2),
            "Niederschlag": (550 + 0.6 * height + 250 * sea + 15 * rng.normal(size=n)).round(1),
            "Wind": (2 + 3.5 * sea + 0.001 * height + 0.1 * rng.normal(size=n)).round(2),
            "Region": np.where(sea > 0.6, "Küste", np.where(height > 600, "Gebirge", "Flachland")),
        }
    )
    for name, rows in zip(("stationen.csv", "neue_stationen.csv"), _split(table, 2), strict=True):
        rows.to_csv(folder / name, index=False, sep=";", decimal=",", encoding="latin-1")


def wines(folder: Path) -> None:
    """Wine, packed: thirteen measurements and the cultivar."""
    wine = load_wine()
    table = pd.DataFrame(wine.data, columns=wine.feature_names).assign(cultivar=np.array(list("ABC"))[wine.target])
    for name, rows in zip(("wines.csv.gz", "new_wines.csv.gz"), _split(table, 3), strict=True):
        with gzip.open(folder / name, "wt") as stream:
            rows.to_csv(stream, index=False)


def cells(folder: Path) -> None:
    """Cells as anndata saves them: sparse counts of 200 genes in 3,000 cells on a branching path, and their types."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import anndata

    rng = np.random.default_rng(4)
    n, genes = 3_000 + NEW, 200
    time, branch = rng.random(n), rng.integers(0, 2, n)
    start, up, left, right = rng.gamma(0.3, 4.0, (4, genes))  # few genes are many of the counts
    first, second = np.minimum(time, 0.5)[:, None], np.maximum(time - 0.5, 0)[:, None]
    mean = start * (0.5 - first) + up * first + second * np.where(branch[:, None] == 0, left, right) * 2 + 0.02
    depth = rng.lognormal(0.0, 0.3, (n, 1))
    counts = rng.poisson(6 * depth * mean).astype(np.float32)
    kinds = np.where(time < 0.35, "stem", np.where(time < 0.6, "progenitor", np.where(branch == 0, "neuron", "glia")))
    types, codes = np.unique(kinds, return_inverse=True)
    # as objects: anndata does not write pandas' own strings
    named = pd.Categorical.from_codes(codes, categories=pd.Index(types, dtype=object))
    obs = pd.DataFrame({"type": named}, index=pd.Index([f"cell{row:04d}" for row in range(n)], dtype=object))
    var = pd.DataFrame(index=pd.Index([f"gene{column:03d}" for column in range(genes)], dtype=object))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata's own, of a pandas newer than it
        whole = anndata.AnnData(csr_matrix(counts), obs=obs, var=var)
        whole[:-NEW].write_h5ad(folder / "cells.h5ad")
        whole[-NEW:].write_h5ad(folder / "new_cells.h5ad")
