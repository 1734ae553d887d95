"""Command lines that cannot be: one sentence, exit code 2, and no file made or changed."""

import shlex
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.spatial.distance import cdist

import gramfold
from gramfold.cli import main
from gramfold.io import write_table

ROWS = np.random.default_rng(0).random((40, 3))


def saved(model):
    with tempfile.TemporaryDirectory() as folder:
        gramfold.save(model, Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


PCA = saved(gramfold.PCA().fit(pd.DataFrame(ROWS, columns=["x", "height", "width"])))
MODELS = {
    "pca.gramfold": PCA,
    "torn.gramfold": PCA[:-9],
    "groups.gramfold": saved(gramfold.SpectralClustering(n_clusters=2).fit(ROWS)),
}

LINES = [
    # verbs and options of the program
    ("embde roll.csv", "There is no command 'embde': did you mean 'embed'?"),
    ("cluser roll.csv --out c.csv", "did you mean 'cluster'?"),
    ("juge roll.csv map.csv", "did you mean 'judge'?"),
    ("metods", "did you mean 'methods'?"),
    ("frobnicate", "There is no command 'frobnicate': use one of advise, embed,"),
    ("'' roll.csv", "There is no command ''"),
    ("roll.csv", "There is no command 'roll.csv'"),
    ("--verson", "`gramfold` has no option '--verson': did you mean '--version'?"),
    ("--quiet embed roll.csv", "`gramfold` has no option '--quiet': `gramfold --help` lists the options."),
    # what is missing
    ("embed", "Missing argument 'INPUT': see `gramfold embed --help`."),
    ("embed --out m.csv", "Missing argument 'INPUT'"),
    ("embed roll.csv --out", "Option '--out' requires an argument"),
    ("cluster", "Missing argument 'INPUT'"),
    ("cluster roll.csv", "Missing option '-o' / '--out'"),
    ("judge", "Missing argument 'TABLE'"),
    ("judge roll.csv", "Missing argument 'MAP'"),
    ("compare", "Missing argument 'TABLE'"),
    ("dimension", "Missing argument 'INPUT'"),
    ("advise", "Missing argument 'INPUT'"),
    ("completion", "Missing argument '{bash|zsh|fish}'"),
    ("datasets swiss_roll", "There is no file to write 'swiss_roll' to: name it, as in --out swiss_roll.csv."),
    # too many words
    ("embed roll.csv other.csv --out m.csv", "Got unexpected extra argument (other.csv): see `gramfold embed --help`."),
    ("demo now", "Got unexpected extra argument (now)"),
    ("methods lle isomap", "Got unexpected extra argument (isomap)"),
    ("datasets torus helix", "Got unexpected extra argument (helix)"),
    # options that are not there
    ("embed roll.csv --ot m.csv", "`gramfold embed` has no option '--ot': did you mean '--out'?"),
    ("embed roll.csv --out m.csv --neighbours 5", "did you mean '--neighbors'"),
    ("embed roll.csv --out m.csv --colour x", "did you mean '--color'"),
    ("embed roll.csv --out m.csv --frobnicate", "has no option '--frobnicate': `gramfold embed --help` lists"),
    ("embed roll.csv --out m.csv -z", "has no option '-z'"),
    ("cluster roll.csv --out m.csv --cluster 3", "did you mean '--clusters'"),
    ("judge roll.csv map.csv --label x", "did you mean '--labels'"),
    ("compare roll.csv --method isomap", "did you mean '--methods'"),
    ("dimension roll.csv --leve 0.5", "did you mean '--level'"),
    ("advise roll.csv --cod", "did you mean '--code'"),
    ("demo --output here", "did you mean '--out'"),
    ("methods --all", "`gramfold methods` has no option '--all'"),
    ("datasets torus --n-rows 5 --out t.csv", "`gramfold datasets` has no option '--n-rows': did you mean '--rows'?"),
    # methods and parameters
    ("embed roll.csv -m isomp --out m.csv", "There is no method 'isomp': did you mean 'isomap'?"),
    ("embed roll.csv -m mds --out m.csv", "did you mean 'classical_mds', 'landmark_mds' or 'ordinal_mds'?"),
    ("embed roll.csv -m tsne --out m.csv", "There is no method 'tsne': it is in other packages"),
    ("embed roll.csv -m '' --out m.csv", "There is no method ''"),
    ("embed roll.csv -m la --out m.csv", "'la' is ambiguous (landmark_isomap, landmark_mds, laplacian_eigenmaps)"),
    ("embed roll.csv -m spectral_clustering --out m.csv", "There is no method 'spectral_clustering'"),
    ("methods isomapp", "did you mean 'isomap'"),
    ("compare roll.csv --methods isomap,lel", "There is no method 'lel': did you mean 'lle'?"),
    ("embed roll.csv -m lle --set rge=1 --out m.csv", "LLE has no parameter 'rge': did you mean 'reg'?"),
    ("embed roll.csv -m lle --set reg --out m.csv", "--set reg has no value: write --set reg=VALUE."),
    ("embed roll.csv -m pca -k 5 --out m.csv", "PCA has no parameter n_neighbors: leave out --neighbors."),
    ("cluster roll.csv --set n_neigbors=4 --out c.csv", "did you mean 'n_neighbors'?"),
    # values
    ("embed roll.csv -k few --out m.csv", "'few' is not a valid integer"),
    ("embed roll.csv -k 0 --out m.csv", "'n_neighbors' parameter of Isomap must be"),
    ("embed roll.csv -k 400 --out m.csv", "n_neighbors=400, but there are only 40 distinct rows"),
    ("embed roll.csv -d 0 --out m.csv", "--dim 0 is no number of dimensions"),
    ("embed roll.csv -m isomap -d 0 --out m.csv", "'n_components' parameter of Isomap must be"),
    ("embed roll.csv --radius wide --out m.csv", "'wide' is not a valid float"),
    ("embed roll.csv --search quick --out m.csv", "'quick' is not one of 'auto', 'exact', 'approximate'."),
    ("embed roll.csv --seed x --out m.csv", "'x' is not a valid integer"),
    ("embed roll.csv --metric euclidaen --out m.csv", "euclidaen"),
    ("cluster roll.csv -c many --out c.csv", "--clusters must be a positive integer or auto"),
    ("dimension roll.csv --level 2", "level"),
    ("dimension roll.csv -k 0", "n_neighbors"),
    ("datasets torus --rows 0 --out t.csv", "0 is not in the range x>=1"),
    ("datasets torus --noise -1 --out t.csv", "-1.0 is not in the range x>=0"),
    ("datasets teapots --noise 1 --out t.csv", "teapots has no noise: leave out --noise."),
    ("completion powershell", "'powershell' is not one of 'bash', 'zsh', 'fish'."),
    # data sets
    ("datasets swis_rol --out r.csv", "There is no data set 'swis_rol': did you mean 'swiss_roll'?"),
    ("datasets s --out r.csv", "'s' is ambiguous (swiss_roll, s_curve, severed_sphere)"),
    ("datasets mnist --out r.csv", "There is no data set 'mnist': use one of swiss_roll,"),
    ("datasets --out r.csv", "--out was given without the name of a data set"),
    # columns
    ("embed roll.csv --columns hieght --out m.csv", "no column 'hieght': did you mean 'height'?"),
    ("embed roll.csv --skip x,height,width --out m.csv", "no column left"),
    ("embed roll.csv --picture p.png --color widht --out m.csv", "no column 'widht': did you mean 'width'?"),
    ("embed roll.csv --id naem --out m.csv", "no column 'naem'; it has x, height, width."),
    ("embed roll.csv --keep hieght --out m.csv", "no column 'hieght': did you mean 'height'?"),
    ("embed roll.csv --picture p.png --label heigth --out m.csv", "no column 'heigth': did you mean 'height'?"),
    ("embed mixed.csv --columns a,kind --out m.csv", "column 'kind' holds text ('u' in line 2)"),
    ("embed mixed.csv --columns kind --out m.csv", "no column holds numbers"),
    ("embed mixed.csv --skip a,b --out m.csv", "no column of X is left for a map"),
    ("embed mixed.csv --missing error --out m.csv", "'mixed.csv' has no value in column 'b', line 3"),
    ("embed typo.csv --out m.csv", "'typo.csv' has '1.7m' in column 'a', line 4, which is not a number: correct it"),
    ("embed single.csv", "'single.csv' has one row: a map needs at least two."),
    # how a table is prepared and read
    ("embed roll.csv --scale standardise --out m.csv", "'standardise' is not one of 'auto', 'none', 'standard'"),
    ("embed roll.csv --missing median --out m.csv", "'median' is not one of 'auto', 'error', 'drop', 'mean', 'ppca'."),
    ("embed roll.csv --encoding klingon --out m.csv", "encoding='klingon' is unknown"),
    ("embed roll.csv --separator x --out m.csv", "separator='x' does not separate columns"),
    ("embed roll.csv -m auto -k 5 --out m.csv", "--method auto chooses the method and its parameters: leave out --n"),
    ("embed roll.csv -d many --out m.csv", "--dim many is no number of dimensions"),
    ("embed far.csv -m isomap --metric precomputed --scale robust", "no columns to prepare: leave out --scale."),
    # files to read
    ("embed rol.csv --out m.csv", "There is no file 'rol.csv': did you mean 'roll.csv'?"),
    ("embed http://example.org/roll.csv", "is an address, and only files are read: download it first"),
    ("embed nowhere/x.csv --out m.csv", "There is no file 'nowhere/x.csv': check the name and the folder."),
    ("embed folder --out m.csv", "'folder' "),
    ("cluster none.npz --out c.csv", "There is no file 'none.npz'"),
    ("judge roll.csv none.csv", "There is no file 'none.csv'"),
    ("judge none.csv map.csv", "There is no file 'none.csv'"),
    ("compare roll.csv --map mine=none.csv", "There is no file 'none.csv'"),
    ("compare roll.csv --map map.csv", "--map map.csv has no name or no file: write --map NAME=FILE."),
    ("dimension none.csv", "There is no file 'none.csv'"),
    ("advise none.csv", "There is no file 'none.csv'"),
    ("embed roll.csv -m oriented_pca --distorted none.csv --out m.csv", "There is no file 'none.csv'"),
    # files to write
    ("embed taken.csv", "'taken.map.csv' exists, and is no map of gramfold: name another file to write with --out."),
    ("embed - --picture p.png", "'-' is no single file, beside which a map could be written: name one with --out."),
    ("embed roll.csv --out m.csv --model nowhere/m.gramfold", "there is no folder"),
    ("embed roll.csv --out m.csv --model roll.csv", "'roll.csv' is an input file and would be overwritten"),
    ("embed roll.csv --out m.npy --id x", "'m.npy' holds numbers only, and no column 'x'"),
    ("embed roll.csv --out m.csv --model m.csv", "'m.csv' would be written twice"),
    ("embed roll.csv --out m.csv --label x", "--label x is written on a picture, but none is drawn: add --picture"),
    ("embed roll.csv --out folder", "'folder' is a folder"),
    ("embed roll.csv --out nowhere/m.csv", "there is no folder"),
    ("embed roll.csv --out roll.csv", "'roll.csv' is an input file and would be overwritten"),
    ("embed roll.csv --out map.csv --no-overwrite", "'map.csv' already exists"),
    ("embed roll.csv --out m.csv --picture nowhere/p.png", "there is no folder"),
    ("embed roll.csv --out m.csv --picture p.doc", "'p.doc' does not have the ending of an image file"),
    ("judge roll.csv map.csv --out protected.csv", "'protected.csv' is write-protected"),
    ("compare roll.csv --methods pca --out t.xlsx", "'t.xlsx' ends in neither .csv nor .tsv"),
    ("dimension roll.csv --out d.csv", "'d.csv' does not end in .json"),
    ("datasets torus --out nowhere/t.csv", "there is no folder"),
    ("datasets torus --out map.csv --no-overwrite", "'map.csv' already exists"),
    # models
    ("transform", "Missing argument 'MODEL': see `gramfold transform --help`."),
    ("transform pca.gramfold", "Missing argument 'TABLE'"),
    ("transform pca.gramfold roll.csv more.csv", "Got unexpected extra argument (more.csv)"),
    ("trasform pca.gramfold roll.csv", "There is no command 'trasform': did you mean 'transform'?"),
    ("transform pac.gramfold roll.csv", "There is no file 'pac.gramfold': did you mean 'pca.gramfold'?"),
    ("transform pca.gramfold rol.csv", "There is no file 'rol.csv': did you mean 'roll.csv'?"),
    ("transform roll.csv pca.gramfold", "'roll.csv' is a table and no model file: name a model first"),
    ("transform pca.gramfold pca.gramfold --out p.csv", "pca.gramfold"),
    ("transform protected.csv roll.csv --out p.csv", "'protected.csv' is a table and no model file"),
    ("transform torn.gramfold roll.csv --out p.csv", "'torn.gramfold' is damaged"),
    ("transform folder roll.csv --out p.csv", "'folder' "),
    ("transform pca.gramfold folder --out p.csv", "'folder' "),
    ("transform pca.gramfold -", "'-' is no name beside which to write: name the file, as in --out placed.csv."),
    ("transform pca.gramfold map.csv", "'map.csv' has no columns 'x', 'height' and 'width', of the 3 that the model"),
    ("transform pca.gramfold misspelt.csv", "no column 'height', which the model reads: did you mean 'heigth'?"),
    ("transform pca.gramfold words.csv", "has 'tall' in column 'x', line 2, where the model was fitted on numbers"),
    ("transform pca.gramfold roll.csv --id nmae", "has no column 'nmae'"),
    ("transform pca.gramfold roll.csv --keep heihgt", "no column 'heihgt': did you mean 'height'?"),
    ("transform pca.gramfold roll.csv --columns x,height --out p.csv", "no column 'width', which the model reads"),
    ("transform pca.gramfold roll.csv --missing mean", "'mean' is not one of 'error', 'drop'."),
    ("transform pca.gramfold roll.csv --extrapolate", "did you mean '--extrapolation'"),
    ("transform pca.gramfold roll.csv --out nowhere/p.csv", "there is no folder"),
    ("transform pca.gramfold roll.csv --out roll.csv", "'roll.csv' is an input file and would be overwritten"),
    ("transform pca.gramfold roll.csv --out pca.gramfold", "pca.gramfold"),
    ("transform pca.gramfold roll.csv --out map.csv --no-overwrite", "'map.csv' already exists"),
    ("transform pca.gramfold roll.csv --out p.npy --id x", "'p.npy' holds numbers only, and no column 'x'"),
    ("transform pca.gramfold roll.csv --out p.doc", "p.doc"),
    ("transform groups.gramfold roll.csv --extrapolation", "SpectralClustering, which has no extrapolation"),
    ("transform pca.gramfold empty.csv", "'empty.csv'"),
    ("inverse", "Missing argument 'MODEL'"),
    ("inverse pca.gramfold", "Missing argument 'MAP'"),
    ("invers pca.gramfold map.csv", "did you mean 'inverse'?"),
    ("inverse pca.gramfold none.csv", "There is no file 'none.csv'"),
    ("inverse roll.csv map.csv", "'roll.csv' is a table and no model file: name a model first"),
    ("inverse pca.gramfold map.csv", "'map.csv' has no column 'pca0', a coordinate of PCA: name the coordinates with"),
    ("inverse pca.gramfold map.csv --map-columns u", "--map-columns names 1 column, and the map of the model has 2"),
    ("inverse pca.gramfold map.csv --map-columns u,w", "has no column 'w'"),
    ("inverse pca.gramfold words.csv --map-columns x,height", "other values than numbers in column 'x'"),
    ("inverse pca.gramfold map.csv --map-columns u,v --columns u", "leave out --columns and --skip"),
    ("inverse groups.gramfold map.csv", "SpectralClustering, which has clusters and no map"),
    ("inverse pca.gramfold map.csv --map-columns u,v --out map.csv", "'map.csv' is an input file"),
    ("info", "Missing argument 'MODEL'"),
    ("info none.gramfold", "There is no file 'none.gramfold': check the name and the folder."),
    ("info roll.csv", "is a table and no model file: `gramfold advise roll.csv` says what is in a table."),
    ("info torn.gramfold", "'torn.gramfold' is damaged"),
    ("info folder", "'folder' "),
    ("info pca.gramfold --jsn", "did you mean '--json'"),
    ("demo --out roll.csv", "roll.csv"),
    ("demo --out roll.csv/pictures", "roll.csv"),
]


@pytest.mark.parametrize(("line", "sentence"), LINES, ids=[line for line, _ in LINES])
def test_one_sentence_and_nothing_written(line, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table("roll.csv", ROWS, ["x", "height", "width"])
    write_table("map.csv", ROWS[:, :2], ["u", "v"])
    (tmp_path / "protected.csv").write_text("old")
    (tmp_path / "protected.csv").chmod(0o444)
    (tmp_path / "folder").mkdir()
    for name, content in MODELS.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "misspelt.csv").write_text("x,heigth,width\n1,2,3\n4,5,6\n")
    (tmp_path / "words.csv").write_text("x,height,width\ntall,2,3\n4,5,6\n")
    (tmp_path / "empty.csv").write_text("x,height,width\n")
    write_table("taken.csv", ROWS, ["x", "height", "width"])
    (tmp_path / "taken.map.csv").write_text("place,x,y\nUlm,1,2\n")
    write_table("far.csv", cdist(ROWS, ROWS), [f"r{row}" for row in range(len(ROWS))])
    (tmp_path / "mixed.csv").write_text(
        "a,b,kind\n" + "".join(f"{row / 7},{row**2 if row != 1 else ''},u\n" for row in range(30))
    )
    (tmp_path / "typo.csv").write_text("a,b\n1.5,2\n1.6,3\n1.7m,4\n1.8,5\n")
    (tmp_path / "single.csv").write_text("a,b\n1.5,2\n")
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    result = CliRunner().invoke(main, shlex.split(line), catch_exceptions=False)
    assert sentence in result.stderr
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_there_are_as_many_as_users_get_wrong():
    assert len({line for line, _ in LINES}) == len(LINES) >= 100


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("embed", "t.csv", "-m", "umap"), "There is no method 'umap': it is in other packages"),
        (("embed", "t.csv", "-m", "ppca"), "There is no method 'ppca': use probabilistic_pca"),
        (("embed", "https://example.org/t.csv"), "'https://example.org/t.csv' is an address"),
        (("embed", "t.csv"), "has 1 cell in line 3"),
    ],
)
def test_words_that_people_type(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n4\n7,8,9\n")
    result = CliRunner().invoke(main, [*words, "--out", "m.csv"])
    assert result.exit_code == 2
    assert said in result.output
