"""The command line on files that are larger than memory: judged by rows that are drawn; options, and refusals."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from gramfold.cli import main
from gramfold.cli.partition_options import limit_of
from gramfold.datasets import make_swiss_roll

N = 600


@pytest.fixture
def big(tmp_path, monkeypatch):
    """Three files of a roll, and two of its map, cut elsewhere."""
    monkeypatch.chdir(tmp_path)
    roll = make_swiss_roll(N, random_state=0)
    frame = pd.DataFrame(roll.points, columns=["x", "y", "z"]).assign(barcode=np.arange(N) * 3 % 601, town="Ulm")
    places = pd.DataFrame(roll.truth, columns=["isomap0", "isomap1"]).assign(barcode=frame.barcode, number=np.arange(N))
    for folder, table, cuts in (("big", frame, [170, 450]), ("mapped", places, [300])):
        Path(folder).mkdir()
        for number, rows in enumerate(np.split(np.arange(N), cuts)):
            table.iloc[rows].to_parquet(f"{folder}/part{number}.parquet", index=False)
    places.to_parquet("map.parquet", index=False)
    return frame, places


def run(*words):
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words):
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 2, result.output
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.mark.parametrize("placed", ["mapped", "map.parquet"])
def test_drawn_rows_are_judged_as_all_rows_are(big, placed):
    """Fewer rows than are drawn: all of them, so that the numbers are those of tables that are read whole."""
    words = ("judge", "big", placed, "--id", "barcode", "--scale", "none", "--json")
    whole, drawn = json.loads(run(*words)), json.loads(run(*words, "--memory-limit", "1KB"))
    assert drawn["coordinates"] == whole["coordinates"] == ["isomap0", "isomap1"]
    assert drawn["decisions"][0].startswith("drawn: 600 of 600 rows")
    for name in ("trustworthiness", "continuity", "stress"):
        assert drawn["measures"][name]["value"] == pytest.approx(whole["measures"][name]["value"], rel=1e-9)


def test_the_same_rows_are_drawn_of_both(big, monkeypatch):
    monkeypatch.setattr("gramfold.diagnostics.partitions.MOST", 400)
    words = ("judge", "big", "mapped", "--id", "barcode", "--scale", "none", "--memory-limit", "1KB", "--json")
    found = json.loads(run(*words))
    assert found["rows"] == 400
    # were the rows of the map others than those of the table, it would be a map of nothing
    assert found["measures"]["trustworthiness"]["value"] > 0.98
    shifted = pd.read_parquet("mapped")
    shifted[["isomap0", "isomap1"]] = np.roll(shifted[["isomap0", "isomap1"]].to_numpy(), 300, axis=0)
    shifted.to_parquet("shifted.parquet", index=False)
    assert json.loads(run(*words[:2], "shifted.parquet", *words[3:]))["measures"]["trustworthiness"]["value"] < 0.7


@pytest.mark.parametrize("kind", [int, str])
def test_drawn_rows_are_found_by_their_ids_in_another_order(big, monkeypatch, kind):
    _, places = big
    monkeypatch.setattr("gramfold.diagnostics.partitions.MOST", 400)
    shuffled = places.sample(frac=1, random_state=1).astype({"barcode": kind})
    more = shuffled.iloc[:50].assign(barcode=[kind(7000 + i) for i in range(50)])  # rows that the table does not have
    for name, table in (("order", shuffled), ("more", pd.concat([shuffled, more]))):
        table.assign(number=np.arange(len(table))).to_parquet(f"{name}.parquet", index=False)
    words = ("--id", "barcode", "--scale", "none", "--memory-limit", "1KB", "--json")
    same, *others = (json.loads(run("judge", "big", x, *words)) for x in ("mapped", "order.parquet", "more.parquet"))
    for other in others:
        assert other["coordinates"] == ["isomap0", "isomap1"]
        assert other["measures"] == same["measures"]


def test_dimension_of_drawn_rows(big):
    said = run("dimension", "big", "--memory-limit", "1KB", "--skip", "barcode")
    assert "drawn     600 of 600 rows" in said
    assert said.splitlines()[2:] != []
    whole = run("dimension", "big", "--skip", "barcode")
    assert [one for one in said.splitlines() if "two_nn" in one] == [
        one for one in whole.splitlines() if "two_nn" in one
    ]


@pytest.mark.parametrize(
    "words", [("judge", "big", "mapped", "--id", "barcode"), ("dimension", "big"), ("compare", "big")]
)
def test_rows_are_drawn_of_many_files_whatever_the_limit(big, monkeypatch, words):
    """But of few rows nothing is gained."""
    monkeypatch.setattr("gramfold.diagnostics.partitions.MOST", 400)
    words = [*words, *(["--methods", "pca", "--map", "flat=map.parquet"] if words[0] == "compare" else [])]
    assert "400 of 600 rows" in run(*words)
    monkeypatch.setattr("gramfold.diagnostics.partitions.MOST", N)
    assert f"{N} of {N} rows" not in run(*words)


def test_rows_are_drawn_of_one_file_that_has_many(big, monkeypatch):
    monkeypatch.setattr("gramfold.diagnostics.partitions.MOST", 400)
    assert "400 of 600 rows" not in run("dimension", "map.parquet")
    monkeypatch.setattr("gramfold.cli.partition_judging._MANY", 500)
    assert "400 of 600 rows" in run("dimension", "map.parquet")


def test_all_rows_are_read_where_each_is_asked_for(big, monkeypatch):
    monkeypatch.setattr("gramfold.diagnostics.partitions.MOST", 400)
    run("judge", "big", "mapped", "--id", "barcode", "--out", "faults.csv")
    assert len(pd.read_csv("faults.csv")) == N


def test_a_finished_map_is_compared_by_the_same_rows(big, monkeypatch):
    monkeypatch.setattr("gramfold.diagnostics.partitions.MOST", 400)
    words = ("--id", "barcode", "--scale", "none")
    run("compare", "big", "--map", "flat=mapped", *words, "--out", "drawn.csv")
    said = json.loads(run("judge", "big", "mapped", *words, "--json"))["measures"]
    told = pd.read_csv("drawn.csv").iloc[0]
    for name in ("trustworthiness", "continuity"):
        assert told[name] == pytest.approx(said[name]["value"], rel=1e-6)


def test_what_drawn_rows_cannot_be_judged_by(big):
    _, places = big
    limit = ("--memory-limit", "1KB")
    assert "--report is of all rows" in refused("judge", "big", "mapped", *limit, "--report", "page.html")
    assert "--metric gower" in refused("judge", "big", "mapped", *limit, "--metric", "gower")
    places.iloc[:-1].to_parquet("short.parquet", index=False)
    assert "has 600 rows and 'short.parquet' has 599" in refused("judge", "big", "short.parquet", *limit)
    assert "no row with '" in refused("judge", "big", "short.parquet", "--id", "barcode", *limit)
    pd.concat([places, places.iloc[:1]]).to_parquet("double.parquet", index=False)
    assert "2 rows with '" in refused("judge", "big", "double.parquet", "--id", "barcode", *limit)
    places.to_csv("map.csv", index=False)
    assert "save it as Parquet" in refused("judge", "big", "map.csv", *limit)
    assert "--map-columns" in refused("judge", "big", "big", "--id", "barcode", *limit)
    assert "is no size" in refused("judge", "big", "mapped", "--memory-limit", "much")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--picture", "map.png"], "--picture is for rows in memory"),
        (["--labels", "town", "-m", "lpp"], "--labels is for rows in memory"),
        (["--metric", "gower"], "--metric gower does not read rows in partitions"),
        (["-m", "lle"], "LLE is not fitted to rows in partitions"),
        (["--id", "nothing"], "no column 'nothing'"),
        (["--keep", "nothing"], "no column 'nothing'"),
        (["--columns", "x,nothing"], "no column 'nothing'"),
        (["--memory-limit", "much"], "is no size"),
        (["--scheduler", "tcp://127.0.0.1:1"], "no scheduler of Dask answers at tcp://127.0.0.1:1"),
    ],
)
def test_what_rows_in_partitions_do_not_have(big, monkeypatch, words, said):
    monkeypatch.setattr("gramfold.distributed.cluster._SECONDS", 0.5)
    assert said in refused("embed", "big", "-q", *words, "--out", "out/")
    assert not list(Path("out").glob("*")) if Path("out").exists() else True


@pytest.mark.parametrize(
    "address", ["", "foo", "http://127.0.0.1:8786", "127.0.0.1", "tcp://10.0.0.5:99999", "tcp://:8786"]
)
def test_what_is_no_address_is_refused_before_anything_is_connected_to(big, address):
    assert f"'{address}' is no address of a scheduler" in refused("embed", "big", "--scheduler", address, "-o", "out/")
    assert not Path("out").exists()


def test_what_does_not_answer_is_waited_for_no_longer_than_it_says(big, monkeypatch):
    """Something that accepts the connection, and says nothing: a Client waits for it for ever."""
    monkeypatch.setattr("gramfold.distributed.cluster._SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        said = refused("embed", "big", "-m", "pca", "--scheduler", address, "--out", "out/")
    assert f"no scheduler of Dask answers at {address}" in said


def test_a_scheduler_that_is_lost_is_one_sentence_for_a_shell(caplog):
    from dask import delayed
    from distributed import LocalCluster

    from gramfold.distributed.cluster import connected
    from gramfold.distributed.running import computed
    from gramfold.errors import ClusterError

    def lose():
        with connected(cluster.scheduler_address) as client:
            caplog.clear()
            cluster.close()
            computed([delayed(abs)(1)], "abs", client)

    cluster = LocalCluster(n_workers=0, processes=False, dashboard_address=":0", protocol="tcp://")
    with pytest.raises(ClusterError, match=r"start it and run the same command again\.$"):
        lose()
    assert not [one for one in caplog.records if one.name.startswith("distributed")]


def test_options_of_partitions_are_refused_elsewhere(big):
    frame, _ = big
    frame.to_csv("cells.csv", index=False)
    assert "--memory-limit is for Parquet files" in refused("embed", "cells.csv", "--memory-limit", "1GB", "-q")
    assert "--restart is for Parquet files" in refused("embed", "cells.csv", "--restart", "--out", "map.csv")
    assert "name a folder" in refused("embed", "big", "--memory-limit", "1GB", "--out", "map.csv")


def test_folders_where_a_file_is_meant(big):
    run("embed", "big", "-m", "pca", "-d", "2", "-q", "--out", "out/")
    model = Path("out/_model.gramfold")
    assert f"pass its model, '{model}'" in refused("info", "out/")
    assert f"pass its model, '{model}'" in refused("transform", "out/", "big", "--out", "placed/")
    assert "`gramfold cluster` writes one file and no partitions" in refused("cluster", "big", "--out", "cl/")
    assert "`gramfold inverse` writes one file and no partitions" in refused("inverse", model, "out", "--out", "inv/")
    run("inverse", model, "out", "--out", "rows.parquet", "-q")
    assert len(pd.read_parquet("rows.parquet")) == N


def test_advice_leaves_out_the_dates_that_embed_leaves_out(big):
    frame, _ = big
    dated = frame.assign(day=pd.Timestamp("2000-01-01") + pd.to_timedelta(np.arange(N) % 9, unit="D"))
    dated.to_parquet("dated.parquet", index=False)
    said = run("advise", "dated.parquet", "--skip", "barcode")
    assert "column 'day': it holds dates or times" in said
    assert "Isomap" in said
    assert "--skip barcode,town,day" in said
    assert "not numeric" in refused("advise", "dated.parquet", "--columns", "x,y,day")


def test_a_link_to_nothing_is_named_without_talk_of_machines(big):
    Path("big/part9.parquet").symlink_to("nowhere")
    said = refused("embed", "big", "-m", "pca", "-q", "--out", "out/")
    assert "part9.parquet" in said
    assert "machines" not in said


def test_a_name_with_an_ending_and_a_slash_is_a_folder(big):
    run("embed", "big", "-m", "pca", "-d", "2", "-q", "--out", "mapped.v2/")
    assert len(list(Path("mapped.v2").glob("*.parquet"))) == 3


def test_a_table_that_fits_is_read_whole_into_one_file(big):
    run("embed", "big", "-m", "pca", "-d", "2", "-q", "--skip", "barcode", "--out", "one.parquet")
    assert len(pd.read_parquet("one.parquet")) == N


def test_memory_limit_is_a_power_of_two_by_default():
    """So that a run that goes on a minute later, with a little more free memory, reads the same batches."""
    limit = limit_of(None)
    assert limit == 2 ** round(np.log2(limit))
    assert limit_of("2GB") == 2e9


def test_dask_is_not_loaded_where_files_are_streamed(big):
    code = (
        "import sys\nfrom click.testing import CliRunner\nfrom gramfold.cli import main\n"
        "found = CliRunner().invoke(main, 'embed big -m pca -q --out out/'.split())\n"
        "assert not found.exit_code, found.output\nsys.exit('dask' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_interrupt_says_what_is_kept(big, monkeypatch):
    from gramfold.distributed import mapping

    written = mapping.Job.written
    monkeypatch.setattr(
        mapping.Job,
        "written",
        lambda job, file, **told: interrupt() if "part1" in file.name else written(job, file, **told),
    )

    def interrupt():
        raise KeyboardInterrupt

    result = CliRunner().invoke(main, ["embed", "big", "-m", "pca", "-q", "--out", "out/"])
    assert result.exit_code == 130
    assert "(1 of 3 files; the same command goes on) is written and kept" in result.stderr


@pytest.mark.parametrize("stopped", [0, 2])
def test_interrupt_while_a_file_is_written(big, monkeypatch, stopped):
    """What writes it is closed before its stream, else Python reports an exception that nobody can catch."""
    from gramfold.cli.partition_places import Placer

    monkeypatch.setattr("gramfold.cli.partition_writing._MOST_ROWS", 64)
    place, calls = Placer.place, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) > stopped:
            raise KeyboardInterrupt
        return place(*arguments)

    monkeypatch.setattr(Placer, "place", interrupted)
    result = CliRunner().invoke(main, ["embed", "big", "-m", "pca", "-q", "--out", "out/"])
    assert result.exit_code == 130
    assert "(0 of 3 files; the same command goes on) is written and kept" in result.stderr
    assert sorted(path.name for path in Path("out").iterdir()) == ["_ledger.jsonl", "_model.gramfold"]


def test_progress_tells_batches_and_files(big, monkeypatch):
    """What a terminal is shown: how many files, and how many batches of each."""
    from gramfold.runtime.progress import Stages

    told = []
    monkeypatch.setattr("gramfold.cli.partition_writing._MOST_ROWS", 64)
    monkeypatch.setattr("gramfold.runtime.progress._PAUSE", 0)
    stages = Stages(0, "transform", lambda *step: told.append(step))
    monkeypatch.setattr("gramfold.cli.partition_transforming.stages_of", lambda *_: stages)
    run("embed", "big", "-m", "pca", "-q", "--out", "mapped2/")
    run("transform", "mapped2/_model.gramfold", "big", "-q", "--out", "placed/")
    assert ("write: files", 2, 3) in told
    assert ("write: files: part1.parquet", 3, 5) in told
