"""A cluster, commands on it, and Pythons that lack something, for tests; none outlives its block."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import spark_cluster
from spark_cluster import Cluster

TOOL = Path(spark_cluster.__file__).with_name("cluster")


@dataclass
class Command:
    """`ropewalk ...` in a process of its own, and what it says."""

    process: subprocess.Popen[str]
    said: Path

    def heard(self) -> str:
        return self.said.read_text()

    def ended(self, seconds: float = 600) -> int:
        return self.process.wait(seconds)


def started(said: Path, words: tuple[object, ...], environment: dict[str, str]) -> Command:
    """Start a command in the folder of `said`, where its words go."""
    with said.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "ropewalk", *map(str, words)],
            stdout=output,
            stderr=output,
            text=True,
            cwd=said.parent,
            env=os.environ | environment,
        )
    return Command(process, said)


@contextmanager
def running(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A cluster for the length of the block, started and stopped as a user would."""
    assert tool("--folder", folder, "start", "--workers", workers).startswith("spark://127.0.0.1:")
    cluster = Cluster.read(folder)
    try:
        yield cluster
    finally:
        tool("--folder", folder, "stop")
        assert spark_cluster.members(cluster.daemons) == []
        assert not folder.exists()


def tool(*words: object) -> str:
    """`tools/cluster ...`, with the Python that runs the tests."""
    environment = os.environ | {"PYTHON": sys.executable}
    done = subprocess.run([str(TOOL), *map(str, words)], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def interpreter_without(home: Path, *packages: str) -> Path:
    """A Python at `home` that has what this one has, but for some packages, ropewalk always among them."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = home / "bin" / "python"
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    there = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("ropewalk", "__editable__", *packages)):
            (Path(there) / entry.name).symlink_to(entry)
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for package in ("ropewalk", *packages):
        tried = subprocess.run([str(python), "-c", f"import {package}"], capture_output=True, check=False, env=bare)
        assert tried.returncode == 1, f"{python} has {package}"
    return python
