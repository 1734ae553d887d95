"""Model files: which container, how long saving and loading take, and how large files are.

Containers are tried on the arrays of two models: one large (an exact Isomap of a roll, n × n geodesics) and one of many
small arrays. Each is written, and read with a SHA-256 digest of every array. Files are in the cache of the system.

    python -m benchmarks.model_files [rows of the large model]
"""

import pickle
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
from sklearn.datasets import make_swiss_roll

import gramfold
from gramfold.io.model_file.container import Container, write_container
from gramfold.io.model_file.encoding import Encoder

REPEATS = 5


def seconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median time."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return float(np.median(taken))


def digest_arrays(arrays: list[np.ndarray]) -> None:
    """The digest of each array."""
    for array in arrays:
        sha256(memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))).hexdigest()


# --- containers: write(path, arrays) and read(path) -> arrays, digested


def write_zip(path: Path, arrays: list[np.ndarray]) -> None:
    """NumPy's own archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number, array in enumerate(arrays):
            with archive.open(f"{number}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def read_zip(path: Path) -> None:
    """Read and digest it."""
    with np.load(path) as archive:
        digest_arrays([archive[name] for name in archive.files])


def write_npz(path: Path, arrays: list[np.ndarray]) -> None:
    """The same, compressed."""
    with path.open("wb") as stream:
        np.savez_compressed(stream, *arrays)


def write_hdf5(path: Path, arrays: list[np.ndarray]) -> None:
    """A data set for each array."""
    import h5py

    with h5py.File(path, "w") as file:
        for number, array in enumerate(arrays):
            file.create_dataset(str(number), data=array)


def read_hdf5(path: Path) -> None:
    """Read and digest them."""
    import h5py

    with h5py.File(path, "r") as file:
        digest_arrays([np.asarray(file[name]) for name in file])


def write_arrow(path: Path, arrays: list[np.ndarray]) -> None:
    """A tensor for each array."""
    import pyarrow as pa

    with pa.OSFile(str(path), "wb") as sink:
        for array in arrays:
            pa.ipc.write_tensor(pa.Tensor.from_numpy(np.atleast_1d(array)), sink)


def read_arrow(path: Path) -> None:
    """Read and digest them."""
    import pyarrow as pa

    found = []
    with pa.OSFile(str(path), "rb") as source:
        while source.tell() < path.stat().st_size:
            found.append(pa.ipc.read_tensor(source).to_numpy())
    digest_arrays(found)


def write_pickle(path: Path, arrays: list[np.ndarray]) -> None:
    """What a model file must not be."""
    with path.open("wb") as stream:
        pickle.dump(arrays, stream, protocol=5)


def read_pickle(path: Path) -> None:
    """Read and digest it."""
    with path.open("rb") as stream:
        digest_arrays(pickle.load(stream))


def write_ours(path: Path, arrays: list[np.ndarray]) -> None:
    """As models are written, without a model."""
    with path.open("wb") as stream:
        write_container(stream, {}, arrays)


CONTAINERS: dict[str, tuple[Callable[[Path, list[np.ndarray]], None], Callable[[Path], object]]] = {
    "safetensors' layout (ours)": (write_ours, Container),
    "zip of npy, stored": (write_zip, read_zip),
    "npz, compressed": (write_npz, read_zip),
    "HDF5": (write_hdf5, read_hdf5),
    "Arrow tensors": (write_arrow, read_arrow),
    "pickle (for comparison)": (write_pickle, read_pickle),
}


def compare_containers(name: str, arrays: list[np.ndarray], folder: Path) -> None:
    """Print a table of all containers."""
    size = sum(array.nbytes for array in arrays)
    print(f"\n{name}: {len(arrays)} arrays, {size / 1e6:.1f} MB")
    path = folder / "tried"
    print(f"{'container':<28}{'write s':>10}{'read s':>10}{'MB':>10}")
    for container, (write, read) in CONTAINERS.items():
        if container == "npz, compressed" and size > 2e8:
            print(f"{container:<28}{'too slow to try':>30}")
            continue
        try:
            written = seconds(lambda write=write: write(path, arrays))
        except ImportError as error:
            print(f"{container:<28}{error!s:>30}")
            continue
        print(
            f"{container:<28}{written:>10.3f}{seconds(lambda read=read: read(path)):>10.3f}"
            f"{path.stat().st_size / 1e6:>10.1f}"
        )
        path.unlink()


def read_and_digest(path: Path) -> None:
    """All that no reader can avoid: the bytes, and their digest."""
    with path.open("rb") as stream:
        held = np.empty(path.stat().st_size, dtype=np.uint8)
        stream.readinto(memoryview(held))
    sha256(memoryview(held)).hexdigest()


def arrays_of(model: object) -> list[np.ndarray]:
    """The arrays that its file holds."""
    encoder = Encoder()
    encoder.value(model, "model")
    return encoder.arrays


def main() -> None:
    """Run all."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 11_000
    roll = make_swiss_roll(n, random_state=0)[0]
    large, small = gramfold.Isomap().fit(roll), gramfold.LaplacianEigenmaps().fit(roll[:500])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compare_containers("exact Isomap of a roll", arrays_of(large), folder)
        compare_containers("Laplacian eigenmaps of 500 rows", arrays_of(small), folder)
        path = folder / "large.gramfold"
        print(f"\nexact Isomap, n = {n:,}")
        print(
            f"save                    {seconds(lambda: large.save(path), 3):.3f} s, {path.stat().st_size / 1e9:.2f} GB"
        )
        bare, load = [], []
        for _ in range(REPEATS):  # in turn: other work on the machine meets both
            bare.append(seconds(lambda: read_and_digest(path), 1))
            load.append(seconds(lambda: gramfold.load(path), 1))
        print(f"read and digest         {np.median(bare):.3f} s")
        ratios = np.array(load) / np.array(bare)
        spread = f"{np.median(ratios):.2f}x ({ratios.min():.2f}-{ratios.max():.2f})"
        print(f"load                    {np.median(load):.3f} s, {spread}")
        print(f"load(mmap=True)         {seconds(lambda: gramfold.load(path, mmap=True)):.4f} s")
        rng = np.random.default_rng(0)
        model = gramfold.Isomap(landmarks=200).fit(rng.normal(size=(5_000, 10)))
        for compact in (False, True):
            model.save(path, compact=compact)
            print(f"Isomap 5,000 x 10, 200 landmarks, compact={compact}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
