"""Mapped files of files: the same as in memory, whole or not at all, and one sentence where that cannot be."""

import json
import os
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import gramfold
from gramfold.cli import main

PCA = ("-m", "pca", "-d", "2", "--quiet")


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, 5)) * [1, 2, 4, 1, 1] + np.arange(5)
    return pd.DataFrame(X, columns=list("abcde")).assign(barcode=[f"b{i}" for i in range(n)], town="Ulm")


def save(frame, folder, cuts=(0, 250, 250, 520, 600)):
    """A file for each two cuts, one of them without rows."""
    folder.mkdir(exist_ok=True)
    for number, (a, b) in enumerate(pairwise(cuts)):
        frame.iloc[a:b].to_parquet(folder / f"part{number}.parquet", index=False)


@pytest.fixture
def big(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(rows(), tmp_path / "big")
    return tmp_path / "big"


def run(*words):
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words):
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 2, result.output
    return result.stderr.strip()


def places(folder, prefix="pca"):
    found = pd.read_parquet(folder)
    return found[[name for name in found if name.startswith(prefix)]].to_numpy()


@pytest.mark.parametrize(
    ("scale", "missing"),
    [
        ("auto", "auto"),
        ("none", "mean"),
        ("standard", "mean"),
        ("standard", "drop"),
        ("robust", "mean"),
        ("none", "ppca"),
    ],
)
def test_map_is_that_of_the_same_rows_in_memory(tmp_path, monkeypatch, scale, missing):
    monkeypatch.chdir(tmp_path)
    frame = rows()
    frame.loc[[3, 17, 300], "b"] = np.nan
    save(frame, tmp_path / "big")
    said = ("embed", "big", *PCA, "--scale", scale, "--missing", missing, "--skip", "barcode")
    run(*said, "--out", "mapped/")
    run(*said, "--out", "map.parquet")
    assert [pq.read_metadata(file).num_rows for file in sorted(Path("mapped").glob("*.parquet"))] == [250, 0, 270, 80]
    one, other = places("mapped"), places("map.parquet")
    np.testing.assert_allclose(one, other, atol=1e-8 * np.nanmax(np.abs(other)))
    assert np.isnan(one).any(axis=1).sum() == (3 if missing == "drop" else 0)


def test_standard_deviations_are_those_of_all_rows_not_of_the_sample(big, monkeypatch):
    monkeypatch.setattr("gramfold.cli.partition_embedding.SAMPLE", 200)
    said = run("embed", "big", *PCA[:4], "--scale", "standard", "--missing", "mean", "--out", "mapped/")
    assert "200 of 600 rows" in said
    model = gramfold.load("mapped/_model.gramfold")
    scaler = model[1]
    X = rows()[list("abcde")].to_numpy()
    np.testing.assert_allclose(scaler.mean_, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scaler.scale_, X.std(axis=0), rtol=1e-12)


def test_a_gap_that_no_drawn_row_has_is_seen_all_the_same(big, monkeypatch):
    monkeypatch.setattr("gramfold.cli.partition_embedding.SAMPLE", 20)
    frame = rows()
    frame.loc[577, "d"] = np.nan
    save(frame, big)
    run("embed", "big", *PCA, "--scale", "none", "--missing", "mean", "--out", "mapped/")
    model = gramfold.load("mapped/_model.gramfold")
    np.testing.assert_allclose(model[1].statistics_, frame[list("abcde")].mean().to_numpy(), rtol=1e-12)
    assert np.isfinite(places("mapped")).all()


def test_ids_and_kept_columns_are_carried_over_as_they_are(big):
    run("embed", "big", *PCA, "--id", "barcode", "--keep", "town,a", "--out", "mapped/")
    found = pd.read_parquet("mapped")
    assert found.columns.tolist() == ["barcode", "pca0", "pca1", "town", "a"]
    pd.testing.assert_frame_equal(found[["barcode", "town", "a"]], rows()[["barcode", "town", "a"]])


def test_single_precision_is_placed_as_it_is_fitted(big):
    save(rows().astype(dict.fromkeys("abcde", np.float32)), big)
    said = ("embed", "big", *PCA, "--scale", "standard")
    run(*said, "--out", "mapped/")
    run(*said, "--out", "map.parquet")
    np.testing.assert_allclose(places("mapped"), places("map.parquet"), atol=1e-8)


