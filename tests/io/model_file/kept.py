"""Files of format 1, written once by gramfold 0.1.0 and never again: every later version reads them.

python -m tests.io.model_file.kept        writes the archive, where there is none
"""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.contract.discovery import exported
from tests.io.model_file.models import VARIANTS, fitted, new_rows

# every class, and the settings whose models have parts of their own
KEPT = (
    *(cls.__name__ for cls in exported()),
    "Isomap of copies",
    "Isomap, landmarks",
    "Isomap, mixed",
    "Isomap, sparse rows",
    "KernelPCA, landmarks",
    "LPP, stochastic",
    "LaplacianEigenmaps, landmarks",
    "LaplacianEigenmaps, self-tuning",
    "NystromEmbedding, approximate",
    "PCA of a frame",
    "PCA, sparse",
    "ProbabilisticPCA of gaps",
    "SpectralClustering, threshold",
)
ARCHIVE = Path(__file__).parent / "format_1.zip"
COORDINATES = "coordinates.npz"


def placed(model: Any, rows: Any) -> np.ndarray:
    """What a model says of new rows; of one that places none, its own coordinates."""
    if hasattr(model, "predict"):
        return np.asarray(model.predict(rows))
    return np.asarray(model.transform(rows) if hasattr(model, "transform") else model.embedding_)


def write_archive(path: Path) -> None:
    """A file for each of the models, and what each said of new rows."""
    draft, coordinates = io.BytesIO(), {}
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for number, name in enumerate(KEPT):
            model, one = fitted(name), path.with_suffix(".gramfold")
            model.save(one)
            archive.write(one, f"{number}.gramfold")
            one.unlink()
            coordinates[name] = placed(model, new_rows(VARIANTS[name][1]()))
        arrays = io.BytesIO()
        np.savez_compressed(arrays, **coordinates)
        archive.writestr(COORDINATES, arrays.getvalue())
    path.write_bytes(draft.getvalue())


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    if ARCHIVE.exists():
        raise SystemExit(f"{ARCHIVE.name} exists, and it is kept as it was written")
    write_archive(ARCHIVE)
