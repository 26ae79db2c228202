from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from ropewalk.errors import InputError, RunError
from ropewalk.tables.failures import cause, failures_said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            (
                "An error occurred while calling o601.collectToPython.\n: org.apache.spark.SparkException: Job aborted\n"
                "\tat org.apache.spark.x(y.scala:1)\nCaused by: java.io.FileNotFoundException: \nCaused by: a.B: no file f."
            ),
            "a.B: no file f",
        ),
        (
            (
                "An exception was thrown from the Python worker.\nTraceback (most recent call last):\n"
                '  File "x.py", line 3\nValueError: the rope broke\n'
            ),
            "ValueError: the rope broke",
        ),
        (
            "Caused by: a.B\nTraceback (most recent call last):\nropewalk.errors.RunError: the rope broke; splice it.\n\n\tat x",
            "the rope broke; splice it",
        ),
        ("[UNRESOLVED_COLUMN] no such column\n'Project", "[UNRESOLVED_COLUMN] no such column"),
        ("", "Exception"),
    ],
)
def test_the_line_that_says_most_is_told(text: str, said: str) -> None:
    assert cause(Exception(text)) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ModuleNotFoundError: No module named 'numba'\n", "has no package 'numba'"),
        ("Error from python worker:\n  /usr/bin/python3: No module named pyspark\n", "has no package 'pyspark'"),
        ('java.io.IOException: Cannot run program "/opt/x/python": error=2', "is /opt/x/python, which is not there"),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in driver: 3.11, PySpark cannot run",
            "is version 3.12, but this command runs on 3.11;",
        ),
    ],
)
def test_what_executors_lack_is_said_with_what_to_do(text: str, said: str) -> None:
    with pytest.raises(RunError, match=r"executors run .*set PYSPARK_PYTHON") as caught, failures_said(Path("the.log")):
        raise PySparkException(text)
    assert said in str(caught.value)
    assert str(caught.value).endswith("; its log is the.log.")


def test_a_file_that_only_this_machine_has_is_said() -> None:
    with pytest.raises(InputError, match="every machine must reach it"), failures_said(None):
        raise PySparkException("Caused by: java.io.FileNotFoundException: File file:/u/part-0.parquet does not exist")


def test_a_lost_file_of_sparks_own_is_no_bad_input() -> None:
    lost = "Caused by: java.io.FileNotFoundException: /tmp/blockmgr-4f2/0c/shuffle_1_0_0.data (No such file)"
    with pytest.raises(RunError, match="the Spark job failed"), failures_said(None):
        raise PySparkException(lost)
