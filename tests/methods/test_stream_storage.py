"""storage="stream": the same maps, on which nothing of size n × n is stored, of rolls, digits, copies and outliers."""

import pickle
import signal
import threading
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

import gramfold
from gramfold import ClassicalMDS, Isomap, KernelIsomap, KernelPCA
from gramfold.datasets import make_swiss_roll
from gramfold.errors import InputError, MemoryForecastError
from gramfold.graph.streamed_walks import StreamedWalks
from gramfold.kernels.streamed import StreamedMatrix
from gramfold.runtime import memory

METHODS = {
    "Isomap": lambda storage: Isomap(storage=storage),
    "conformal": lambda storage: Isomap(conformal=True, storage=storage),
    "KernelIsomap": lambda storage: KernelIsomap(storage=storage),
    "shifted": lambda storage: KernelIsomap(repair="shift", storage=storage),
    "KernelPCA": lambda storage: KernelPCA(storage=storage),
    "polynomial": lambda storage: KernelPCA(kernel="poly", degree=2, storage=storage),
    "ClassicalMDS": lambda storage: ClassicalMDS(metric="cityblock", storage=storage),
    "repaired": lambda storage: ClassicalMDS(metric="cityblock", repair="constant", storage=storage),
}
pytestmark = [
    pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning"),
    pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning"),
]


@pytest.fixture(scope="module")
def digits() -> np.ndarray:
    return load_digits().data


@pytest.fixture(scope="module")
def roll() -> np.ndarray:
    return make_swiss_roll(900, random_state=0).points


def off(found: np.ndarray, expected: np.ndarray, size: float) -> float:
    """The largest difference relative to the map's size; NaN where both are."""
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    return float(np.nanmax(np.abs(found - expected)) / size)


def pair(make, X: np.ndarray, new: np.ndarray, **fit) -> tuple[float, float]:
    """How far the streamed map is from the stored one, and so of new rows."""
    stored, streamed = make("memory").fit(X, **fit), make("stream").fit(X, **fit)
    assert streamed.kernel_.streamed
    assert streamed.spectrum_.residuals.max() <= 1e-6
    size = float(np.nanmax(np.abs(stored.embedding_)))
    assert off(streamed.transform(X), streamed.embedding_, size) < (1e-7 if X.dtype == np.float64 else 1e-6)
    return off(streamed.embedding_, stored.embedding_, size), off(streamed.transform(new), stored.transform(new), size)


@pytest.mark.parametrize("name", METHODS)
def test_a_roll_is_mapped_as_from_memory(name: str, roll: np.ndarray) -> None:
    assert max(pair(METHODS[name], roll[:800], roll[800:])) < 1e-6


@pytest.mark.parametrize("name", METHODS)
def test_digits_with_copies_and_an_outlier_are_mapped_as_from_memory(name: str, digits: np.ndarray) -> None:
    rows = np.vstack([digits[:400], digits[:100], digits[:1] + 40.0])
    assert max(pair(METHODS[name], rows, digits[1000:1050])) < 1e-6


@pytest.mark.parametrize("name", ["Isomap", "KernelIsomap", "KernelPCA", "ClassicalMDS"])
def test_float32_rows_give_float32_maps(name: str, digits: np.ndarray) -> None:
    small = digits.astype(np.float32)
    assert METHODS[name]("stream").fit(small[:400]).embedding_.dtype == np.float32
    assert max(pair(METHODS[name], small[:400], small[1000:1050])) < 2e-6


def test_weights_of_rows_and_several_components_count(digits: np.ndarray) -> None:
    weights = np.random.default_rng(0).integers(1, 4, 400).astype(float)
    for make in (METHODS["Isomap"], METHODS["KernelPCA"]):
        assert max(pair(make, digits[:400], digits[1000:1050], sample_weight=weights)) < 1e-6
    apart = np.vstack([digits[:350], digits[350:640] + 1e3])
    for choice in ("separate", "largest", "bridge"):
        found = pair(
            lambda storage, choice=choice: Isomap(on_disconnected=choice, storage=storage), apart, apart[::9] + 0.1
        )
        assert max(found) < 1e-6


def test_many_components_and_few_rows(digits: np.ndarray) -> None:
    for count, n in ((20, 400), (90, 300), (2, 200)):  # the last two are solved densely, from what is computed for once
        assert (
            max(
                pair(
                    lambda storage, count=count: Isomap(n_components=count, storage=storage),
                    digits[:n],
                    digits[900:920],
                )
            )
            < 1e-6
        )


