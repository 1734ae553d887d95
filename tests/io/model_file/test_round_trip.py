"""A model that was saved and loaded is the same model."""

import pickle
import warnings
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.exceptions import NotFittedError

import gramfold
from gramfold import PCA, Isomap, KernelPCA, LaplacianEigenmaps, OrdinalMDS, SpectralClustering
from gramfold.errors import GramfoldWarning, InputError, LeftOutError, ModelFileError
from tests.contract.checks import sheet
from tests.io.model_file.models import VARIANTS, fitted, new_rows

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")


def same(left, right, path="model"):
    """Whether two trees are equal: types, texts, numbers, and every bit of the arrays and their order in memory."""
    assert type(left) is type(right), f"{path}: {type(left)} and {type(right)}"
    if isinstance(left, np.ndarray):
        assert left.dtype == right.dtype, path
        assert (left.flags.c_contiguous, left.flags.f_contiguous) == (
            right.flags.c_contiguous,
            right.flags.f_contiguous,
        ) or not (left.flags.c_contiguous or left.flags.f_contiguous), path
        np.testing.assert_array_equal(left, right, err_msg=path)
    elif issparse(left):
        for part in ("data", "indices", "indptr"):
            same(getattr(left, part), getattr(right, part), f"{path}.{part}")
    elif is_dataclass(left):
        for one in fields(left):
            if one.name != "links":  # of a search graph, built again
                same(getattr(left, one.name), getattr(right, one.name), f"{path}.{one.name}")
    elif isinstance(left, dict):
        assert list(left) == list(right), path
        for key in left:
            same(left[key], right[key], f"{path}[{key!r}]")
    elif isinstance(left, list | tuple):
        assert len(left) == len(right), path
        for i, (one, other) in enumerate(zip(left, right, strict=True)):
            same(one, other, f"{path}[{i}]")
    elif not hasattr(left, "get_params"):
        assert left == right or (left != left and right != right), path


def placed(model, rows):
    if hasattr(model, "predict"):
        return model.predict(rows)
    return model.transform(rows) if hasattr(model, "transform") else model.embedding_


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_loaded_is_what_was_saved(name, tmp_path):
    model, path = fitted(name), tmp_path / "one.gramfold"
    rows = new_rows(VARIANTS[name][1]())
    places = placed(model, rows)
    model.save(path)
    for mmap in (False, True):
        again = gramfold.load(path, mmap=mmap)
        assert type(again) is type(model)
        assert repr(again) == repr(model)
        same(model.model_, again.model_)
        np.testing.assert_array_equal(placed(again, rows), places)
    if isinstance(model, OrdinalMDS):
        return  # it places no new rows
    model.save(path, compact=True)
    small = gramfold.load(path)
    np.testing.assert_array_equal(placed(small, rows), places)
    with pytest.raises(LeftOutError, match="compact"):
        _ = small.labels_ if isinstance(model, SpectralClustering) else small.kernel_


def test_the_same_model_is_the_same_file(tmp_path):
    for name in ("one", "two"):
        fitted("Isomap").save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    gramfold.load(tmp_path / "one").save(tmp_path / "three")
    assert (tmp_path / "three").read_bytes() == (tmp_path / "one").read_bytes()


def test_what_is_held_twice_is_written_once(tmp_path):
    model = fitted("Isomap")
    model.save(tmp_path / "one")
    again = gramfold.load(tmp_path / "one").model_
    assert again.source.rows is again.source.components.net.index.points or np.shares_memory(
        again.source.rows, again.source.components.net.index.points
    )
    assert (tmp_path / "one").stat().st_size < 1.25 * len(pickle.dumps(model)) + 10_000


def test_safetensors_reads_the_arrays(tmp_path):
    """Another program can: the layout is that of safetensors."""
    numpy_reader = pytest.importorskip("safetensors.numpy")
    model = fitted("PCA")
    model.save(tmp_path / "pca.gramfold")
    arrays = numpy_reader.load_file(tmp_path / "pca.gramfold")
    shown = [array for array in arrays.values() if array.shape == model.embedding_.shape]
    assert any(np.array_equal(array, model.embedding_) for array in shown)


