"""The only place where a Spark session is built: local by default, on a cluster by one setting.

What is asked for first wins: the argument (`--master`), SPARK_REMOTE, SPARK_MASTER, else local on the cores that this
process may use. Spark's words go to a log file, not to the terminal; an error says where it lies.
"""

import logging
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from ropewalk.errors import RunError, UsageError
from ropewalk.tables.cluster import (
    FIXED,
    FIXED_IN_SQL,
    PARTITIONS,
    fit_to_executors,
    fit_to_server,
    package_shipped,
    respectful,
)
from ropewalk.tables.failures import failures_said
from ropewalk.tables.java import OLDEST, find_java
from ropewalk.tables.machine import cores, memory_bytes
from ropewalk.tables.masters import Master, recognised, refuse_unanswered
from ropewalk.tables.shipping import package_file

Session = SparkSession
T = TypeVar("T")

GIB = 2**30
LARGEST_HEAP = 2 * GIB  # Java only passes records on; what it is given, it fills
CANCELLED_WITHIN = 30.0  # seconds that tasks get to notice that nobody waits for them any more
# What a session can be told at any time, so on Connect too: small files, and a bound on what passes between Java and Python at once.
RUNTIME_SETTINGS = {
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.execution.arrow.maxBytesPerBatch": "16m",
}
# What means another Spark, and would change one that runs here: its jars, its defaults, its options.
ELSEWHERE = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS")


@contextmanager
def opened(master: str | None = None) -> Iterator[SparkSession]:
    """A session for the length of the block. One that is open already is used as it is and left open."""
    if master is not None:
        recognised(master, "--master")  # nonsense is refused even where it would make no difference
    running = SparkSession.getActiveSession()
    if running is not None:
        with failures_said(log=None), _cancelling(running):
            yield running
        return
    with _remote_hidden() as remote, _session_at(_chosen(master, remote)) as session:
        yield session


@contextmanager
def _session_at(place: Master) -> Iterator[SparkSession]:
    if place.kind == "connect":
        with failures_said(log=None):
            yield _connected(place.url)  # the server's session is not ours to stop
        return
    descriptor, name = tempfile.mkstemp(prefix="ropewalk-spark-", suffix=".log")
    log, named_in_error = Path(name), False
    try:
        session = _started(place, log, descriptor)
        try:
            with failures_said(log), nullcontext() if place.kind == "local" else _on_cluster(session, place):
                yield session
        finally:
            with suppress(OSError, Py4JError):  # the JVM may be gone, by the very signal that ends us
                session.stop()
    except RunError as error:
        named_in_error = name in str(error)  # then it is what the user reads next
        raise
    finally:
        os.close(descriptor)
        if not named_in_error:
            log.unlink(missing_ok=True)


@contextmanager
def _remote_hidden() -> Iterator[str | None]:
    """What SPARK_REMOTE says. Pyspark, which mixes it up with a master, does not see it."""
    remote = os.environ.pop("SPARK_REMOTE", None)
    try:
        yield remote
    finally:
        if remote is not None:
            os.environ["SPARK_REMOTE"] = remote


def _chosen(master: str | None, remote: str | None) -> Master:
    """Who is asked first wins: the option, SPARK_REMOTE, SPARK_MASTER."""
    if master is not None:
        return recognised(master, "--master")
    if remote:
        if recognised(remote, "SPARK_REMOTE").kind not in ("connect", "local"):
            raise UsageError(f"SPARK_REMOTE is {remote!r}, which is no Connect address; say it by SPARK_MASTER.")
        return Master(remote, "connect")
    if told := os.environ.get("SPARK_MASTER"):
        return recognised(told, "SPARK_MASTER")
    return Master(f"local[{_local_cores()}]", "local")


@contextmanager
def _on_cluster(session: SparkSession, place: Master) -> Iterator[None]:
    with package_shipped(session.sparkContext):
        fit_to_executors(session, place)
        yield


def is_open() -> bool:
    """Whether `opened` would use a session that is there already."""
    return SparkSession.getActiveSession() is not None


def tasks_done(spark: SparkSession) -> tuple[int, int] | None:
    """How many tasks of the stages now running are done, of how many; None where Spark does not say."""
    try:
        tracker = spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    except Exception:  # noqa: BLE001 (Connect has no tracker, and one that is stopping fails: no progress, no harm)
        return None
    known = [stage for stage in stages if stage is not None]
    if not known:
        return None
    return sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known)


def _connected(remote: str) -> SparkSession:
    if remote.startswith("local"):  # pyspark starts a server here, for this process
        _use_java()
        _stay_here()
    try:
        session = SparkSession.builder.remote(remote).getOrCreate()
    except ImportError as error:
        raise UsageError(
            f"{remote} is a Spark Connect address, which needs more packages; pip install 'pyspark[connect]'."
        ) from error
    except PySparkException as error:
        raise RunError(f"no Spark Connect server answered at {remote}; is it running?") from error
    for key, value in (RUNTIME_SETTINGS | FIXED_IN_SQL).items():
        session.conf.set(key, value)
    with package_file() as package:
        session.addArtifacts(str(package), pyfile=True)
    fit_to_server(session)
    return session