def test_batches_do_not_show(big, monkeypatch):
    run("embed", "big", *PCA, "--out", "whole/")
    monkeypatch.setattr("gramfold.cli.partition_writing._MOST_ROWS", 16)
    run("transform", "whole/_model.gramfold", "big", "--out", "cut/")
    np.testing.assert_allclose(places("cut"), places("whole"), atol=1e-12)
    assert pq.read_metadata("cut/part0.parquet").num_row_groups == 16


def test_advised_method_is_one_that_is_fitted_to_partitions(big):
    said = json.loads(run("embed", "big", "--out", "mapped/", "--json"))
    assert "chosen by gramfold.advise" in said["decisions"][0]
    assert said["rows"] == 600
    assert said["files"] == 4


def test_an_array_is_written_as_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = rows()[list("abcde")].to_numpy()
    np.save("rows.npy", X)
    run("embed", "rows.npy", *PCA, "--scale", "none", "--memory-limit", "100KB", "--out", "mapped/")
    expected = gramfold.PCA(2).fit_transform(X)
    np.testing.assert_allclose(places("mapped/rows.parquet"), expected, atol=1e-9 * np.abs(expected).max())


def test_transform_places_as_the_model_does(big):
    X = rows()[list("abcde")]
    gramfold.PCA(2).fit(X).save("model.gramfold")
    said = json.loads(
        run("transform", "model.gramfold", "big/*.parquet", "--extrapolation", "--json", "--out", "placed/")
    )
    assert said["rows"] == 600
    model = gramfold.load("model.gramfold")
    found = pd.read_parquet("placed")
    np.testing.assert_allclose(found[["pca0", "pca1"]], model.transform(X), atol=1e-10)
    np.testing.assert_allclose(found["extrapolation"], model.extrapolation(X), rtol=1e-6, atol=1e-9)


def test_far_rows_and_gaps_are_counted(big):
    gramfold.PCA(2).fit(rows()[list("abcde")]).save("model.gramfold")
    odd = rows()
    odd.loc[10, "a"], odd.loc[270, "a"] = 1e6, np.nan
    save(odd, big)
    refusal = refused("transform", "model.gramfold", "big", "--out", "placed/")
    assert "part2.parquet" in refusal
    assert "column 'a', row 20 counted from 0" in refusal
    said = json.loads(
        run("transform", "model.gramfold", "big", "--missing", "drop", "--json", "--restart", "--out", "placed/")
    )
    assert (said["far_outside"], said["rows_without_coordinates"]) == (1, 1)


def test_an_index_of_pandas_is_no_data(big):
    frame = rows().drop(columns=["barcode", "town"])
    for folder in ("plain", "indexed"):
        Path(folder).mkdir()
    frame.to_parquet("plain/a.parquet", index=False)
    frame.set_axis(np.arange(len(frame)) * 1000).rename_axis("key").to_parquet("indexed/a.parquet")
    run("embed", "plain", *PCA, "--out", "one/")
    run("embed", "indexed", *PCA, "--id", "key", "--out", "other/")
    np.testing.assert_allclose(places("other"), places("one"), atol=1e-12)
    assert pq.read_table("other").column("key").to_pylist()[:2] == [0, 1000]
    assert gramfold.PCA(2).fit(str(big.parent / "indexed")).feature_names_in_.tolist() == list("abcde")


# ------------------------------------------------------------------ a file that cannot be used
def damaged(big, how):
    file, frame = big / "part2.parquet", rows().iloc[250:520]
    if how == "truncated":
        file.write_bytes(file.read_bytes()[:-100])
    elif how == "damaged within":
        data = bytearray(file.read_bytes())
        data[4:2000] = bytes(1996)
        file.write_bytes(data)
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "infinite":
        frame.assign(c=np.inf).to_parquet(file, index=False)
    elif how == "no column":
        frame.drop(columns="c").to_parquet(file, index=False)
    elif how == "another column":
        frame.assign(z=1.0).to_parquet(file, index=False)
    elif how == "text":
        frame.assign(c="much").to_parquet(file, index=False)
    elif how == "missing":
        frame.assign(c=np.nan).to_parquet(file, index=False)
    elif how == "no name":
        frame.assign(barcode=None).astype({"barcode": "string"}).to_parquet(file, index=False)


