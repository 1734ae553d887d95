"""Model files that were made to do harm, with the digests that they should have: refused, and nothing crashes."""

import io
import json
import os
import pickle
import struct
import subprocess
import sys
import typing
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256
from inspect import isabstract
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import gramfold
from gramfold.errors import InputError, ModelFileError
from gramfold.io.model_file.parts import part_classes
from gramfold.io.model_file.soundness import TABLE
from tests.contract.checks import sheet
from tests.io.model_file.forging import Forgery, changed_arrays, changed_trees
from tests.io.model_file.models import VARIANTS, fitted, frame, mixed

LOADS: list[Callable[[Path], Any]] = [
    gramfold.load,
    gramfold.model_info,
    lambda path: gramfold.load(path, mmap=True),
]


@pytest.fixture
def forge(tmp_path: Path) -> Callable[[Any], Forgery]:
    """What is in the file of a model, or of the variant of this name."""

    def forgery(model: Any) -> Forgery:
        gramfold.save(fitted(model) if isinstance(model, str) else model, tmp_path / "real.gramfold")
        return Forgery.of(tmp_path / "real.gramfold")

    return forgery


def require_refused(forged: Forgery, folder: Path, sentence: str = "", loads: Any = LOADS) -> None:
    path = forged.write(folder / "forged.gramfold")
    for load in loads:
        with pytest.raises(ModelFileError, match=rf"^'.*holds no model that this gramfold can read .*{sentence}"):
            load(path)


def test_a_forgery_without_a_change_is_the_model(forge: Any, tmp_path: Path) -> None:
    path = forge("Isomap").write(tmp_path / "forged.gramfold")
    rows = sheet(20, seed=3)
    assert np.array_equal(gramfold.load(path).transform(rows), fitted("Isomap").transform(rows))


# --- indices


