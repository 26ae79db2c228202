"""Bad input gets one sentence, the right exit code, and nothing half-written."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ropewalk.cli.main import main
from ropewalk.tables.session import Session
from waiting import wait_until

GRID = ["generate", "grid", "--set", "fig6", "--out"]


@pytest.fixture(scope="module")
def universe(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "universe"
    assert main([*GRID, str(path)]) == 0
    return path


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], elsewhere: Path):
    """Run a command line that must fail: its exit code, and its one sentence."""

    def run(*arguments: str) -> tuple[int, str]:
        before = sorted(str(path) for path in elsewhere.rglob("*"))
        code = main(list(arguments))
        out, err = capsys.readouterr()
        errors = [line for line in err.splitlines() if line.startswith("ropewalk: error: ")]
        assert out == ""
        assert len(errors) == 1, err
        assert "Traceback" not in err
        assert sorted(str(path) for path in elsewhere.rglob("*")) == before, "something was left behind"
        return code, errors[0].removeprefix("ropewalk: error: ")

    return run


def test_an_unknown_verb(refused) -> None:
    code, said = refused("dance")
    assert (code, said) == (2, "verb 'dance' is not known; choose one of: demo, doctor, generate, simulate.")


def test_an_unknown_model(refused) -> None:
    assert refused("generate", "ring", "--out", "x") == (2, "model 'ring' is not known; choose one of: grid.")


def test_an_unknown_set(refused) -> None:
    code, said = refused("generate", "grid", "--set", "Z", "--out", "x")
    assert code == 2
    assert "'Z' is not one of" in said


def test_an_unknown_protocol(refused, universe: Path) -> None:
    code, said = refused("simulate", "gossip", str(universe))
    assert (code, said) == (2, "protocol 'gossip' is not known; choose one of: stan.")


def test_an_engine_that_cannot_run_it(refused, universe: Path) -> None:
    code, said = refused("simulate", "stan", str(universe), "--engine", "steam")
    assert (code, said) == (2, "engine 'steam' cannot run stan; choose one of: batch.")


@pytest.mark.parametrize(("option", "size"), [("--nodes", "-5"), ("--topics", "0")])
def test_a_size_below_one(refused, option: str, size: str) -> None:
    code, said = refused("generate", "grid", option, size, "--out", "x")
    assert (code, said) == (2, f"{option[2:]} is {size}, but a grid needs at least 1.")


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--rounds", "-1", "rounds is -1, but must be 0 or more."),
        ("--ttl", "999", "ttl is 999, but must be from 0 to 255: a walk visits ttl + 1 nodes."),
        ("--connectivity", "1.5", "connectivity is 1.5, but must be a probability between 0 and 1."),
        ("--keep", "rounds,everything", "--keep names 'everything', but can only name: rounds, links, connections."),
    ],
)
def test_an_impossible_setting(refused, universe: Path, option: str, value: str, sentence: str) -> None:
    assert refused("simulate", "stan", str(universe), option, value) == (2, sentence)


def test_a_folder_that_is_not_there(refused) -> None:
    code, said = refused("simulate", "stan", "nowhere")
    assert code == 3
    assert said.startswith("nowhere is not a folder")


def test_a_folder_without_a_manifest(refused, elsewhere: Path) -> None:
    (elsewhere / "empty").mkdir()
    code, said = refused("simulate", "stan", "empty")
    assert code == 3
    assert "has no manifest.json, so it is not a store" in said


def test_a_folder_without_the_table(refused, universe: Path, elsewhere: Path) -> None:
    shutil.copytree(universe, elsewhere / "copy")
    shutil.rmtree(elsewhere / "copy" / "subscriptions")
    code, said = refused("simulate", "stan", "copy")
    assert code == 3
    assert said.startswith("copy has no table 'subscriptions'; it holds: ")


def test_a_table_without_a_column(refused, spark: Session, universe: Path, elsewhere: Path) -> None:
    shutil.copytree(universe, elsewhere / "copy")
    short = spark.read.parquet(str(universe / "subscriptions")).drop("topic")
    short.write.mode("overwrite").parquet(str(elsewhere / "copy" / "subscriptions"))
    code, said = refused("simulate", "stan", "copy", "--out", "run")
    assert code == 3
    assert "no column ['topic']; it has ['node']" in said


def test_a_table_that_was_cut_short(refused, universe: Path, elsewhere: Path) -> None:
    shutil.copytree(universe, elsewhere / "copy")
    for file in (elsewhere / "copy" / "subscriptions").glob("*.parquet"):
        file.write_bytes(file.read_bytes()[:100])
    code, _ = refused("simulate", "stan", "copy", "--out", "run")
    assert code == 3


def test_an_output_that_cannot_be_written(refused, elsewhere: Path) -> None:
    (elsewhere / "file").write_text("in the way")
    code, said = refused(*GRID, "file/out")
    assert code == 2
    assert "cannot be written (" in said


def test_an_output_that_is_taken(refused, universe: Path) -> None:
    code, said = refused(*GRID, str(universe))
    assert code == 2
    assert said.endswith("already holds a store; choose another output folder or pass --overwrite.")


def test_an_output_that_is_the_users(refused, elsewhere: Path) -> None:
    (elsewhere / "mine").mkdir()
    (elsewhere / "mine" / "notes.txt").write_text("keep me")
    code, said = refused(*GRID, "mine", "--overwrite")
    assert code == 2
    assert "is not a store of ours, so it is left alone" in said


def test_a_report_that_cannot_be_written(refused, universe: Path, elsewhere: Path) -> None:
    (elsewhere / "file").write_text("in the way")
    code, said = refused("simulate", "stan", str(universe), "--out", "run", "--report", "file/page.html")
    assert code == 2
    assert "cannot be written (" in said


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str], elsewhere: Path) -> None:
    assert main(["simulate", "stan", "nowhere", "--debug"]) == 3
    assert "Traceback" in capsys.readouterr().err


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_half_way(elsewhere: Path, sent: signal.Signals, code: int) -> None:
    """A real process, a real Spark job under way, a real signal: nothing is left, no process stays."""
    command = [sys.executable, "-m", "ropewalk", "generate", "grid", "--nodes", "2000000", "--topics", "2000"]
    said = []
    with subprocess.Popen(
        [*command, "--out", "universe"], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        assert child.stderr is not None
        for line in child.stderr:
            said.append(line)
            if line.startswith("ropewalk: generate grid ..."):
                os.killpg(child.pid, sent)  # as a terminal does: the whole group
    assert child.returncode == code, said
    assert not [line for line in said if "Traceback" in line], said
    word = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[sent]
    assert said[-1] == f"ropewalk: {word}: nothing half-written was left behind.\n"
    assert list(elsewhere.iterdir()) == []
    assert wait_until(lambda: not group_lives(child.pid)), "a process stayed"
