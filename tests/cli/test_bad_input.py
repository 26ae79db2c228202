"""Bad input gets one sentence, the right exit code, and nothing half-written."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from ropewalk.cli.main import VERBS, main
from ropewalk.tables.session import Session
from ropewalk.workloads.catalogue import MODELS
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
    assert (code, said) == (2, f"verb 'dance' is not known; choose one of: {', '.join(sorted(VERBS))}.")


def test_an_unknown_model(refused) -> None:
    assert refused("generate", "ring", "--out", "x") == (
        2,
        f"model 'ring' is not known; choose one of: {', '.join(sorted(MODELS))}.",
    )


def test_an_unknown_set(refused) -> None:
    code, said = refused("generate", "grid", "--set", "Z", "--out", "x")
    assert code == 2
    assert "'Z' is not one of" in said


def test_an_unknown_protocol(refused, universe: Path) -> None:
    code, said = refused("simulate", "gossip", str(universe))
    assert (code, said) == (
        2,
        "protocol 'gossip' is not known; choose one of: stan, flood, gossipsub, magnet, scribe, kato.",
    )


def test_an_engine_that_cannot_run_it(refused, universe: Path) -> None:
    code, said = refused("simulate", "stan", str(universe), "--engine", "steam")
    assert (code, said) == (2, "engine 'steam' cannot run stan; say --engine batch or sim.")


@pytest.mark.parametrize("master", ["localhost", "spark://head", "local[0]"])
def test_a_place_where_spark_cannot_run(refused, universe: Path, master: str) -> None:
    code, said = refused("simulate", "stan", str(universe), "--master", master)
    assert (code, said.partition(";")[0]) == (2, f"--master is {master!r}, where Spark cannot run")


@pytest.mark.parametrize(("option", "size"), [("--nodes", "-5"), ("--topics", "0")])
def test_a_size_below_one(refused, option: str, size: str) -> None:
    code, said = refused("generate", "grid", option, size, "--out", "x")
    assert (code, said) == (2, f"{option[2:]} is {size}, but must be from 1 to 10000000.")


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--rounds", "-1", "rounds is -1, but must be 0 or more."),
        ("--ttl", "999", "ttl is 999, but must be from 0 to 255: a walk visits ttl + 1 nodes."),
        ("--connectivity", "1.5", "connectivity is 1.5, but must be a probability between 0 and 1."),
        ("--out", "{universe}", "{universe} already holds a store; choose another output folder or pass --overwrite."),
        (
            "--keep",
            "rounds,everything",
            "--keep names 'everything', but can only name: rounds, traffic, crashes, links, connections.",
        ),
    ],
)
def test_an_impossible_setting(refused, universe: Path, option: str, value: str, sentence: str) -> None:
    value, sentence = value.format(universe=universe), sentence.format(universe=universe)
    assert refused("simulate", "stan", str(universe), option, value) == (2, sentence)


@pytest.mark.parametrize(
    ("told", "idle"),
    [("--loss 0.1", "--loss"), ("--rounds 9", "--rounds"), ("--snoop", "--snoop"), ("--keep rounds",) * 2],
)
def test_who_knows_everything_does_not_walk(refused, universe: Path, told: str, idle: str) -> None:
    answer = refused("simulate", "stan", str(universe), "--knowledge", "everything", *told.split())
    assert answer == (2, f"{idle} plays no part with --knowledge everything: nobody walks; drop one.")


@pytest.mark.parametrize(
    "told", ["--weight pair", "--fanout two-way", "--learn", "--collect visited", "--knowledge everything"]
)
def test_strict_is_the_protocol_as_printed(refused, universe: Path, told: str) -> None:
    code, said = refused("simulate", "stan", str(universe), "--strict", *told.split())
    assert code == 2
    assert said.startswith(f"--strict allows no {told.split(maxsplit=1)[0]}")
    assert said.endswith("that is not the printed protocol; drop one.")


def test_a_slowest_period_of_a_period_that_never_changes(refused, universe: Path) -> None:
    answer = refused("simulate", "stan", str(universe), "--slowest", "4")
    assert answer == (2, "--slowest plays no part without --adaptive; add it, or drop --slowest.")


@pytest.mark.parametrize(
    "defaults", [{"connectivity": 7}, {"connectivity": "high"}, {"overlay": "ring"}, {"overlay": ["fixed"]}]
)
def test_a_manifest_with_unusable_defaults(refused, universe: Path, elsewhere: Path, defaults: dict) -> None:
    shutil.copytree(universe, elsewhere / "copy")
    file = elsewhere / "copy" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"defaults": defaults}))
    code, said = refused("simulate", "stan", "copy")
    assert code == 3
    assert said.startswith("copy/manifest.json has unusable defaults: ")


def test_a_run_does_not_replace_its_universe(refused, universe: Path) -> None:
    code, said = refused("simulate", "stan", str(universe), "--out", str(universe), "--overwrite")
    assert code == 2
    assert said.endswith(
        "holds what `generate grid` made, which `simulate stan` does not replace; choose another output folder."
    )


def test_a_report_over_a_folder(refused, universe: Path, elsewhere: Path) -> None:
    (elsewhere / "folder").mkdir()
    code, said = refused("simulate", "stan", str(universe), "--report", "folder")
    assert code == 2
    assert said == "folder cannot be written (Is a directory); choose another place for the report."


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


def test_a_table_that_lost_a_file(refused, spark: Session, universe: Path, elsewhere: Path) -> None:
    shutil.copytree(universe, elsewhere / "copy")
    fewer = spark.read.parquet(f"file:{universe}/subscriptions").limit(300)
    fewer.write.mode("overwrite").parquet(f"file:{elsewhere}/copy/subscriptions")
    code, said = refused("simulate", "stan", "copy", "--out", "run")
    assert code == 3
    assert "copy/subscriptions has 300 rows, but its manifest says " in said


def test_a_universe_to_describe_that_lost_a_file(refused, spark: Session, universe: Path, elsewhere: Path) -> None:
    shutil.copytree(universe, elsewhere / "copy")
    fewer = spark.read.parquet(f"file:{universe}/subscriptions").limit(300)
    fewer.write.mode("overwrite").parquet(f"file:{elsewhere}/copy/subscriptions")
    code, said = refused("describe", "copy")
    assert code == 3
    assert "copy/subscriptions has 300 rows, but its manifest says " in said


def test_a_description_over_a_folder(refused, universe: Path, elsewhere: Path) -> None:
    (elsewhere / "folder").mkdir()
    code, said = refused("describe", str(universe), "--report", "folder")
    assert code == 2
    assert said == "folder cannot be written (Is a directory); choose another place for the report."


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


def alive(tag: str) -> list[str]:
    """The processes that were started with `tag` in their environment, the JVM and Python workers included."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if tag.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " ")[:200])
    return found


