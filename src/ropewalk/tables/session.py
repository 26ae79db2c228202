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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from ropewalk.errors import InputError, RunError, UsageError
from ropewalk.tables.java import OLDEST, find_java
from ropewalk.tables.machine import cores, memory_bytes

Session = SparkSession

GIB = 2**30
CANCELLED_WITHIN = 30.0  # seconds that tasks get to notice that nobody waits for them any more
# What a session can be told at any time, so on Connect too: UTC, and a bound on what a kernel holds at once.
RUNTIME_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.execution.arrow.maxBytesPerBatch": "16m",
}


@contextmanager
def opened(master: str | None = None) -> Iterator[SparkSession]:
    """A session for the length of the block. One that is open already is used as it is and left open."""
    running = SparkSession.getActiveSession()
    if running is not None:
        with _failures_said(log=None), _cancelling(running):
            yield running
        return
    remote = os.environ.pop("SPARK_REMOTE", None)  # looked at here alone: pyspark mixes it up with a master
    where = master or remote or os.environ.get("SPARK_MASTER") or f"local[{_local_cores()}]"
    if where.startswith("sc://") or (master is None and remote is not None):
        with _failures_said(log=None):
            yield _connected(where)  # the server's session is not ours to stop
        return
    descriptor, name = tempfile.mkstemp(prefix="ropewalk-spark-", suffix=".log")
    log, named_in_error = Path(name), False
    try:
        session = _started(where, log, descriptor)
        try:
            with _failures_said(log):
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
    try:
        session = SparkSession.builder.remote(remote).getOrCreate()
    except ImportError as error:
        raise UsageError(
            f"{remote} is a Spark Connect address, which needs more packages; pip install 'pyspark[connect]'."
        ) from error
    except PySparkException as error:
        raise RunError(f"no Spark Connect server answered at {remote}; is it running?") from error
    for key, value in RUNTIME_SETTINGS.items():
        session.conf.set(key, value)
    return session


@contextmanager
def _failures_said(log: Path | None) -> Iterator[None]:
    """What Spark raises, as one sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        text, cause = str(error), _cause(error)
        if any(sign in text for sign in ("FAILED_READ_FILE", "is not a Parquet file", "FileNotFoundException")):
            raise InputError(f"an input file cannot be read: {cause}.") from error
        where = f"; its log is {log}" if log is not None else ""
        raise RunError(f"the Spark job failed: {cause}{where}.") from error


def _cause(error: Exception) -> str:
    """The line of a Spark error that says most: what a Python worker raised, else the innermost Java cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = re.findall(r"^ropewalk\.errors\.\w+: (.+)", "\n".join(lines), flags=re.MULTILINE)  # already a sentence
    raised = ours or [line for line in lines if re.match(r"[A-Z]\w*(Error|Exception): ", line)]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    first = [line for line in lines if not line.startswith("An error occurred while calling")]
    said = (raised[-1:] or causes[-1:] or first[:1] or [type(error).__name__])[0]
    return said[:300].rstrip(".")


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


def _running_tasks(spark: SparkSession) -> int:
    executors = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()  # noqa: SLF001 (no Python door to it)
    return sum(executor.numRunningTasks() for executor in executors)


def _started(master: str, log: Path, descriptor: int) -> SparkSession:
    search = find_java()
    if search.java is None:
        reasons = "; ".join(search.passed_over) or "none was found in JAVA_HOME or on PATH"
        raise RunError(
            f"Spark needs Java {OLDEST} or newer ({reasons}); install one, or: pip install 'ropewalk[java]'."
        )
    os.environ["JAVA_HOME"] = str(search.java.home)
    if master.startswith("local"):
        os.environ.pop("SPARK_HOME", None)  # of another Spark, whose jars would not fit
        os.environ["PYSPARK_PYTHON"] = sys.executable
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # errors are ours to tell
    conf = SparkConf(loadDefaults=False).setAppName("ropewalk").setMaster(master)
    conf.setAll(list(_settings(master).items()))
    try:
        with _signals_held():
            # One JVM a process. It warns on standard error itself, which no log setting stops; so that goes to the log.
            # In a session of its own no signal to our group reaches it: we stop it, or it ends when our pipe closes.
            gateway = SparkContext._gateway or launch_gateway(  # type: ignore[no-untyped-call]  # noqa: SLF001
                conf, {"stderr": descriptor, "start_new_session": True}
            )
            SparkContext(conf=conf, gateway=gateway)
            return SparkSession.builder.getOrCreate()
    except Exception as error:
        raise RunError(f"Spark did not start on {master}; its log is {log}.") from error


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


def _settings(master: str) -> dict[str, str]:
    everywhere = RUNTIME_SETTINGS | {"spark.ui.showConsoleProgress": "false"}
    local = re.match(r"local(?:\[(\d+|\*))?", master)
    if local is None:
        return everywhere
    workers = int(local[1]) if (local[1] or "").isdigit() else cores()
    # A third of the memory for the JVM, the rest for Python workers and the page cache that keeps shuffle files.
    heap = int(min(max(memory_bytes() / 3, 1 * GIB), 8 * GIB)) // 2**20
    log4j = Path(str(files("ropewalk.tables"))) / "log4j2.properties"
    return everywhere | {
        "spark.driver.memory": f"{heap}m",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log4j.as_uri()}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(8 * workers),  # adaptive execution joins small ones
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "ropewalk-warehouse"),
        "spark.ui.enabled": "false",
    }