@contextmanager
def _cancelling(spark: SparkSession) -> Iterator[None]:
    """If the block fails, see to it that its jobs write nothing more before anybody tidies up after them."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            spark.sparkContext.cancelAllJobs()
            deadline = time.monotonic() + CANCELLED_WITHIN
            while _running_tasks(spark) and time.monotonic() < deadline:
                time.sleep(0.02)
        raise


def at_once(spark: SparkSession, calls: Sequence[Callable[[], T]]) -> list[T]:
    """Make several calls, each of which runs jobs: short ones are over in the time that the longest takes.

    If one fails, or we are interrupted, what the others are at is cancelled.
    """
    with ThreadPoolExecutor(len(calls)) as pool:
        waiting = [pool.submit(call) for call in calls]
        try:
            return [each.result() for each in waiting]
        except BaseException:
            with suppress(Exception):
                spark.sparkContext.cancelAllJobs()
            raise


def _running_tasks(spark: SparkSession) -> int:
    executors = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()  # noqa: SLF001 (no Python door to it)
    return sum(executor.numRunningTasks() for executor in executors)


def _use_java() -> None:
    search = find_java()
    if search.java is None:
        reasons = "; ".join(search.passed_over) or "none was found in JAVA_HOME or on PATH"
        raise RunError(
            f"Spark needs Java {OLDEST} or newer ({reasons}); install one, or: pip install 'ropewalk[java]'."
        )
    os.environ["JAVA_HOME"] = str(search.java.home)


def _stay_here() -> None:
    """A Spark that runs on this machine is ours: its jars, its options, its Python."""
    for name in ELSEWHERE:
        os.environ.pop(name, None)
    os.environ["PYSPARK_PYTHON"] = sys.executable


def _started(place: Master, log: Path, descriptor: int) -> SparkSession:
    _use_java()
    refuse_unanswered(place)
    if place.kind == "local":
        _stay_here()
    else:
        os.environ.setdefault("SPARK_DRIVER_MEMORY", f"{_heap()}m")  # gives way to spark.driver.memory
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # errors are ours to tell
    conf = SparkConf(loadDefaults=False).setAppName("ropewalk").setMaster(place.url)
    conf.setAll(list((_local_settings(place) if place.kind == "local" else FIXED).items()))
    try:
        with _signals_held():
            # One JVM a process. It warns on standard error itself, which no log setting stops; so that goes to the log.
            # In a session of its own no signal to our group reaches it: we stop it, or it ends when our pipe closes.
            gateway = SparkContext._gateway or launch_gateway(  # type: ignore[no-untyped-call]  # noqa: SLF001
                conf, {"stderr": descriptor, "start_new_session": True}
            )
            if place.kind != "local":
                conf = respectful(conf, gateway, place, RUNTIME_SETTINGS)
            SparkContext(conf=conf, gateway=gateway)
            return SparkSession.builder.getOrCreate()
    except Exception as error:
        raise RunError(f"Spark did not start on {place.url}; its log is {log}.") from error


@contextmanager
def _signals_held() -> Iterator[None]:
    """Signals wait for the end of the block: a JVM whose launch is cut off would live on for ever.

    Handlers are then as they were before: pyspark puts in one of its own, which can hide an interrupt.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread alone
        return
    held: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda received, _frame: held.append(received))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if held:
        signal.raise_signal(held[0])


def _local_cores() -> int:
    """As many as there are, but no more than there is memory for: a Python worker takes most of a gibibyte."""
    return max(1, min(cores(), memory_bytes() // GIB - 1))


def _heap() -> int:
    """Mebibytes for the JVM here: a third of the memory, but no more than sorting takes; Python and files need the rest."""
    return int(min(max(memory_bytes() / 3, 1 * GIB), LARGEST_HEAP)) // 2**20


def _local_settings(place: Master) -> dict[str, str]:
    threads = re.match(r"local\[(\d+)", place.url)
    workers = int(threads[1]) if threads else cores()
    log4j = Path(str(files("ropewalk.tables"))) / "log4j2.properties"
    return RUNTIME_SETTINGS | {
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": f"{_heap()}m",
        "spark.driver.extraJavaOptions": f"-XX:+UseParallelGC -Dlog4j2.configurationFile={log4j.as_uri()}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        PARTITIONS: str(8 * workers),  # adaptive execution joins small ones
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "ropewalk-warehouse"),
        "spark.ui.enabled": "false",
        "spark.sql.codegen.cache.maxEntries": "2000",  # a run needs more classes than Spark would remember (100)
        "spark.shuffle.compress": "false",  # records of links are noise: packing them costs more than moving them
        "spark.ui.showConsoleProgress": "false",
    }