GENERATE = ["generate", "grid", "--nodes", "300000", "--topics", "2000", "--out", "universe"]


def interrupted(command: list[str], folder: Path, sent: signal.Signals, when: Callable[[str], bool]) -> None:
    """Run a command in an empty folder, signal it once `when` (its tag) holds, and see that nothing is left."""
    words, tag = [sys.executable, "-m", "ropewalk", *command], f"interrupted-{uuid4()}"
    report = folder.parent / "said"
    with (
        report.open("w") as said,
        subprocess.Popen(words, stderr=said, start_new_session=True, env=os.environ | {"ROPEWALK_TEST": tag}) as child,
    ):
        reached = wait_until(lambda: when(tag) or child.poll() is not None, 100)
        os.killpg(child.pid, sent)  # as a terminal does: the whole group
    lines = report.read_text().splitlines()
    assert reached, lines
    assert child.returncode == 128 + sent, lines
    assert not [line for line in lines if "Traceback" in line], lines
    word = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[sent]
    assert lines[-1] == f"ropewalk: {word}: nothing half-written was left behind."
    assert wait_until(lambda: not alive(tag)), alive(tag)
    assert list(folder.rglob("*")) == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sent", "command"),
    [
        pytest.param(signal.SIGINT, GENERATE, id="generate"),
        pytest.param(signal.SIGTERM, ["simulate", "stan", "{universe}"], id="simulate", marks=pytest.mark.long),
        pytest.param(signal.SIGINT, ["demo"], id="demo", marks=pytest.mark.long),
    ],
)
def test_interrupted_half_way(universe: Path, elsewhere: Path, sent: signal.Signals, command: list[str]) -> None:
    """A real process, a real Spark job that is writing, a real signal: nothing is left, no process stays."""
    command = [word.format(universe=universe) for word in command]

    def writing(_: str) -> bool:
        try:
            return any(elsewhere.rglob("_temporary"))
        except FileNotFoundError:  # a folder that was there a moment ago has been renamed
            return False

    interrupted(command, elsewhere, sent, writing)