@pytest.mark.parametrize("wrong", [-2, 1 << 20, 1 << 60])
@pytest.mark.parametrize(
    ("variant", "part", "field"),
    [
        ("Isomap", "Neighbors", "indices"),
        ("Isomap", "Neighbors", "indptr"),
        ("Isomap", "Graph", "vertices"),
        ("Isomap", "Graph", "rows"),
        ("Isomap", "Collapse", "vertex"),
        ("Isomap", "Collapse", "first"),
        ("Isomap", "Components", "component"),
        ("Isomap", "Components", "number"),
        ("Isomap", "GramKernel", "rows"),
        ("Isomap, landmarks", "GramKernel", "landmarks"),
        ("Isomap of groups, apart", "Components", "number"),
        ("Isomap of groups, bridged", "Graph", "bridges"),
        ("Isomap, mixed", "MixedColumns", "owners"),
        ("LLE", "PenaltyKernel", "rows"),
        ("KernelPCA, landmarks", "NystromPlacement", "landmarks"),
        ("LandmarkMDS of distances", "DistancePlacement", "carriers"),
        ("Isomap of distances", "DistanceIndex", "first"),
        ("SpectralClustering, k-means", "Assignment", "order"),
        ("KernelEigenmaps", "Vertices", "order"),
    ],
)
def test_an_index_beyond_the_end(variant: str, part: str, field: str, wrong: int, forge: Any, tmp_path: Path) -> None:
    forged = forge(variant)
    number = forged.array(part, field)
    array = forged.arrays[number].astype(np.int64)
    assert array.size
    array.flat[-1] = wrong
    forged.arrays[number] = array
    require_refused(forged, tmp_path, "does not fit the rest of the model", LOADS[:2])


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("wrong", [-1, 1 << 20, 1 << 60])
def test_indices_of_a_sparse_matrix(place: int, wrong: int, forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    held = forged.part("Graph")["lengths"]["sparse"]
    ((_, number),) = held[2 + place].items()
    array = forged.arrays[number].astype(np.float64 if place == 0 else np.int64)
    array[-1 if place != 2 else 5] = -1.0 if place == 0 else wrong
    forged.arrays[number] = array
    require_refused(forged, tmp_path, "", LOADS[:2])


@pytest.mark.parametrize(
    "shape", [[80, 1 << 60], [1 << 60, 80], [81, 80], [-1, 80], [80], [80, 80, 80], ["80", 80], 80]
)
def test_the_shape_of_a_sparse_matrix(shape: Any, forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    forged.part("Graph")["lengths"]["sparse"][1] = shape
    require_refused(forged, tmp_path)


@pytest.mark.parametrize("fold", [0, 31, -31, 1 << 30])
def test_the_fold_of_a_sketch(fold: int, forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap, approximate sparse")
    forged.arrays.append(np.full(30, fold, dtype=np.int32))
    forged.part("Sketch")["fold"] = {"array": len(forged.arrays) - 1}
    require_refused(forged, tmp_path, "Sketch", LOADS[:2])


def test_lengths_that_no_path_can_have(forge: Any, tmp_path: Path) -> None:
    for wrong in (np.nan, np.inf, -1.0):
        forged = forge("Isomap")
        ((_, number),) = forged.part("Graph")["lengths"]["sparse"][2].items()
        forged.arrays[number] = np.full_like(forged.arrays[number], wrong)
        require_refused(forged, tmp_path, "Graph.lengths", LOADS[:2])


# --- shapes and types


@pytest.mark.parametrize("variant", ["Isomap", "PCA", "KernelPCA", "LLE", "SpectralClustering", "KernelEigenmaps"])
def test_rows_of_another_width(variant: str, forge: Any, tmp_path: Path) -> None:
    """Compiled code would read beyond the end of narrower rows."""
    forged = forge(variant)
    for number, array in enumerate(forged.arrays):
        if array.shape == (80, 3):
            forged.arrays[number] = np.ascontiguousarray(array[:, :2])
    require_refused(forged, tmp_path)


def test_another_metric_matrix(forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap, mahalanobis")
    for number, array in enumerate(forged.arrays):
        if array.shape == (3, 3):
            forged.arrays[number] = np.ones((2, 2))
    require_refused(forged, tmp_path, "metric does not fit")


@pytest.mark.parametrize(
    ("part", "field", "value", "sentence"),
    [
        ("Isomap", "n_neighbors", 1 << 50, "NeighborGraph.n_neighbors"),
        ("Isomap", "n_neighbors", -1, "NeighborGraph.n_neighbors"),
        ("Isomap", "n_neighbors", True, "is a bool"),
        ("Isomap", "n_neighbors", "8", "is a str"),
        ("Isomap", "radius", [1.0], "is a list"),
        ("Isomap", "index", {"tuple": []}, "is a tuple"),
        ("Isomap", "edges", "any", "is a str"),
        ("Isomap", "anything", 1, "has no anything"),
        ("Isomap", "__class__", "NeighborGraph", "has no __class__"),
    ],
)
def test_a_field_that_cannot_be(part: str, field: str, value: Any, sentence: str, forge: Any, tmp_path: Path) -> None:
    forged = forge(part)
    forged.part("NeighborGraph")[field] = value
    require_refused(forged, tmp_path, sentence)


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("SearchCosts", "rows_per_tile", 0),
        ("SearchCosts", "entries_per_block", -5),
        ("SearchCosts", "look", {"float": "nan"}),
        ("Unit", "power", 10**9),
        ("Neighbors", "n_vertices", 1 << 60),
        ("Columns", "count", 4),
        ("Columns", "names", {"tuple": ["a"]}),
        ("Components", "graphs", {"tuple": []}),
        ("Model", "parts", {"tuple": []}),
        ("Model", "name", "LLE"),
        ("GraphSource", "rows", None),
    ],
)
def test_numbers_that_contradict_each_other(part: str, field: str, value: Any, forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    forged.part(part)[field] = value
    if (part, field) == ("GraphSource", "rows"):  # a distance matrix has none: the columns would be the rows
        forged.part("Reads")["precomputed"] = True
    require_refused(forged, tmp_path)


def test_a_missing_field(forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    del forged.part("Graph")["vertices"]
    require_refused(forged, tmp_path, "Graph lacks vertices")


def test_parts_in_each_others_place(forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    graph = forged.part("Graph")
    graph["neighbors"], forged.part("GraphSource")["components"] = (
        forged.part("GraphSource")["components"],
        graph["neighbors"],
    )
    require_refused(forged, tmp_path)


def compact(name: str, folder: Path) -> Forgery:
    fitted(name).save(folder / "compact.gramfold", compact=True)
    return Forgery.of(folder / "compact.gramfold")


def over_few_vertices(forged: Forgery, k: int) -> None:
    """The kernel of a compact Isomap, over fewer vertices than its graph has."""
    for part, field in (("GramKernel", "means"), ("GramKernel", "mass"), ("GramKernel", "center")):
        forged.arrays[forged.array(part, field)] = np.full(k, 1 / k)
    forged.arrays[forged.array("GramKernel", "array")] = np.ones((k, k))
    vectors = forged.array("Spectrum", "eigenvectors")
    forged.arrays[vectors] = np.ones([k if length == 80 else length for length in forged.arrays[vectors].shape])


def test_a_kernel_over_fewer_vertices_than_new_rows_meet(tmp_path: Path) -> None:
    """Compiled code walks from the vertices that new rows meet, in an array of the kernel's."""
    forged = compact("Isomap", tmp_path)
    over_few_vertices(forged, 10)
    require_refused(forged, tmp_path, "Part.coordinates")
    forged.arrays.append(np.ones((10, 2)))
    forged.part("Part")["coordinates"] = {"array": len(forged.arrays) - 1}
    require_refused(forged, tmp_path, "Model.parts")


def test_landmarks_without_the_values_of_all_vertices(tmp_path: Path) -> None:
    forged = compact("Isomap", tmp_path)
    over_few_vertices(forged, 10)
    forged.arrays.append(np.arange(10))
    forged.part("GramKernel")["landmarks"] = {"array": len(forged.arrays) - 1}
    require_refused(forged, tmp_path, "GramKernel.landmarks")


def test_values_of_fewer_vertices_than_the_graph_has(tmp_path: Path) -> None:
    forged = compact("Isomap, landmarks", tmp_path)
    number = forged.array("GramKernel", "all_values")
    forged.arrays[number] = forged.arrays[number][:30]
    require_refused(forged, tmp_path, "", LOADS[:2])
    forged.part("GramKernel")["all_values"] = None
    require_refused(forged, tmp_path, "GramKernel.landmarks")


@pytest.mark.parametrize("name", ["Isomap, landmarks", "LandmarkMDS", "KernelPCA, landmarks", "ClassicalMDS"])
def test_fewer_coordinates_than_vertices(name: str, forge: Any, tmp_path: Path) -> None:
    forged = forge(name)
    forged.arrays.append(np.ones((1, 2)))
    forged.part("Part")["coordinates"] = {"array": len(forged.arrays) - 1}
    require_refused(forged, tmp_path, "does not fit the rest")


def test_vertices_of_one_component_and_numbers_of_another(forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap of groups, apart")
    number = forged.array("Components", "number")
    forged.arrays[number] = forged.arrays[number][::-1].copy()
    require_refused(forged, tmp_path, "Components.number", LOADS[:2])


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize(
    ("variant", "part", "field"),
    [
        ("PCA", "LinearPlacement", "directions"),
        ("PCA", "LinearPlacement", "mean"),
        ("Isomap", "GramKernel", "means"),
        ("Isomap", "Spectrum", "eigenvalues"),
        ("LLE", "Part", "coordinates"),
        ("LPP", "TransformationalMap", "coefficients"),
    ],
)
def test_numbers_that_are_not_finite(
    variant: str, part: str, field: str, wrong: float, forge: Any, tmp_path: Path
) -> None:
    forged = forge(variant)
    number = forged.array(part, field)
    forged.arrays[number] = forged.arrays[number].copy()
    forged.arrays[number].flat[-1] = wrong
    require_refused(forged, tmp_path, "does not fit the rest", LOADS[:2])  # another part may hold the same array


@pytest.mark.parametrize(
    ("variant", "part", "field", "value"),
    [
        ("PCA", "Model", "timings", {"dict": [["fit", "long"]]}),
        ("PCA", "Model", "timings", {"dict": [["fit", {"part": 0}]]}),
        ("OrdinalMDS", "FittedMap", "found", {"dict": [[3, 1]]}),
        ("PCA", "Part", "spectrum", None),
        ("PCA", "Part", "placement", None),
        ("Isomap, cosine", "Metric", "p", 0.0),
        ("Isomap, cosine", "Metric", "p", {"float": "nan"}),
    ],
)
def test_what_raised_an_error_only_when_it_was_used(
    variant: str, part: str, field: str, value: Any, forge: Any, tmp_path: Path
) -> None:
    forged = forge(variant)
    forged.part(part)[field] = value
    require_refused(forged, tmp_path, part)


@pytest.mark.parametrize(
    ("variant", "part", "field", "array"),
    [
        ("KernelPCA", "GramKernel", "mass", np.zeros(80)),
        ("LPP", "TransformationalMap", "coefficients", np.ones((7, 2))),
        ("KernelPCA", "Part", "offset", np.zeros(0)),
    ],
)
def test_arrays_that_raised_an_error_only_when_they_were_used(
    variant: str, part: str, field: str, array: np.ndarray, forge: Any, tmp_path: Path
) -> None:
    forged = forge(variant)
    forged.arrays[forged.array(part, field)] = array
    require_refused(forged, tmp_path, part, LOADS[:2])


# --- parts and names


def test_parts_that_hold_themselves(forge: Any, tmp_path: Path) -> None:
    for number in (0, 5, 1 << 60, -1, "0", None, True):
        forged = forge("Isomap")
        forged.told["parts"][0] = {"is": "Part", "holds": {"kernel": {"part": number}}}
        require_refused(forged, tmp_path)


def test_a_billion_laughs(forge: Any, tmp_path: Path) -> None:
    forged = forge("PCA")
    first = len(forged.told["parts"])
    holds = forged.part("Part")
    for number in range(first, first + 60):
        twice = {"tuple": [{"part": number - 1}] * 2}
        forged.told["parts"].append({"is": "Part", "holds": {**holds, "found": {"dict": [["twice", twice]]}}})
    forged.told["model"] = {"part": len(forged.told["parts"]) - 1}
    require_refused(forged, tmp_path, "hold each other too often")


def test_a_billion_steps(forge: Any, tmp_path: Path) -> None:
    forged = forge(make_pipeline(StandardScaler(), gramfold.PCA()).fit(sheet(60)))
    for _ in range(60):
        last = len(forged.told["parts"]) - 1
        steps = [{"tuple": [name, {"part": last}]} for name in "ab"]
        parameters = {"dict": [["steps", steps]]}
        forged.told["parts"].append(
            {"estimator": "scikit-learn Pipeline", "parameters": parameters, "learned": {"dict": []}}
        )
    forged.told["model"] = {"part": len(forged.told["parts"]) - 1}
    require_refused(forged, tmp_path, "hold each other too often")


def test_deep_nesting(forge: Any, tmp_path: Path) -> None:
    for depth in (200, 900, 100_000):
        forged = forge("PCA")
        deep: Any = "DEEP"
        forged.told["model"] = deep
        path = forged.write(tmp_path / "forged.gramfold")
        for opening, closing in (("[", "]"), ('{"tuple":[', "]}")):
            text = text_of(path).replace('"DEEP"', opening * depth + closing * depth)
            with_text(path, text)
            for load in LOADS:
                with pytest.raises(ModelFileError):
                    load(path)


def text_of(path: Path) -> str:
    file = path.read_bytes()
    length = int.from_bytes(file[:8], "little")
    return str(json.loads(file[8 : 8 + length])["__metadata__"]["model"])


def with_text(path: Path, text: str, **told: Any) -> None:
    """Write the text into the header, and its digest; what the header says besides may differ."""
    file = path.read_bytes()
    begins = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:begins])
    digest = sha256(text.encode("utf8", "surrogatepass")).hexdigest()
    header["__metadata__"] |= {"model": text, "digest": digest, **told}
    words = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf8", "surrogatepass")
    words += b" " * (-(8 + len(words)) % 64)
    path.write_bytes(len(words).to_bytes(8, "little") + words + file[begins:])


@pytest.mark.parametrize("name", ["os.system", "NoPart", "Pipeline", "__import__", "", None, 3, ["Part"]])
def test_unknown_names(name: Any, forge: Any, tmp_path: Path) -> None:
    for part in ({"is": name, "holds": {}}, {"estimator": name, "parameters": {"dict": []}, "learned": {"dict": []}}):
        forged = forge("PCA")
        forged.told["parts"].insert(0, part)
        require_refused(forged, tmp_path)


@pytest.mark.parametrize(
    "value",
    [
        {"function": "system"}, {"function": "__call__"}, {"type": "Popen"}, {"dtype": "V8"},
        {"dtype": "f8,f8"}, {"float": "1e5"}, {"array": 10_000}, {"array": -1}, {"array": "0"}, {"array": True},
        {"array by columns": 10_000}, {"number": ["<f8", ""]}, {"number": ["<f8", "zz"]}, {"number": ["O", "00" * 8]},
        {"objects": [[1 << 40], []]}, {"objects": [[-1], ["a"]]}, {"texts": [[1], [3]]}, {"slice": [1]}, {"eval": "1"},
        {"__class__": "Part"}, {}, {"float": "nan", "tuple": []}, {"column selector": ["a"]}, {"sparse": []},
        {"sparse": ["array lil", [1, 1], 1, 2, 3]}, {"dict": [[1]]}, {"dict": [[[], 1]]}, {"part": 10_000},
    ],
)  # fmt: skip
def test_values_that_are_none(value: Any, forge: Any, tmp_path: Path) -> None:
    forged = forge("PCA")
    forged.part("Model")["found"] = {"dict": [["something", value]]}
    require_refused(forged, tmp_path)


def test_a_bomb_of_texts(forge: Any, tmp_path: Path) -> None:
    """In an array of texts each takes as much room as the longest."""
    forged = forge("PCA")
    forged.part("Model")["found"] = {"dict": [["texts", {"texts": [[100_001], ["a" * 1_000_000, *["b"] * 100_000]]}]]}
    require_refused(forged, tmp_path, "too long")


# --- estimators


def estimator(forged: Forgery) -> dict[str, Any]:
    found: dict[str, Any] = forged.told["parts"][-1]
    return found


@pytest.mark.parametrize(
    "key",
    ["__class__", "__dict__", "__reduce__", "transform", "fit", "n_neighbors", "get_params", "a b", "", 3]
    + ["_parameter_constraints", "__sklearn_tags__", "__getstate__", "embedding_"],
)
def test_attributes_that_none_learns(key: Any, forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    estimator(forged)["learned"]["dict"].append([key, {"function": "log1p"}])
    require_refused(forged, tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_neighbors", "many"), ("n_neighbors", -3), ("nothing", 1), ("n_components", 0.5)],
)
def test_parameters_that_cannot_be(name: str, value: Any, forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    held = estimator(forged)["parameters"]["dict"]
    held[:] = [[key, one] for key, one in held if key != name] + [[name, value]]
    require_refused(forged, tmp_path)


@pytest.mark.parametrize("name", ["LLE", "PCA", "LeaveOut", "scikit-learn PCA", "scikit-learn Pipeline"])
def test_the_model_of_another_class(name: str, forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    estimator(forged)["estimator"] = name
    require_refused(forged, tmp_path)
    estimator(forged)["parameters"]["dict"] = []
    require_refused(forged, tmp_path)


@pytest.mark.parametrize("model", [None, 3, "Isomap", {"part": 0}, [], {"tuple": []}, {"type": "int"}])
def test_what_is_no_model(model: Any, forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    forged.told["model"] = model
    require_refused(forged, tmp_path)


def test_a_model_that_was_not_fitted(forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap")
    estimator(forged)["learned"]["dict"] = []
    require_refused(forged, tmp_path)


@pytest.mark.parametrize("steps", [[], [{"tuple": []}], [3], None, {"dict": []}, [{"tuple": ["a", {"part": 0}]}]])
def test_steps_of_a_pipeline(steps: Any, forge: Any, tmp_path: Path) -> None:
    forged = forge(make_pipeline(StandardScaler(), gramfold.PCA()).fit(sheet(60)))
    held = estimator(forged)["parameters"]["dict"]
    held[:] = [[key, steps if key == "steps" else one] for key, one in held]
    require_refused(forged, tmp_path)


def test_a_folder_of_a_pipeline_is_not_read(forge: Any, tmp_path: Path) -> None:
    forged = forge(make_pipeline(StandardScaler(), gramfold.PCA()).fit(sheet(60)))
    held = estimator(forged)["parameters"]["dict"]
    held[:] = [[key, str(tmp_path / "cache") if key == "memory" else one] for key, one in held]
    require_refused(forged, tmp_path, "would read what is kept in a folder")


def test_a_pipeline_of_columns_is_loaded(tmp_path: Path) -> None:
    """The same rules let through what people build."""
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["wide", "höhe"]),
            ("kinds", OneHotEncoder(sparse_output=False), make_column_selector(dtype_include=object)),
        ]
    )
    table = mixed().astype({"kind": object})
    model = make_pipeline(columns, gramfold.PCA()).fit(table)
    gramfold.save(model, tmp_path / "model.gramfold")
    for mmap in (False, True):
        again = gramfold.load(tmp_path / "model.gramfold", mmap=mmap)
        assert np.array_equal(again.transform(table[:9]), model.transform(table[:9]))


def test_a_search_among_other_rows(forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap, transformer")
    search = next(part for part in forged.told["parts"] if "rows" in part)
    forged.arrays.append(np.ones((300, 3)))
    search["rows"] = {"array": len(forged.arrays) - 1}
    require_refused(forged, tmp_path, "TransformerIndex.transformer")


def test_a_thousand_searches(forge: Any, tmp_path: Path) -> None:
    forged = forge("Isomap, transformer")
    search = next(part for part in forged.told["parts"] if "rows" in part)
    forged.told["parts"] += [search] * 1000
    require_refused(forged, tmp_path, "too many searches")


# --- texts


@pytest.mark.parametrize("name", ["\ud800", "a\udcffb", "\0", "🙂", '"', "\\", "\u2028", "x" * 10_000])
def test_any_name_of_a_column(name: str, tmp_path: Path) -> None:
    table = frame().set_axis(pd.Index([name, "höhe", "depth"], dtype=object), axis=1)
    gramfold.PCA().fit(table).save(tmp_path / "model.gramfold")
    assert gramfold.model_info(tmp_path / "model.gramfold").column_names == (name, "höhe", "depth")


@pytest.mark.parametrize("text", ["", "[]", "3", "null", "{", '{"arrays": 3}', '{"arrays": [[]]}', '"\ud800"', "{}"])
def test_texts_that_say_nothing(text: str, forge: Any, tmp_path: Path) -> None:
    path = forge("PCA").write(tmp_path / "forged.gramfold")
    with_text(path, text)
    for load in LOADS:
        with pytest.raises(ModelFileError):
            load(path)


@pytest.mark.parametrize(
    "entry",
    [
        ["<f8", [1 << 58], ""], ["<f8", [1 << 70], ""], ["<f8", [-1], ""], ["<f8", [1.0], ""], ["<f8", [True], ""],
        ["O", [1], ""], ["|V8", [1], ""], [[], [1], ""], ["<f8", 3, ""], ["<f8", [1], 3], ["<f8", [0] * 100, ""],
        ["<f8", [0, 1 << 60], ""], ["<f8", [1 << 30, 1 << 30], ""], "abc", None, [],
    ],
)  # fmt: skip
def test_arrays_that_the_file_has_not(entry: Any, forge: Any, tmp_path: Path) -> None:
    path = forge("PCA").write(tmp_path / "forged.gramfold")
    told = json.loads(text_of(path))
    told["arrays"].append(entry)
    with_text(path, json.dumps(told, separators=(",", ":")))
    for load in LOADS:
        with pytest.raises(ModelFileError, match="damaged"):
            load(path)


def test_a_key_that_is_there_twice(forge: Any, tmp_path: Path) -> None:
    """The last one counts, as everywhere in JSON: what is checked is what is used."""
    path = forge("PCA").write(tmp_path / "forged.gramfold")
    text = text_of(path)
    with_text(path, text[:-1] + ',"model":3}')
    with pytest.raises(ModelFileError):
        gramfold.load(path)


@pytest.mark.parametrize(
    ("version", "sentence"),
    [("2", "format 2.*install a newer gramfold"), ("1234567", "install a newer")]
    + [(version, "damaged") for version in ("0", "1e0", "-1", "²", "٣", "", "9" * 5000, " 1")],
)
def test_other_formats(version: str, sentence: str, forge: Any, tmp_path: Path) -> None:
    path = forge("PCA").write(tmp_path / "forged.gramfold")
    with_text(path, text_of(path), version=version)
    for load in LOADS:
        with pytest.raises(ModelFileError, match=sentence):
            load(path)


@pytest.mark.parametrize("key", ["compact", "libraries", "parts", "model"])
@pytest.mark.parametrize("value", [None, 3, "x", [3], {"gramfold": 3}])
def test_what_a_file_says_of_itself(key: str, value: Any, forge: Any, tmp_path: Path) -> None:
    forged = forge("PCA")
    forged.told[key] = value
    require_refused(forged, tmp_path)
    del forged.told[key]
    require_refused(forged, tmp_path)


# --- files that are none of ours


def foreign() -> dict[str, bytes]:
    packed, array = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../model", "text")
    np.save(array, np.ones(3))
    header = json.dumps({"weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    header_told = json.dumps({"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [1]}}).encode()
    return {
        "zip": packed.getvalue(),
        "npy": array.getvalue(),
        "pickle": pickle.dumps({"a": 1}),
        "hdf5": b"\x89HDF\r\n\x1a\n" + b"\0" * 100,
        "text": b"wide,deep\n1,2\n" * 100,
        "json": b'{"arrays": []}',
        "empty": b"",
        "zeros": b"\0" * 4096,
        "safetensors": struct.pack("<Q", len(header)) + header + b"\0" * 4,
        "safetensors of another": struct.pack("<Q", len(header_told)) + header_told + b"\0" * 4,
        "only a brace": struct.pack("<Q", 2) + b'{"',
        "a list": struct.pack("<Q", 2) + b"[]",
    }


@pytest.mark.parametrize("kind", list(foreign()))
def test_a_foreign_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.gramfold"
    path.write_bytes(foreign()[kind])
    for load in LOADS:
        with pytest.raises(ModelFileError, match=r"^'.*' (is not a model file|holds no model|is damaged)"):
            load(path)


@pytest.mark.parametrize("path", [5, None, True, b"model.gramfold"])
def test_what_is_no_path(path: Any) -> None:
    for call in (fitted("PCA").save, lambda path: gramfold.save(fitted("PCA"), path), gramfold.load):
        with pytest.raises(InputError, match="is not the name of a file: pass the path"):
            call(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "file").write_text("")
    names = ["", "pipe", "loop", "dangling", "nothing", "no/folder", "file/below", "a\0b", "x" * 5000]
    for path in [*(tmp_path / name for name in names), Path("/dev/zero"), Path("/dev/null")]:
        for load in LOADS:
            with pytest.raises(InputError, match="pass the name of a model file"):
                load(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    fitted("PCA").save(tmp_path / "model.gramfold")
    (tmp_path / "model.gramfold").chmod(0)
    for load in LOADS:
        with pytest.raises(InputError, match="cannot be read"):
            load(tmp_path / "model.gramfold")


# --- everything at once


def used_elsewhere(forgeries: dict[str, tuple[str, Forgery]], folder: Path) -> dict[str, str]:
    """The outcome of each forgery in another process; it must neither crash nor hang."""
    names, labels = {}, {}
    for number, (label, (variant, forged)) in enumerate(forgeries.items()):
        file = f"{number:06d}.gramfold"
        forged.write(folder / file)
        names[file], labels[file] = variant, label
    (folder / "names.json").write_text(json.dumps(names))
    command = [sys.executable, "-m", "tests.io.model_file.forging", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (labels[lines[-1].split()[0]], done.returncode, done.stderr[-2000:])
    told = {labels[line.split()[0]]: line.split()[1] for line in lines}
    assert len(told) == len(forgeries)
    return told


def forgeries_of(variants: list[str], folder: Path, share: float, seed: int) -> dict[str, tuple[str, Forgery]]:
    """Some of all changes of arrays and values."""
    rng, found = np.random.default_rng(seed), {}
    for variant in variants:
        for compact in (False, True):
            if compact and variant.startswith("OrdinalMDS"):
                continue
            gramfold.save(fitted(variant), folder / "real", compact=compact)
            real = Forgery.of(folder / "real")
            for number, array in enumerate(real.arrays):
                for what, other in changed_arrays(array):
                    if rng.random() < share:
                        arrays = [*real.arrays[:number], other, *real.arrays[number + 1 :]]
                        found[f"{variant} {compact} array {number}: {what}"] = variant, Forgery(real.told, arrays)
            for what, changed in changed_trees(real.told):
                if rng.random() < share:
                    found[f"{variant} {compact} {what}"] = variant, Forgery(changed(), real.arrays)
    return found


def test_no_forgery_crashes(tmp_path: Path) -> None:
    some = ["KernelPCA, landmarks", "PCA", "Isomap, sparse rows"]
    told = used_elsewhere(forgeries_of(some, tmp_path, share=0.006, seed=0), tmp_path)
    assert list(told.values()).count("refused") > len(told) / 4


@pytest.mark.slow
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_no_forgery_of_any_model_crashes(variant: str, tmp_path: Path) -> None:
    used_elsewhere(forgeries_of([variant], tmp_path, share=0.05, seed=1), tmp_path)


# --- the table


def holds_only_scalars(kind: Any) -> bool:
    if get_origin(kind) in {Union, UnionType}:
        return all(holds_only_scalars(one) for one in get_args(kind))
    return kind in {int, float, str, bool, type(None)} or get_origin(kind) is Literal


FREE = {"found", "timings", "name", "gamma"}  # for looking at, or compared with names


@pytest.mark.parametrize("name", list(part_classes()))
def test_every_field_of_a_part_is_in_the_table(name: str) -> None:
    """Whoever adds a part says what sizes it has."""
    cls = part_classes()[name]
    kinds = typing.get_type_hints(cls)
    needed = {one.name for one in fields(cls) if not holds_only_scalars(kinds[one.name])} - FREE
    assert needed <= set(TABLE[name]), needed - set(TABLE[name])
    assert set(TABLE[name]) <= {one.name for one in fields(cls)} | {"landmarks"}


def classes_in(kind: Any) -> Iterator[Any]:
    yield kind
    for one in get_args(kind):
        yield from classes_in(one)


def test_what_a_part_may_hold_is_a_part() -> None:
    """Else a model that has one could not be saved."""
    kinds = [kind for cls in part_classes().values() for kind in typing.get_type_hints(cls).values()]
    held = {one for kind in kinds for one in classes_in(kind) if is_dataclass(one) and not isabstract(one)}
    assert held <= set(part_classes().values())


def test_the_table_has_no_others() -> None:
    assert set(TABLE) == set(part_classes())
