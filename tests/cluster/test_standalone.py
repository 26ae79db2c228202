"""The same command on a Spark cluster of separate processes gives the same result, whatever becomes of one of them."""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import run

import pytest

import spark_cluster
from clusters import Command, interpreter_without, running, started, tool
from ropewalk.cli.main import main
from ropewalk.ids import weight
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest
from spark_cluster import Cluster
from waiting import wait_until

Run = Callable[..., Command]

pytestmark = pytest.mark.timeout(1800)  # other tests may keep the machine busy; idle it takes a minute at most


@pytest.fixture
def ropewalk(tmp_path: Path) -> Iterator[Run]:
    """Start a command; whatever still runs at the end of the test is ended."""
    commands: list[Command] = []

    def start(*words: object, **environment: str) -> Command:
        commands.append(started(tmp_path / f"said-{len(commands)}", words, environment))
        return commands[-1]

    yield start
    for command in commands:
        if command.process.poll() is None:
            command.process.kill()
            command.process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("cluster") / "state") as found:
        yield found


def manifest(folder: Path) -> str:
    """What a store says of itself: its digest, and rows and digest of every table."""
    return Manifest.read(folder / "manifest.json").to_json()


KERNEL = """
import sys
import numpy as np
import pyarrow as pa
from ropewalk.tables.session import opened

def weigh(batches):
    import ropewalk
    from ropewalk.arrays.hashing import weights
    for batch in batches:
        ids = batch.column(0).to_numpy()
        yield pa.RecordBatch.from_pydict({"weight": weights(ids, ids + 1), "there": [ropewalk.__file__] * ids.size})

with opened(sys.argv[1]) as spark:
    for row in spark.range(3).mapInArrow(weigh, "weight long, there string").sort("weight").collect():
        print(row["weight"], row["there"])
"""


@pytest.mark.thorough
def test_executors_run_a_package_they_lack_and_stop_ends_all_even_without_a_master(tmp_path: Path) -> None:
    python = str(interpreter_without(tmp_path / "bare"))
    with running(tmp_path / "state", workers=1) as cluster:
        assert "1 of 1 workers registered" in tool("--folder", cluster.folder, "status")
        words = [sys.executable, "-c", KERNEL, cluster.url]
        environment = os.environ | {"PYSPARK_PYTHON": python}
        done = run(words, capture_output=True, text=True, check=False, env=environment)
        assert done.stderr == ""
        found = [line.split() for line in done.stdout.splitlines()]
        assert [int(weight) for weight, _ in found] == sorted(weight(node, node + 1) for node in range(3))
        assert all(there.endswith(".zip/ropewalk/__init__.py") for _, there in found), found

        (master,) = (daemon for daemon in cluster.daemons if daemon.role == "master")
        os.kill(master.pid, signal.SIGKILL)
        assert wait_until(lambda: master.pid not in spark_cluster.members(cluster.daemons))
        assert spark_cluster.members(cluster.workers)
    assert spark_cluster.main(["--folder", str(tmp_path / "state"), "status"]) == 3


@pytest.mark.long
def test_a_cluster_that_lacks_this_package_gives_the_same_run(
    spark: Session, cluster: Cluster, ropewalk: Run, tmp_path: Path
) -> None:
    assert main(["generate", "grid", "--set", "fig6", "--out", str(tmp_path / "universe")]) == 0
    command = ["simulate", "stan", str(tmp_path / "universe"), "--rounds", "3", "--out"]
    assert main([*command, str(tmp_path / "here")]) == 0
    there = ropewalk(
        *command,
        tmp_path / "there",
        "--master",
        cluster.url,
        PYSPARK_PYTHON=str(interpreter_without(tmp_path / "bare")),
    )
    assert there.ended() == 0, there.heard()
    assert manifest(tmp_path / "there") == manifest(tmp_path / "here")
    assert list(cluster.folder.glob("work-*/app-*/*/ropewalk-*.zip")), "nothing was sent"


