"""The only place where a Spark session is built: local by default, on a cluster by one setting.

What is asked for first wins: the argument (`--master`), SPARK_REMOTE, SPARK_MASTER, else local on all cores that this
process may use. Spark's words go to a log file, not to the terminal; an error says where it lies.
"""

import logging
import os
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ropewalk.errors import InputError, RunError, UsageError
from ropewalk.tables.java import OLDEST, find_java
from ropewalk.tables.machine import cores, memory_bytes

GIB = 2**30

Session = SparkSession


@contextmanager
def opened(master: str | None = None) -> Iterator[SparkSession]:
    """A session for the length of the block. One that is open already is used as it is and left open."""
    running = SparkSession.getActiveSession()
    if running is not None:
        with _failures_said(log=None):
            yield running
        return
    where = master or os.environ.get("SPARK_REMOTE") or os.environ.get("SPARK_MASTER") or f"local[{cores()}]"
    if where.startswith("sc://"):
        with _failures_said(log=None):
            yield _connected(where)  # the server's session is not ours to stop
        return
    log = Path(tempfile.mkstemp(prefix="ropewalk-spark-", suffix=".log")[1])
    failed = False
    try:
        session = _started(where, log)
        try:
            with _failures_said(log):
                yield session
        finally:
            with suppress(OSError, Py4JError):  # the JVM may be gone, by the very signal that ends us
                session.stop()
    except RunError as error:
        failed = str(log) in str(error)  # then it is what the user reads next
        raise
    finally:
        if not failed:
            log.unlink(missing_ok=True)


def tasks_done(spark: SparkSession) -> tuple[int, int] | None:
    """How many tasks of the stages now running are done, of how many; None where Spark does not say."""
    try:
        tracker = spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    except Exception:  # noqa: BLE001 (a Connect session, or one that is just stopping, has no tracker: no progress, no harm)
        return None
    known = [stage for stage in stages if stage is not None]
    if not known:
        return None
    return sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known)


def _connected(remote: str) -> SparkSession:
    os.environ.pop("SPARK_REMOTE", None)  # given as an argument below; both at once confuse the builder
    try:
        return SparkSession.builder.remote(remote).getOrCreate()
    except ImportError as error:
        raise UsageError(
            f"{remote} is a Spark Connect address, which needs more packages; pip install 'pyspark[connect]'."
        ) from error
    except PySparkException as error:
        raise RunError(f"no Spark Connect server answered at {remote}; is it running?") from error


@contextmanager
def _failures_said(log: Path | None) -> Iterator[None]:
    """What Spark raises, as one sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line)]  # by a Python worker, last
        cause = (raised or lines or [type(error).__name__])[-1 if raised else 0]
        if "FAILED_READ_FILE" in str(error) or "is not a Parquet file" in str(error):
            raise InputError(f"an input file cannot be read: {cause[:300]}.") from error
        where = f"; its log is {log}" if log is not None else ""
        raise RunError(f"the Spark job failed: {cause[:300]}{where}.") from error


def _started(master: str, log: Path) -> SparkSession:
    search = find_java()
    if search.java is None:
        reasons = "; ".join(search.passed_over) or "none was found in JAVA_HOME or on PATH"
        raise RunError(
            f"Spark needs Java {OLDEST} or newer ({reasons}); install one, or: pip install 'ropewalk[java]'."
        )
    builder = SparkSession.builder.appName("ropewalk").master(master)
    for key, value in _settings(master).items():
        builder = builder.config(key, value)
    environment = {"JAVA_HOME": str(search.java.home)}
    if master.startswith("local") or "PYSPARK_PYTHON" not in os.environ:
        environment["PYSPARK_PYTHON"] = sys.executable
    os.environ.update(environment)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # errors are ours to tell
    on_interrupt = signal.getsignal(signal.SIGINT)
    try:
        with _stderr_to(log):
            session = builder.getOrCreate()
    except Exception as error:
        raise RunError(f"Spark did not start on {master}; its log is {log}.") from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, on_interrupt)  # pyspark puts its own in, which can hide the interrupt
    return session


def _settings(master: str) -> dict[str, str]:
    everywhere = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.execution.arrow.maxBytesPerBatch": "16m",  # bounds what a kernel holds, whatever the universe
        "spark.ui.showConsoleProgress": "false",
    }
    if not master.startswith("local"):
        return everywhere
    # A third of the memory for the JVM, the rest for Python workers and the page cache that keeps shuffle files.
    heap = int(min(max(memory_bytes() / 3, 1 * GIB), 8 * GIB)) // 2**20
    log4j = files("ropewalk.tables") / "log4j2.properties"
    return everywhere | {
        "spark.driver.memory": f"{heap}m",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{log4j}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(8 * cores()),  # adaptive execution joins small ones
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "ropewalk-warehouse"),
        "spark.ui.enabled": "false",
    }


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """What is started inside inherits `log` as its standard error: the JVM keeps it for life."""
    kept = os.dup(2)
    target = os.open(log, os.O_WRONLY | os.O_APPEND)
    try:
        os.dup2(target, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(target)