def test_rows_of_other_kinds(digits: np.ndarray) -> None:
    assert max(pair(METHODS["KernelPCA"], csr_array(digits[:400]), csr_array(digits[900:920]))) < 1e-6
    assert (
        max(pair(lambda storage: ClassicalMDS(metric="gower", storage=storage), digits[:400], digits[900:920])) < 1e-6
    )
    own = KernelPCA(kernel=lambda x, y: float(x @ y) ** 2, storage="stream").fit(digits[:260])
    named = KernelPCA(kernel="poly", degree=2, gamma=1.0, coef0=1e-12).fit(digits[:260])
    np.testing.assert_allclose(own.embedding_, named.embedding_, atol=1e-5 * np.abs(named.embedding_).max())
    center = np.full(400, 1 / 400) + np.linspace(-1, 1, 400) / 1e3
    assert (
        max(pair(lambda s: ClassicalMDS(metric="cityblock", center=center, storage=s), digits[:400], digits[900:920]))
        < 1e-6
    )
    square = np.linalg.norm(digits[:400, None] - digits[None, :400], axis=2)
    assert max(pair(lambda s: Isomap(metric="precomputed", storage=s), square, square[:9])) < 1e-6


@pytest.mark.parametrize("name", METHODS)
def test_the_kernel_answers_by_products_and_columns(name: str, digits: np.ndarray) -> None:
    stored, streamed = METHODS[name]("memory").fit(digits[:400]), METHODS[name]("stream").fit(digits[:400])
    K, V = stored.kernel_.dense(), np.random.default_rng(0).standard_normal((400, 3))
    size, rows = np.abs(K).max(), np.array([3, 250])
    np.testing.assert_allclose(streamed.kernel_ @ V, K @ V, atol=1e-5 * size)
    np.testing.assert_allclose(streamed.kernel_.columns(rows), K[:, rows], atol=1e-6 * size)
    for columns in (None, np.array([7, 9])):
        expected = stored.kernel_.squared_distances(rows, columns)
        np.testing.assert_allclose(streamed.kernel_.squared_distances(rows, columns), expected, atol=1e-5 * size)
    np.testing.assert_allclose(streamed.leading_eigenvalues(6), stored.leading_eigenvalues(6), rtol=1e-6)
    assert streamed.negative_part().mass == pytest.approx(stored.negative_part().mass, abs=1e-6)
    np.testing.assert_allclose(streamed.shares(), stored.shares(), rtol=1e-6)
    with pytest.raises(InputError, match=r"stores none: use kernel_\.columns"):
        streamed.kernel_.dense()


@pytest.mark.parametrize("name", METHODS)
def test_a_saved_model_places_new_rows_alike(name: str, digits: np.ndarray, tmp_path) -> None:
    model, new = METHODS[name]("stream").fit(digits[:400]), digits[900:950]
    for compact in (False, True):
        model.save(tmp_path / "model", compact=compact)
        np.testing.assert_array_equal(gramfold.load(tmp_path / "model").transform(new), model.transform(new))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    np.testing.assert_allclose(again.leading_eigenvalues(3), model.leading_eigenvalues(3), rtol=1e-6)


def test_clouds_are_walked_without_elimination(digits: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StreamedWalks, "eliminated", None)  # as where it is predicted to be slower
    for name in ("Isomap", "conformal", "KernelIsomap"):
        assert max(pair(METHODS[name], digits[:400], digits[900:950])) < 1e-6


def test_a_model_file_of_a_streamed_map_is_small(roll: np.ndarray, tmp_path) -> None:
    for storage in ("memory", "stream"):
        Isomap(storage=storage).fit(roll).save(tmp_path / storage)
    assert (tmp_path / "stream").stat().st_size < 0.15 * (tmp_path / "memory").stat().st_size


def test_a_streamed_model_is_judged_and_reported(digits: np.ndarray, tmp_path) -> None:
    stored, streamed = (Isomap(storage=storage).fit(digits[:400]) for storage in ("memory", "stream"))
    assert str(streamed.verdict()) == str(stored.verdict())
    slopes = stored.sensitivity(digits[900:905]), streamed.sensitivity(digits[900:905])
    np.testing.assert_allclose(slopes[1], slopes[0], atol=1e-6 * np.abs(slopes[0]).max())
    streamed.report(tmp_path / "map.html")
    assert (tmp_path / "map.html").stat().st_size > 10_000