_BAD = ["truncated", "damaged within", "empty", "infinite", "no column", "another column", "text", "missing", "no name"]


@pytest.mark.parametrize("how", _BAD)
def test_bad_file_is_named_before_anything_is_written(big, how):
    damaged(big, how)
    said = refused("embed", "big", *PCA, "--missing", "error", "--id", "barcode", "--out", "mapped/")
    assert "part2.parquet" in said
    assert said.count("\n") == 0
    assert list(Path("mapped").iterdir()) == []


@pytest.mark.parametrize("command", [["embed", "big", *PCA], ["transform", "model.gramfold", "big"]])
def test_the_file_that_is_unlike_most_is_the_bad_one_also_if_it_is_the_first(big, command):
    gramfold.PCA(2).fit(rows()[list("abcde")]).save("model.gramfold")
    rows().iloc[:250].drop(columns="c").to_parquet(big / "part0.parquet", index=False)
    assert "part0.parquet' has no column 'c'" in refused(*command, "--out", "mapped/")
    said = json.loads(run(*command, "--out", "mapped/", "--on-bad-partition", "skip", "--json"))
    assert [one["file"] for one in said["skipped"]] == ["part0.parquet"]


@pytest.mark.parametrize("how", _BAD)
def test_bad_file_is_left_out_and_listed(big, how):
    damaged(big, how)
    command = ["embed", "big", *PCA, "--missing", "error", "--id", "barcode", "--on-bad-partition", "skip"]
    said = json.loads(run(*command, "--out", "mapped/", "--json"))
    (skipped,) = said["skipped"]
    assert skipped["file"] == "part2.parquet"
    assert sorted(file.name for file in Path("mapped").glob("*.parquet")) == [f"part{k}.parquet" for k in (0, 1, 3)]
    rest = rows().drop(index=range(250, 520))[list("abcde")].to_numpy()
    model = gramfold.load("mapped/_model.gramfold")
    assert model[-1].model_.drawn.n_rows == len(rest)
    assert json.loads(run(*command, "--out", "mapped/", "--json"))["skipped"] == [skipped]


@pytest.mark.parametrize("how", ["truncated", "damaged within", "infinite", "no column", "text", "missing"])
def test_transform_of_a_bad_file(big, how):
    gramfold.PCA(2).fit(rows()[list("abcde")]).save("model.gramfold")
    damaged(big, how)
    command = ["transform", "model.gramfold", "big", "--out", "placed/"]
    assert "part2.parquet" in refused(*command)
    assert not Path("placed/part2.parquet").exists()
    assert "skipped   part2.parquet" in run(*command, "--on-bad-partition", "skip")
    save(rows(), big)
    before = {file.name: file.stat().st_mtime_ns for file in Path("placed").glob("*.parquet")}
    assert "part2.parquet" not in before
    # the others were written for files that are other ones now
    assert "has changed since" in refused(*command)
    run(*command, "--restart")
    assert len(places("placed")) == 600


# ------------------------------------------------------------------ going on
def test_a_finished_run_does_nothing(big):
    run("embed", "big", *PCA, "--out", "mapped/")
    before = {file.name: file.stat().st_mtime_ns for file in Path("mapped").glob("*.parquet")}
    assert "resumed   4 of 4 files" in run("embed", "big", *PCA[:4], "--out", "mapped/")
    assert before == {file.name: file.stat().st_mtime_ns for file in Path("mapped").glob("*.parquet")}