def test_a_mapped_model_is_read_only_on_disk(tmp_path):
    fitted("KernelPCA").save(tmp_path / "one")
    before = (tmp_path / "one").read_bytes()
    mapped = gramfold.load(tmp_path / "one", mmap=True)
    mapped.model_.embedding[:] = 0.0
    assert (tmp_path / "one").read_bytes() == before


def test_search_graphs_are_not_in_a_file_and_are_built_again(tmp_path):
    model = fitted("Isomap, approximate")
    model.save(tmp_path / "one")
    again = gramfold.load(tmp_path / "one")
    index = again.model_.source.components.net.index
    assert index.links is None
    assert bytes(model.model_.source.components.net.index.links[:64]) not in (tmp_path / "one").read_bytes()
    np.testing.assert_array_equal(again.transform(sheet(9, seed=1)), model.transform(sheet(9, seed=1)))


def test_a_loaded_model_can_be_pickled_fitted_again_and_saved(tmp_path):
    fitted("LaplacianEigenmaps").save(tmp_path / "one")
    again = gramfold.load(tmp_path / "one", mmap=True)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).embedding_, again.embedding_)
    other = again.fit(sheet(50, seed=2))
    np.testing.assert_array_equal(other.embedding_, LaplacianEigenmaps().fit(sheet(50, seed=2)).embedding_)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Isomap(), "not fitted"),
        (lambda: Isomap, "model is the class Isomap"),
        (lambda: 3, "model is a int"),
        (lambda: fitted("PCA").embedding_, "model is a ndarray"),
    ],
)
def test_what_is_no_model_is_refused(make, words, tmp_path):
    with pytest.raises((InputError, NotFittedError), match=words):
        gramfold.save(make(), tmp_path / "one")
    assert not list(tmp_path.iterdir())


def cityblock(x, y):
    return float(np.abs(x - y).sum())


class OwnIsomap(Isomap):
    pass


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Isomap(metric=cityblock), "metric of the Isomap is the function cityblock"),
        (KernelPCA(kernel=lambda x, y: x @ y), "kernel of the KernelPCA is the function <lambda>"),
        (Isomap(random_state=np.random.RandomState(0)), r"random_state of the Isomap is a random generator"),
        (OwnIsomap(), "the OwnIsomap is OwnIsomap of tests"),
    ],
)
def test_code_is_refused_by_its_name(model, words, tmp_path):
    (tmp_path / "one").write_text("as it was")
    with warnings.catch_warnings(), pytest.raises(ModelFileError, match=words):
        model.fit(sheet(40)).save(tmp_path / "one")
    assert (tmp_path / "one").read_text() == "as it was"


def test_an_ordinal_map_has_no_compact_file(tmp_path):
    with pytest.raises(InputError, match="compact"):
        fitted("OrdinalMDS").save(tmp_path / "one", compact=True)
    assert not list(tmp_path.iterdir())


def test_compact_isomap_is_small(tmp_path):
    rng = np.random.default_rng(0)
    X, fresh = rng.normal(size=(5_000, 10)), rng.normal(size=(100, 10))
    model = Isomap(landmarks=200).fit(X)
    model.save(tmp_path / "one", compact=True)
    assert (tmp_path / "one").stat().st_size <= 10_000_000
    np.testing.assert_allclose(gramfold.load(tmp_path / "one").transform(fresh), model.transform(fresh), atol=1e-10)


def test_a_compact_pca_holds_no_training_rows(tmp_path):
    X = sheet(80)
    PCA(n_components=3).fit(X).save(tmp_path / "one", compact=True)
    content = (tmp_path / "one").read_bytes()
    assert gramfold.model_info(tmp_path / "one").training_data == "no training rows"
    assert not any(value.tobytes() in content for row in X for value in row)
    PCA(n_components=3).fit(X).save(tmp_path / "two")
    assert gramfold.model_info(tmp_path / "two").training_data.startswith("all 80 training rows")
