"""Which name was meant: letters in another order, a word of a longer name; never a name that is not alike."""

import pytest

from gramfold.methods.names import method_names
from gramfold.runtime.close_names import close_names, did_you_mean


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("isomp", ["isomap"]),
        ("Isomapp", ["isomap"]),
        ("laplasian_eigenmaps", ["laplacian_eigenmaps"]),
        ("eigenmaps", ["kernel_eigenmaps", "laplacian_eigenmaps"]),
        ("mds", ["classical_mds", "landmark_mds", "ordinal_mds"]),
        ("difusion-map", ["diffusion_map"]),
        ("tsne", []),
        ("umap", []),
        ("phate", []),
        ("", []),
        ("xyz", []),
    ],
)
def test_methods(written, meant):
    assert sorted(close_names(written, method_names())) == meant


@pytest.mark.parametrize(
    ("written", "known", "meant"),
    [
        ("rge", ["reg", "tol"], ["reg"]),
        ("Species", ["species", "spec"], ["species"]),
        ("petal length", ["petal_length", "petal_width"], ["petal_length"]),
        ("w", ["x", "y", "z"], []),
        ("--ot", ["--out", "--dim"], ["--out"]),
        ("a", ["a", "a"], ["a"]),
    ],
)
def test_other_names(written, known, meant):
    assert close_names(written, known) == meant


def test_the_best_is_first_and_no_more_than_three():
    known = [f"gene_{number}" for number in range(10)]
    assert len(close_names("gene_", known)) == 3
    assert close_names("gene_7", known)[0] == "gene_7"


def test_the_question():
    assert did_you_mean("heigth", ["height", "weight"]) == "did you mean 'height'?"
    assert did_you_mean("mds", ["a_mds", "b_mds"]) == "did you mean 'a_mds' or 'b_mds'?"
    assert did_you_mean("mds", ["a_mds", "b_mds", "c_mds"]) == "did you mean 'a_mds', 'b_mds' or 'c_mds'?"
    assert did_you_mean("zzz", ["a"]) is None