@pytest.mark.long
def test_cores_and_machines_change_nothing(cluster: Cluster, ropewalk: Run, tmp_path: Path) -> None:
    made = ropewalk("generate", "grid", "--set", "G", "--nodes", 600, "--topics", 60, "--out", "universe")
    assert made.ended() == 0, made.heard()
    found = []
    for number, master in enumerate(("local[1]", "local[2]", cluster.url)):
        words = ("simulate", "stan", "universe", "--keep", "links,connections,rounds", "--rounds", 4)
        done = ropewalk(*words, "--master", master, "--out", f"run-{number}")
        assert done.ended() == 0, done.heard()
        found.append(manifest(tmp_path / f"run-{number}"))
    assert found[0] == found[1] == found[2]


@pytest.mark.long
def test_a_worker_that_dies_in_the_middle_changes_nothing(ropewalk: Run, tmp_path: Path) -> None:
    made = ropewalk("generate", "grid", "--set", "G", "--nodes", 8000, "--topics", 400, "--out", "universe")
    assert made.ended() == 0, made.heard()
    words = ("simulate", "stan", "universe", "--rounds", 8)
    here = ropewalk(*words, "--out", "here")
    assert here.ended() == 0, here.heard()

    with running(tmp_path / "state") as cluster:
        there = ropewalk(*words, "--master", cluster.url, "--out", "there")
        victim = cluster.workers[0]
        scratch = cluster.scratch_of(victim.role)
        assert wait_until(
            lambda: "align the overlays and count ..." in there.heard() or there.process.poll() is not None, 900
        )
        before = kept_in(cluster.folder)
        # It has dealt pairs and aligned some topics, which are lost with it, and is about to align more.
        assert wait_until(lambda: len(kept_in(scratch) - before) > 1 or there.process.poll() is not None, 900)
        assert "align the overlays and count: " not in re.sub(r"and count: .* so far", "", there.heard()), (
            "it was too fast"
        )
        died = spark_cluster.members([victim])
        assert len(died) >= 3, "the worker, its executor and a Python worker"
        for pid in died:
            os.kill(pid, signal.SIGKILL)
        assert there.ended(1500) == 0, there.heard()
        assert spark_cluster.members([victim]) == []
        assert cluster.registered() == 1
    assert manifest(tmp_path / "there") == manifest(tmp_path / "here")


def kept_in(folder: Path) -> set[str]:
    """The shuffles that executors have written a part of in a folder, by number."""
    return {path.name.split("_")[1] for path in folder.rglob("shuffle_*_*.data")}


@pytest.mark.long
def test_executors_without_numba_are_told_of_in_one_sentence(cluster: Cluster, ropewalk: Run, tmp_path: Path) -> None:
    python = str(interpreter_without(tmp_path / "bare", "numba"))
    words = ("generate", "grid", "--set", "fig6", "--out", "universe", "--master", cluster.url)
    done = ropewalk(*words, PYSPARK_PYTHON=python)
    assert done.ended() == 4, done.heard()
    found = re.search(
        r"^ropewalk: error: the Python that Spark's executors run has no package 'numba'; .*; its log is (\S+)\.$",
        done.heard(),
        flags=re.MULTILINE,
    )
    assert found is not None, done.heard()
    Path(found[1]).unlink()


SETTINGS = """
import sys
from ropewalk.tables.session import opened
with opened(sys.argv[1]) as spark:
    names = ("sql.shuffle.partitions", "sql.session.timeZone", "sql.ansi.enabled")
    print(*(spark.conf.get("spark." + name) for name in names))
    print(spark.sparkContext.getConf().get("spark.executor.memory", "unset"))
"""


@pytest.mark.long
def test_a_users_defaults_hold_on_a_cluster_and_not_here(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.executor.memory 600m\nspark.sql.session.timeZone Asia/Tokyo\nspark.sql.ansi.enabled false\n"
        "spark.submit.deployMode cluster\n"
    )

    def settings(master: str, **environment: str) -> list[str]:
        words = [sys.executable, "-c", SETTINGS, master]
        done = run(words, capture_output=True, text=True, check=False, env=os.environ | environment)
        assert done.stderr == ""
        return done.stdout.split()

    defaults = {"SPARK_CONF_DIR": str(tmp_path)}
    assert settings("local[1]", **defaults) == ["8", "UTC", "true", "unset"]
    assert settings(cluster.url, **defaults) == ["16", "UTC", "true", "600m"]
    more = {"PYSPARK_SUBMIT_ARGS": "--conf spark.sql.shuffle.partitions=5 pyspark-shell"}
    assert settings(cluster.url, **defaults, **more) == ["5", "UTC", "true", "600m"]
