"""A Spark cluster on this machine: one master and some workers, each a process of its own, to try `--master spark://...`.

    tools/cluster start [--workers 2] [--cores 1] [--memory 2g]   prints the URL of the master
    tools/cluster status                                          says what lives
    tools/cluster stop                                            ends it all and removes its folder

Everything listens on 127.0.0.1 only, on ports that were free. What was started is written down in a folder (`--folder`),
with the logs beside it. Each process leads a session of its own, which its executors and their Python workers belong to,
so that `stop` finds them all, whoever of them has died in the meantime.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ropewalk.caches import cache_folder
from ropewalk.errors import InputError, RopewalkError, RunError, UsageError
from ropewalk.tables.java import OLDEST, find_java

STATE = "cluster.json"
STARTED_WITHIN = 120.0  # seconds: a JVM on a busy machine
STOPPED_WITHIN = 15.0
POLL_EVERY = 0.05
LOOPBACK = "127.0.0.1"
# What the user has set for this shell must not leak into executors: those of a real cluster would not have it.
NOT_INHERITED = ("PYTHONPATH", "PYSPARK_PYTHON", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_MASTER", "SPARK_REMOTE")
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"


@dataclass(frozen=True, slots=True)
class Daemon:
    """A master or a worker: the process that leads the session, and when it began, lest its number be another's."""

    role: str
    pid: int
    began: str


