"""What Spark raises, as one sentence: the line that says most, and for what goes wrong on other machines, what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from ropewalk.errors import InputError, RunError

SCRATCH = ("blockmgr-", "/shuffle_", "/temp_shuffle_")  # in paths of what Spark itself keeps in between
UNREADABLE = ("FAILED_READ_FILE", "is not a Parquet file", "FileNotFoundException", "PATH_NOT_FOUND")
# What executors say when their Python is not fit for our tasks, and what that means.
UNFIT = {
    r"No module named '?([\w.]+)": "has no package {0!r}",
    r"Cannot run program \"([^\"]+)\"": "is {0}, which is not there",
    r"PYTHON_VERSION_MISMATCH\D*([\d.]+)\D*([\d.]+\d)": "is version {0}, but this command runs on {1}",
}


@contextmanager
def failures_said(log: Path | None) -> Iterator[None]:
    """What Spark raises in the block, as an error of ours; `log` is where it has said more."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise _ours(error, log) from error


def _ours(error: Exception, log: Path | None) -> InputError | RunError:
    text, said = str(error), cause(error)
    more = f"; its log is {log}" if log is not None else ""
    for pattern, meaning in UNFIT.items():
        if found := re.search(pattern, text):
            unfit = meaning.format(*found.groups())
            return RunError(
                f"the Python that Spark's executors run {unfit}; give them the packages of this environment and set"
                f" PYSPARK_PYTHON to their Python, as docs/cluster.md says{more}."
            )
    if any(sign in text for sign in UNREADABLE) and not any(sign in said for sign in SCRATCH):
        return InputError(f"an input file cannot be read: {said}; on a cluster every machine must reach it.")
    return RunError(f"the Spark job failed: {said}{more}.")


def cause(error: Exception) -> str:
    """The line of a Spark error that says most: what a Python worker raised, else the innermost Java cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = re.findall(r"^ropewalk\.errors\.\w+: (.+)", "\n".join(lines), flags=re.MULTILINE)  # already a sentence
    raised = ours or [line for line in lines if re.match(r"[A-Z]\w*(Error|Exception): ", line)]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    first = [line for line in lines if not line.startswith("An error occurred while calling")]
    said = (raised[-1:] or causes[-1:] or first[:1] or [type(error).__name__])[0]
    return said[:300].rstrip(".")