def test_what_is_lost_is_written_again(big):
    run("embed", "big", *PCA, "--out", "mapped/")
    whole = {file.name: file.read_bytes() for file in Path("mapped").iterdir()}
    Path("mapped/part0.parquet").unlink()
    half = Path("mapped/part2.parquet")
    half.write_bytes(half.read_bytes()[:-1] + b"?")  # of the same size
    ledger = Path("mapped/_ledger.jsonl")
    ledger.write_bytes(ledger.read_bytes()[:-20])  # the last line was cut off
    assert "resumed   1 of 4 files" in run("embed", "big", *PCA[:4], "--out", "mapped/")
    assert whole == {file.name: file.read_bytes() for file in Path("mapped").iterdir()}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (["-m", "pca", "-d", "3"], "was begun with --dim 2, and this command is with --dim 3"),
        ([*PCA, "--scale", "none"], "was begun with --scale auto, and this command is with --scale none"),
        ([*PCA, "--keep", "town"], "was begun without --keep, and this command is with --keep town"),
        ([*PCA, "--set", "whiten=True"], "was begun without --set, and this command is with --set whiten=True"),
    ],
)
def test_other_parameters_are_refused(big, other, said):
    run("embed", "big", *PCA, "--out", "mapped/")
    refusal = refused("embed", "big", *other, "--out", "mapped/")
    assert said in refusal
    assert "--restart" in refusal
    run("embed", "big", *other, "--out", "mapped/", "--restart")


def test_another_version_is_refused(big, monkeypatch):
    run("embed", "big", *PCA, "--out", "mapped/")
    monkeypatch.setattr("gramfold.__version__", "9.9")
    assert "with gramfold 0.1.0, and this command is with gramfold 9.9" in refused(
        "embed", "big", *PCA, "--out", "mapped/"
    )


def test_changed_inputs_are_refused(big):
    run("embed", "big", *PCA, "--out", "mapped/")
    os.utime(big / "part3.parquet", ns=(1, 1))
    said = refused("embed", "big", *PCA, "--out", "mapped/")
    assert "part3.parquet' has changed since" in said
    (big / "part3.parquet").unlink()
    assert "was begun with a file 'part3.parquet' that is not there" in refused(
        "embed", "big", *PCA, "--out", "mapped/"
    )
    shutil.copy(big / "part0.parquet", big / "part3.parquet")
    shutil.copy(big / "part0.parquet", big / "part9.parquet")
    assert "was begun without" in refused("embed", "big", *PCA, "--out", "mapped/")


def test_a_damaged_ledger_is_named_and_restarted(big):
    run("embed", "big", *PCA, "--out", "mapped/")
    whole = {file.name: file.read_bytes() for file in Path("mapped").iterdir()}
    Path("mapped/_ledger.jsonl").write_text("{")
    assert "_ledger.jsonl' is damaged" in refused("embed", "big", *PCA, "--out", "mapped/")
    run("embed", "big", *PCA, "--out", "mapped/", "--restart")
    assert whole == {file.name: file.read_bytes() for file in Path("mapped").iterdir()}


def test_a_file_that_is_changed_after_it_was_fitted_is_not_written(big, monkeypatch):
    from gramfold.io import model_file

    save_model = model_file.save

    def changed(model, path):
        save_model(model, path)
        os.utime(big / "part2.parquet", ns=(1, 1))

    monkeypatch.setattr(model_file, "save", changed)
    assert "was changed while it was read" in refused("embed", "big", *PCA, "--out", "mapped/")
    monkeypatch.undo()
    monkeypatch.chdir(big.parent)
    assert "part2.parquet' has changed since" in refused("embed", "big", *PCA, "--out", "mapped/")


def test_another_model_is_refused_and_new_files_are_not(big):
    gramfold.PCA(2).fit(rows()[list("abcde")]).save("model.gramfold")
    run("transform", "model.gramfold", "big", "--out", "placed/")
    shutil.copy(big / "part0.parquet", big / "part9.parquet")
    assert "resumed   4 of 5 files" in run("transform", "model.gramfold", "big", "--out", "placed/")
    gramfold.PCA(3).fit(rows()[list("abcde")]).save("model.gramfold")
    assert "is not the model that" in refused("transform", "model.gramfold", "big", "--out", "placed/")


# ------------------------------------------------------------------ folders
def test_the_folder_of_the_input_is_refused(big):
    assert "is the folder of the input files" in refused("embed", "big/*.parquet", *PCA, "--out", "big/")


def test_two_files_of_one_name_are_refused(big):
    shutil.copytree(big, "other")
    said = refused("embed", "*/part0.parquet", *PCA, "--out", "mapped/")
    assert "have the same name" in said
    assert not Path("mapped").exists()