@dataclass(slots=True)
class Cluster:
    """What was started, and where it is written down."""

    folder: Path
    url: str
    page: str  # of the master, for people; with json/ behind it, for programs
    daemons: list[Daemon]

    @property
    def workers(self) -> list[Daemon]:
        """The workers, alive or not."""
        return [daemon for daemon in self.daemons if daemon.role != "master"]

    def scratch_of(self, role: str) -> Path:
        """Where a worker and its executors keep what they shuffle: each apart, as on machines of their own."""
        return self.folder / f"scratch-{role}"

    def save(self) -> None:
        """Write down what there is, so that another process can stop it."""
        known = {"url": self.url, "page": self.page, "daemons": [asdict(daemon) for daemon in self.daemons]}
        draft = self.folder / f"{STATE}.draft"
        draft.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
        draft.replace(self.folder / STATE)

    @classmethod
    def read(cls, folder: Path) -> "Cluster":
        """What another process has started there."""
        try:
            known = json.loads((folder / STATE).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{folder} holds no cluster; start one with `tools/cluster start`.") from error
        return cls(folder, known["url"], known["page"], [Daemon(**daemon) for daemon in known["daemons"]])

    def registered(self) -> int:
        """How many workers the master counts on."""
        try:
            return sum(worker["state"] == "ALIVE" for worker in self.asked()["workers"])
        except OSError:
            return 0

    def asked(self) -> dict[str, Any]:
        """What the master says of itself."""
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy knows our loopback
        with direct.open(f"{self.page}/json/", timeout=10) as answer:
            said: dict[str, Any] = json.load(answer)
        return said


def start(folder: Path, *, workers: int = 2, cores: int = 1, memory: str = "2g") -> Cluster:
    """Start a master, then its workers, and wait until it knows them all."""
    if (folder / STATE).exists():
        if members(Cluster.read(folder).daemons):
            raise UsageError(f"{folder} has a cluster already; stop it first: `tools/cluster stop`.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(folder.resolve(), "", "", [])
    try:
        anywhere = ("--host", LOOPBACK, "--port", "0", "--webui-port", "0")
        log = _started(cluster, "master", MASTER, *anywhere)
        cluster.url = _found_in(log, r"Starting Spark master at (spark://\S+)", cluster)
        port = _found_in(log, r"MasterWebUI.* started at http://[^\s/]+:(\d+)", cluster)
        cluster.page = f"http://{LOOPBACK}:{port}"
        for number in range(1, workers + 1):
            size = ("--cores", str(cores), "--memory", memory, "--work-dir", str(cluster.folder / f"work-{number}"))
            _started(cluster, f"worker-{number}", WORKER, *anywhere, *size, cluster.url)
        _await(lambda: cluster.registered() == workers, f"{workers} workers at {cluster.url}", cluster)
    except BaseException:
        end(cluster.daemons)  # the logs stay: an error names them
        raise
    return cluster


def stop(folder: Path) -> None:
    """End every process of a cluster and remove its folder."""
    end(Cluster.read(folder).daemons)
    shutil.rmtree(folder, ignore_errors=True)


def end(daemons: Iterable[Daemon]) -> None:
    """Ask all processes of these sessions to go, workers before their master; then make them."""
    daemons = sorted(daemons, key=lambda daemon: daemon.role == "master")
    for number in (signal.SIGTERM, signal.SIGKILL):
        for daemon in daemons:
            for pid in members([daemon]):
                _send(pid, number)
        if _came(lambda: not members(daemons), STOPPED_WITHIN):
            return
    raise RunError(f"processes {members(daemons)} do not end; end them by hand.")


def members(daemons: Iterable[Daemon]) -> list[int]:
    """The living processes of these sessions: the daemons, their executors, and the Python workers of those."""
    leaders = {daemon.pid: daemon.began for daemon in daemons}
    found = []
    for pid, (state, began) in _processes().items():
        session = _session_of(pid)
        if session not in leaders or state.startswith("Z"):
            continue  # what is dead and waits for its parent to notice holds nothing any more
        if pid != session or began == leaders[session]:
            found.append(pid)
    return found


def _started(cluster: Cluster, role: str, name: str, *arguments: str) -> Path:
    """Start one process of the cluster and write it down; the answer is its log."""
    log = cluster.folder / f"{role}.log"
    spark_class = _spark_home() / "bin" / "spark-class"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(spark_class), name, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=_environment(cluster.scratch_of(role)),
            start_new_session=True,
        )
    _, began = _processes().get(process.pid, ("", ""))
    cluster.daemons.append(Daemon(role, process.pid, began))
    cluster.save()
    return log


def _environment(scratch: Path) -> dict[str, str]:
    search = find_java()
    if search.java is None:
        raise RunError(f"a cluster needs Java {OLDEST} or newer; install one, or: pip install 'ropewalk[java]'.")
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    own = {
        "JAVA_HOME": str(search.java.home),
        "SPARK_HOME": str(_spark_home()),
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_LOCAL_DIRS": str(scratch),
        "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",  # a door that anybody on this machine could use
    }
    return inherited | own


def _spark_home() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise UsageError("a cluster needs pyspark, which is in the extra `lab`; pip install 'ropewalk[lab]'.")
    return Path(spec.origin).parent


def _found_in(log: Path, pattern: str, cluster: Cluster) -> str:
    """What a process has said in its log, once it has said it."""
    found: list[str] = []

    def said() -> bool:
        found.extend(re.findall(pattern, log.read_text(encoding="utf-8", errors="replace")))
        return bool(found)

    _await(said, f"the master (log {log})", cluster)
    return found[0]


def _await(condition: Callable[[], bool], what: str, cluster: Cluster) -> None:
    """Wait for a condition while all processes of the cluster live."""

    def settled() -> bool:
        return condition() or len(_leaders(cluster.daemons)) < len(cluster.daemons)

    if not _came(settled, STARTED_WITHIN) or not condition():
        raise RunError(f"{what} did not come up; see the logs in {cluster.folder}.")


def _leaders(daemons: Iterable[Daemon]) -> list[Daemon]:
    """Those of the daemons that live."""
    alive = set(members(daemons))
    return [daemon for daemon in daemons if daemon.pid in alive]


def _came(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_EVERY)
    return True


def _processes() -> dict[int, tuple[str, str]]:
    """Every process of this machine: its state, and when it began."""
    command = ["ps", "-A", "-o", "pid=,stat=,lstart="]
    asked = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"LC_ALL": "C"})
    rows = (line.split(maxsplit=2) for line in asked.stdout.splitlines())
    return {int(pid): (state, began.strip()) for pid, state, began in rows}


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:  # it has just ended, or is not ours to ask
        return None


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _show(cluster: Cluster) -> bool:
    """Say what lives; whether that is everything."""
    alive = _leaders(cluster.daemons)
    for daemon in cluster.daemons:
        print(f"{daemon.role}: process {daemon.pid}, {'alive' if daemon in alive else 'gone'}")
    print(
        f"{cluster.registered()} of {len(cluster.workers)} workers registered; {cluster.page}; logs in {cluster.folder}"
    )
    print(cluster.url)
    return len(alive) == len(cluster.daemons)


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="tools/cluster", description="A Spark cluster on this machine.")
    parser.add_argument("--folder", type=Path, default=None, help="where it is written down, with its logs")
    verbs = parser.add_subparsers(dest="verb", required=True)
    starting = verbs.add_parser("start", help="start a master and workers; print the URL for --master")
    starting.add_argument("--workers", type=int, default=2)
    starting.add_argument("--cores", type=int, default=1, help="of each worker")
    starting.add_argument("--memory", default="2g", help="that each worker gives to executors")
    verbs.add_parser("status", help="say what lives; exit code 1 if something died")
    verbs.add_parser("stop", help="end all of it")
    asked = parser.parse_args(arguments)
    folder = asked.folder if asked.folder is not None else cache_folder("cluster")
    try:
        if asked.verb == "start":
            print(start(folder, workers=asked.workers, cores=asked.cores, memory=asked.memory).url)
        elif asked.verb == "stop":
            stop(folder)
        elif not _show(Cluster.read(folder)):
            return 1
    except RopewalkError as error:
        print(f"cluster: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