@pytest.mark.thorough
def test_interrupted_between_rounds_of_the_simulator(universe: Path, elsewhere: Path) -> None:
    command = ["simulate", "stan", str(universe), "--engine", "sim", "--rounds", "1000000"]
    said = elsewhere.parent / "said"
    interrupted(command, elsewhere, signal.SIGINT, lambda _: "round 3 of" in said.read_text())


@pytest.mark.long
def test_interrupted_while_real_nodes_run(universe: Path, elsewhere: Path) -> None:
    command = ["cluster", str(universe), "--rounds", "1000"]
    said = elsewhere.parent / "said"
    interrupted(command, elsewhere, signal.SIGINT, lambda _: "let them run" in said.read_text())


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("magnet --ttl 3", "--ttl plays no part in magnet; drop it."),
        ("stan --degree 3", "--degree plays no part in stan; drop it."),
        ("scribe --samples 3", "--samples plays no part in scribe; drop it."),
        ("magnet --keep rounds", "--keep rounds plays no part in magnet in engine batch; drop it."),
        ("magnet --publish 3", "--publish needs nodes that send messages; add --engine sim."),
        ("magnet --churn 0.1", "--churn needs nodes with timers, which engine batch has not; add --engine sim."),
        ("magnet --engine sim --partitions 2", "--partitions is for engine batch only; drop it, or --engine sim."),
        ("scribe --engine sim --keep links", "--keep links plays no part in scribe in engine sim; drop it."),
        ("scribe --engine sim --rounds 4 --publish 9", "--publish with --rounds 4 leaves no time for events"),
        ("scribe --engine sim --period 0", "period is 0.0, but must be from 0.01"),
        ("magnet --strict", "--strict plays no part in magnet; drop it."),
        ("magnet --degree 3", "degree is 3.0, but must be from 4.0"),
        ("magnet --samples -1", "samples is -1, but must be from 0"),
        ("magnet --engine live", "engine live is real nodes on this machine"),
        ("kato --ttl 3", "--ttl plays no part in kato; drop it."),
        ("kato --bits 100", "bits is 100, but must be a multiple of 64."),
        ("kato --hashes 0", "hashes is 0, but must be from 1"),
        ("kato --cover cells --neighbours proof", "--neighbours proof is about bits that a node has not"),
        ("kato --space price:0:1:4", "--space plays no part: "),
        ("kato --publish 3 --topics-per-event 2", "--topics-per-event plays no part in kato"),
    ],
)
def test_rings_that_make_no_sense(refused, universe: Path, told: str, said: str) -> None:
    protocol, *words = told.split()
    code, sentence = refused("simulate", protocol, str(universe), *words)
    assert (code, sentence[: len(said)]) == (2, said)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("--faults kill", "--faults says 'kill'; say for instance kill:30%@20"),
        ("--faults kill:30%@8", "a kill at 8 ends after the last of 8 rounds; use more, or have it earlier."),
        ("--faults kill:30%@4 --processes 2", "--processes plays no part where nodes are killed"),
        ("--faults restart@4", "nodes that come back, or were parted, must find others again: add --discover."),
        ("--keep crashes", "--keep crashes is for engine batch only; say --faults kill:30%@8 for real ones."),
        ("--keep stars", "--keep names 'stars', but can only name"),
        ("--manager scamp", "--manager scamp goes with --discover in a cluster"),
        ("--manager given --discover", "--discover goes with --manager scamp"),
        ("--discover --overlay fixed", "--overlay plays no part with --discover"),
        ("--publish 5 --rounds 5", "--publish with --rounds 5 leaves no time for events"),
        ("--topics-per-event 2", "--topics-per-event plays no part without --publish"),
        ("--period 0", "period is 0.0, but must be from 0.001"),
        ("--protocol pigeons", "protocol 'pigeons' is not known; choose one of: stan"),
        ("--protocol flood", "protocol 'flood' has no nodes on sockets; choose one of: stan, magnet, scribe, kato."),
        ("--protocol magnet --ttl 3", "--ttl plays no part in magnet; drop it."),
        ("--protocol magnet --no-fitness", "--no-fitness plays no part in magnet; drop it."),
        ("--protocol magnet --keep links", "--keep links plays no part in magnet in engine live; drop it."),
        ("--degree 12", "--degree plays no part in stan; drop it."),
        ("--rounds 0", "--rounds 0 leaves stan no time to be looked at; use 1 or more."),
        ("--protocol magnet --rounds 0", "--rounds 0 leaves magnet no time to be looked at; use 1 or more."),
    ],
)
def test_clusters_that_make_no_sense(refused, universe: Path, told: str, said: str) -> None:
    code, sentence = refused("cluster", str(universe), *told.split())
    assert (code, sentence[: len(said)]) == (2, said)


