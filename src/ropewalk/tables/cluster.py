"""What a session needs on a cluster and not at home.

Settings that give way to the user's, this package on the executors, and work cut to the size of what answers.
"""

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.java_gateway import JavaGateway
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ropewalk.errors import RunError
from ropewalk.tables.masters import Master
from ropewalk.tables.shipping import package_file

SETTLED_AFTER = 1.0  # seconds without a new executor; what comes later works, too, but is not counted on
POLL_EVERY = 0.05
WAITING = "spark.scheduler.maxRegisteredResourcesWaitingTime"
PARTITIONS = "spark.sql.shuffle.partitions"
SPARKS_OWN_PARTITIONS = "200"  # what an untouched server says, whatever its size
PYTHON_WORKER = 1024  # mebibytes beside the heap, for each task that runs at once: kernels and Arrow batches

# What a result may depend on: nobody's defaults change it.
FIXED_IN_SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
}
FIXED = FIXED_IN_SQL | {"spark.submit.deployMode": "client"}  # this process is the driver


def respectful(conf: SparkConf, gateway: JavaGateway, master: Master, usual: dict[str, str]) -> SparkConf:
    """What `conf` says, then what the user's spark-defaults.conf and PYSPARK_SUBMIT_ARGS say, then what is usual."""
    found = SparkConf(_jvm=gateway.jvm)
    for name, value in conf.getAll():
        found.set(name, value)
    for name, value in (usual | _usual_on(master, found)).items():
        found.setIfMissing(name, value)
    if "PYSPARK_PYTHON" not in os.environ:  # the only place where pyspark looks
        os.environ["PYSPARK_PYTHON"] = found.get("spark.pyspark.python", sys.executable) or sys.executable
    return found


def _usual_on(master: Master, conf: SparkConf) -> dict[str, str]:
    usual = {WAITING: "120s", "spark.ui.showConsoleProgress": "false"}
    if master.on_this_machine:
        usual |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
        }
    if master.kind in ("yarn", "kubernetes") and not conf.contains("spark.executor.memoryOverheadFactor"):
        # A container is ended when it takes more than heap and overhead, and Spark's own tenth is for the JVM alone.
        tasks = int(conf.get("spark.executor.cores", "1") or 1)
        heap = _mebibytes(conf.get("spark.executor.memory", "1g") or "1g")
        usual["spark.executor.memoryOverhead"] = f"{max(384, heap // 10) + PYTHON_WORKER * tasks}m"
    return usual


def _mebibytes(size: str) -> int:
    """A size as Spark writes it: 800m, 4g; mebibytes where no unit is given."""
    digits, unit = re.fullmatch(r"(\d+)([kmgt]?)b?", size.strip().lower(), flags=re.ASCII).groups()  # type: ignore[union-attr]
    return int(int(digits) * {"k": 1 / 1024, "": 1, "m": 1, "g": 1024, "t": 1024**2}[unit])


@contextmanager
def package_shipped(context: SparkContext) -> Iterator[None]:
    """Executors import this package from what is sent to them, whatever they have."""
    path = list(sys.path)
    with package_file() as package:
        try:
            context.addPyFile(str(package))
            sys.path[:] = path  # we have it already
            yield
        finally:
            sys.path[:] = [entry for entry in sys.path if not entry.endswith(package.name)]


def fit_to_executors(session: SparkSession, master: Master) -> None:
    """Wait for executors, and cut shuffles to their cores unless the user has said how."""
    context = session.sparkContext
    conf = context.getConf()
    if conf.get("spark.dynamicAllocation.enabled", "false") != "true":  # then they come when there is work
        _await_executors(context, master)
    if not conf.contains(PARTITIONS):
        session.conf.set(PARTITIONS, str(partitions_for(context.defaultParallelism)))


def fit_to_server(session: SparkSession) -> None:
    """Cut shuffles to the cores of a Connect server, which tells them only by how it cuts a range."""
    if session.conf.get(PARTITIONS) == SPARKS_OWN_PARTITIONS:
        pieces = session.range(100_000).select(F.spark_partition_id()).distinct().count()
        session.conf.set(PARTITIONS, str(partitions_for(pieces)))


def partitions_for(cores: int) -> int:
    """Eight to a core, so that none waits long for the last; where cores are many, fewer: each costs the driver time."""
    return max(2 * cores, min(8 * cores, 512))


def _await_executors(context: SparkContext, master: Master) -> None:
    spark = context._jsc.sc()  # noqa: SLF001 (no Python door to it)
    seconds = spark.conf().getTimeAsSeconds(WAITING, "120s")
    started = changed = time.monotonic()
    known = 0
    while True:
        found = len(spark.statusTracker().getExecutorInfos()) - 1  # one of them is the driver
        now = time.monotonic()
        if found != known:
            known, changed = found, now
        if known and now - changed >= SETTLED_AFTER:
            return
        if not known and now - started > seconds:
            raise RunError(
                f"no executor came from {master.url} within {seconds} s; see whether it has a core and"
                f" {context.getConf().get('spark.executor.memory', '1g')} of memory free, or raise {WAITING}."
            )
        time.sleep(POLL_EVERY)