def test_a_file_that_gramfold_has_not_written_is_not_replaced(big):
    Path("mapped").mkdir()
    Path("mapped/part0.parquet").write_text("precious")
    assert "gramfold has not written it here" in refused("embed", "big", *PCA, "--out", "mapped/")
    assert Path("mapped/part0.parquet").read_text() == "precious"


@pytest.mark.parametrize("precious", ["text", "table", "map"])
def test_nor_is_one_in_a_folder_that_was_begun(big, precious):
    """Files are known by the ledger, or by the mark of the model that made them."""
    run("embed", "big", *PCA, "--out", "mapped/")
    ledger, taken = Path("mapped/_ledger.jsonl"), Path("mapped/part3.parquet")
    ledger.write_bytes(ledger.read_bytes()[:-20])  # the last line was cut off
    if precious == "text":
        taken.write_text("precious")
    elif precious == "table":
        rows().to_parquet(taken)
    else:
        run("embed", "big", "-m", "pca", "-d", "3", "-q", "--out", "other/")
        shutil.copy("other/part3.parquet", taken)
    content = taken.read_bytes()
    assert "part3.parquet' exists, and gramfold has not written it here" in refused(
        "embed", "big", *PCA, "--out", "mapped/"
    )
    assert taken.read_bytes() == content
    if precious != "map":
        assert "has not written it here" in refused("embed", "big", *PCA, "--out", "mapped/", "--restart")
        assert taken.read_bytes() == content


def test_folders_that_cannot_be_written(big):
    Path("file").write_text("")
    assert "is a file" in refused("embed", "big", *PCA, "--out", "file/")
    assert "there is no folder" in refused("embed", "big", *PCA, "--out", "no/such/")


def test_no_rows_at_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(rows().iloc[:0], tmp_path / "big", cuts=(0, 0, 0))
    assert "no rows" in refused("embed", "big", *PCA, "--out", "mapped/").lower()


def test_a_full_disk_leaves_whole_files_and_goes_on(big, monkeypatch):
    from gramfold.distributed import mapping

    run("embed", "big", *PCA, "--out", "whole/")
    written, calls = mapping.Job.written, []

    def full(job, file, **told):
        calls.append(file)
        if len(calls) == 3:
            raise gramfold.errors.InputError(
                "'mapped' could not be written (No space left on device): free disk space."
            )
        return written(job, file, **told)

    monkeypatch.setattr(mapping.Job, "written", full)
    assert "2 of 4 files; the same command goes on" in refused("embed", "big", *PCA, "--out", "mapped/")
    monkeypatch.setattr(mapping.Job, "written", written)
    run("embed", "big", *PCA, "--out", "mapped/")
    assert {one.name: one.read_bytes() for one in Path("whole").iterdir()} == {
        one.name: one.read_bytes() for one in Path("mapped").iterdir()
    }


def test_a_file_that_is_changed_while_it_is_read(big, monkeypatch):
    from gramfold.distributed import files

    batches = files.InputFile.batches

    def changed(file, *arguments):
        for number, table in enumerate(batches(file, *arguments)):
            if number == 0:
                os.utime(file.path, ns=(1, 1))
            yield table

    monkeypatch.setattr(files.InputFile, "batches", changed)
    assert "was changed while it was read" in refused("embed", "big", *PCA, "--out", "mapped/")
    assert list(Path("mapped").iterdir()) == []


def test_columns_in_another_order_are_found_by_name(big):
    run("embed", "big", *PCA, "--out", "one/")
    table = pq.read_table(big / "part2.parquet")
    pq.write_table(table.select(table.column_names[::-1]), big / "part2.parquet")
    run("embed", "big", *PCA, "--out", "other/")
    np.testing.assert_allclose(places("one"), places("other"), atol=1e-12)


def test_a_kept_column_has_one_type_in_all_files(big):
    table = pq.read_table(big / "part2.parquet")
    place = table.column_names.index("town")
    pq.write_table(table.set_column(place, "town", pa.nulls(len(table))), big / "part2.parquet")
    run("embed", "big", *PCA, "--keep", "town", "--out", "mapped/")
    assert len({pq.read_schema(file).field("town").type for file in Path("mapped").glob("*.parquet")}) == 1