def test_a_fit_takes_few_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    passes, passed = [], StreamedMatrix.passed

    def counted(self, *args):
        passes.append(self)
        return passed(self, *args)

    monkeypatch.setattr(StreamedMatrix, "passed", counted)
    Isomap(n_neighbors=10, storage="stream").fit(make_swiss_roll(2000, random_state=0).points)
    assert len(passes) <= 6


def test_nothing_of_the_size_of_all_pairs_is_held() -> None:
    X = make_swiss_roll(4000, random_state=0).points
    Isomap(storage="stream", n_jobs=1).fit(X[:500])
    peaks = {}
    for storage in ("memory", "stream"):
        tracemalloc.start()
        Isomap(storage=storage, n_jobs=1).fit(X)
        peaks[storage] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks["memory"] > 8 * 4000**2
    assert peaks["stream"] < 0.4 * 8 * 4000**2


def test_the_forecast_names_streaming_and_streams_what_it_names(monkeypatch: pytest.MonkeyPatch, digits) -> None:
    X = make_swiss_roll(12_000, random_state=0).points
    monkeypatch.setattr(memory, "available_memory", lambda: 0.4e9)
    named = r"or use storage='stream', which needs 0\.\d GB"
    for model in (Isomap(), KernelIsomap(), KernelPCA(), ClassicalMDS()):
        with pytest.raises(MemoryForecastError, match=named):
            model.fit(X)
    Isomap(storage="stream", n_jobs=1).fit(X[:3000])
    monkeypatch.setattr(memory, "available_memory", lambda: 1e6)
    with pytest.raises(MemoryForecastError) as refused:
        Isomap(storage="stream").fit(X)
    assert "stream" not in str(refused.value)


def test_what_cannot_be_streamed_is_refused_at_once(digits: np.ndarray) -> None:
    for model in (KernelIsomap(repair="clip", storage="stream"), ClassicalMDS(repair="clip", storage="stream")):
        with pytest.raises(InputError, match="needs all eigenvectors of the n x n matrix"):
            model.fit(digits[:300])
    square = digits[:300] @ digits[:300].T
    with pytest.raises(InputError, match="with kernel='precomputed' X is that matrix: use storage='memory'"):
        KernelPCA(kernel="precomputed", storage="stream").fit(square)
    with pytest.raises(InputError, match="with metric='precomputed' X is that matrix: use storage='memory'"):
        ClassicalMDS(metric="precomputed", storage="stream").fit(np.abs(square - square.T))
    with pytest.raises(InputError, match="returned NaN or infinity"):
        KernelPCA(kernel=lambda x, y: np.nan, storage="stream").fit(digits[:300])


def test_landmarks_are_not_streamed(digits: np.ndarray) -> None:
    model, plain = (Isomap(landmarks=60, storage=storage).fit(digits[:400]) for storage in ("stream", "memory"))
    assert not model.kernel_.streamed
    np.testing.assert_allclose(model.embedding_, plain.embedding_, atol=1e-8 * np.abs(plain.embedding_).max())


def test_passes_are_told_and_the_bits_are_those_of_one_thread(digits: np.ndarray) -> None:
    told = []
    model = Isomap(storage="stream", n_jobs=2, progress=lambda *step: told.append(step)).fit(digits[:600])
    assert {stage for stage, *_ in told} >= {"kernel: pass", "spectrum: pass"}
    alone = Isomap(storage="stream", n_jobs=1).fit(digits[:600])
    np.testing.assert_array_equal(alone.embedding_, model.embedding_)


@pytest.mark.usefixtures("heard")
def test_an_interrupt_leaves_the_earlier_model(roll: np.ndarray) -> None:
    model = Isomap(storage="stream", n_jobs=2).fit(roll)
    before, threads = model.embedding_, threading.active_count()

    def press(stage: str, done: int, total: int | None) -> None:
        if stage == "spectrum: pass":
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    model.set_params(progress=press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(make_swiss_roll(3000, random_state=1).points)
    assert model.embedding_ is before
    model.set_params(progress=None)
    np.testing.assert_array_equal(model.transform(roll[:20]), before[:20])
    assert threading.active_count() <= threads


@pytest.mark.slow
def test_twenty_thousand_rows_are_mapped_as_from_memory() -> None:
    X = make_swiss_roll(20_200, random_state=0).points
    found = pair(lambda storage: Isomap(n_neighbors=10, storage=storage), X[:20_000], X[20_000:])
    assert max(found) < 1e-6