def test_a_cluster_of_nothing(refused) -> None:
    code, said = refused("cluster", "nowhere")
    assert (code, "nowhere" in said) == (3, True)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_spark_starts(elsewhere: Path, sent: signal.Signals) -> None:
    interrupted(GENERATE, elsewhere, sent, lambda tag: any("java" in process for process in alive(tag)))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("--schedule timed", "--schedule timed needs nodes with timers, which engine batch has not; add --engine sim."),
        ("--manager scamp", "--manager scamp needs nodes with timers, which engine batch has not; add --engine sim."),
        ("--period 5", "--period plays no part in engine batch"),
        ("--engine sim --knowledge everything", "--knowledge everything is for engine batch only"),
        ("--engine sim --keep crashes", "--keep crashes is for engine batch only"),
        ("--engine sim --partitions 3", "--partitions is for engine batch only"),
        ("--engine sim --churn 0.1 --overlay fixed", "--overlay plays no part with --manager scamp"),
        ("--strict --learn", "--strict allows no --learn: that is not the printed protocol"),
        ("--engine sim --schedule sync --manager scamp", "--manager scamp needs --schedule timed"),
        ("--engine sim --schedule sync --period 5", "--period plays no part with --schedule sync"),
        ("--engine sim --period 0", "period is 0.0, but must be from 0.001 to 1000000.0."),
        ("--engine live", "engine live is real nodes on this machine: say `ropewalk cluster` for that."),
        ("--publish 5", "--publish needs nodes that send messages; add --engine sim."),
        ("--shared 2", "--shared needs --schedule timed (usual with --engine sim): with sync weights never change."),
        ("--engine sim --shared 9", "shared is 9, but must be from 0 to 8."),
        ("--discover", "--discover needs --schedule timed (usual with --engine sim)"),
        ("--engine sim --topics-per-event 2", "--topics-per-event plays no part without --publish"),
        ("--engine sim --publish 5 --schedule sync", "--publish needs --schedule timed: with sync nothing takes time"),
        ("--engine sim --publish 5 --rounds 5", "--publish with --rounds 5 leaves no time for events"),
        (
            "--engine sim --discover --manager given",
            "--discover goes with --manager scamp: with given nodes are handed",
        ),
        ("--engine sim --discover --manager cyclon", "--discover goes with --manager scamp: with cyclon nodes are"),
    ],
)
def test_what_an_engine_cannot_do(refused, universe: Path, told: str, said: str) -> None:
    code, words = refused("simulate", "stan", str(universe), *told.split())
    assert code == 2
    assert words.startswith(said)


@pytest.mark.parametrize("protocol", ["flood", "gossipsub"])
@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("", "engine 'batch' cannot run {}; say --engine sim."),
        (
            "--engine sim --schedule sync",
            "--schedule sync makes no sense with {}, whose nodes have timers of their own; drop it.",
        ),
        ("--engine sim --weight pair", "--weight plays no part in {}; drop it."),
        ("--engine sim --no-learn", "--learn plays no part in {}; drop it."),
        ("--engine sim --strict", "--strict is about stan as printed, and plays no part in {}; drop it."),
    ],
)
def test_what_makes_no_sense_with_a_rival(refused, universe: Path, protocol: str, told: str, said: str) -> None:
    answer = refused("simulate", protocol, str(universe), *told.split())
    assert answer == (2, said.format(protocol))


def test_a_rival_that_needs_no_manager(refused, universe: Path) -> None:
    answer = refused("simulate", "gossipsub", str(universe), "--engine", "sim", "--manager", "scamp")
    assert answer == (2, "--manager plays no part in gossipsub; drop it.")