def test_a_column_without_any_value_in_one_file_is_one_of_gaps(big):
    frame = rows().assign(c=np.r_[rows().c[:250], np.full(270, np.nan), rows().c[520:]])
    save(frame, big)
    table = pq.read_table(big / "part2.parquet")
    pq.write_table(table.set_column(2, "c", pa.nulls(len(table))), big / "part2.parquet")
    run("embed", "big", *PCA, "--missing", "mean", "--out", "one/")
    save(frame, big)
    run("embed", "big", *PCA, "--missing", "mean", "--out", "other/")
    np.testing.assert_allclose(places("one"), places("other"), atol=1e-12)


# ------------------------------------------------------------------ on a cluster
@pytest.fixture
def scheduler(cluster):
    return cluster.scheduler.address


def test_a_cluster_writes_the_same_map(big, scheduler):
    said = ("embed", "big", *PCA, "--scale", "standard", "--id", "barcode")
    run(*said, "--out", "here/")
    run(*said, "--out", "there/", "--scheduler", scheduler)
    np.testing.assert_allclose(places("there"), places("here"), atol=1e-9)
    assert pd.read_parquet("there").barcode.tolist() == rows().barcode.tolist()
    whole = {one.name: one.read_bytes() for one in Path("there").iterdir()}
    shutil.rmtree("there")
    run(*said, "--out", "there/", "--scheduler", scheduler)
    assert whole == {one.name: one.read_bytes() for one in Path("there").iterdir()}, "another run, another order"


def test_a_run_on_a_cluster_goes_on_here(big, scheduler):
    run("embed", "big", *PCA, "--out", "mapped/", "--scheduler", scheduler)
    whole = {one.name: one.read_bytes() for one in Path("mapped").iterdir()}
    Path("mapped/part2.parquet").unlink()
    run("embed", "big", *PCA, "--out", "mapped/")
    np.testing.assert_allclose(places("mapped"), places("mapped"))
    assert whole["_ledger.jsonl"] == Path("mapped/_ledger.jsonl").read_bytes()
    assert whole["_model.gramfold"] == Path("mapped/_model.gramfold").read_bytes()


@pytest.mark.parametrize("how", ["damaged within", "missing", "no column"])
def test_a_cluster_names_the_bad_file(big, scheduler, how):
    damaged(big, how)
    said = ("embed", "big", *PCA, "--missing", "error", "--out", "mapped/", "--scheduler", scheduler)
    assert "part2.parquet" in refused(*said)
    assert list(Path("mapped").iterdir()) == []
    found = json.loads(run(*said, "--on-bad-partition", "skip", "--json"))
    assert [one["file"] for one in found["skipped"]] == ["part2.parquet"]


def test_transform_on_a_cluster(big, scheduler):
    gramfold.PCA(2).fit(rows()[list("abcde")]).save("model.gramfold")
    run("transform", "model.gramfold", "big", "--out", "here/")
    run("transform", "model.gramfold", "big", "--out", "there/", "--scheduler", scheduler)
    assert {one.name: one.read_bytes() for one in Path("here").iterdir()} == {
        one.name: one.read_bytes() for one in Path("there").iterdir()
    }


def test_a_worker_that_does_not_see_the_files_is_named(big, cluster):
    from gramfold.distributed.cluster import require_paths

    with pytest.raises(gramfold.errors.InputError, match=r"worker at tcp.* does not see .*hidden"):
        require_paths(cluster, [big, big.parent / "hidden"])


def test_a_worker_with_another_gramfold_is_named(big, scheduler, monkeypatch):
    monkeypatch.setattr("gramfold.__version__", "9.9")
    said = refused("embed", "big", *PCA, "--out", "mapped/", "--scheduler", scheduler)
    assert "has gramfold 0.1.0, and this is gramfold 9.9" in said


def test_interrupted_tasks_are_cancelled_on_the_cluster(big, cluster, scheduler, monkeypatch):
    from gramfold.distributed.ledger import Ledger

    def stopped(ledger, line):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "add", stopped)
    result = CliRunner().invoke(main, ["embed", "big", *PCA, "--out", "mapped/", "--scheduler", scheduler])
    assert result.exit_code == 130
    held = cluster.run_on_scheduler(lambda dask_scheduler: [key for key in dask_scheduler.tasks if "files" in str(key)])
    assert held == []
