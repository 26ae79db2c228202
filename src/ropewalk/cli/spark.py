"""A Spark session for a verb, with its start and its tasks shown."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext

from ropewalk.cli.talk import Talk
from ropewalk.tables.session import Session, is_open, opened, tasks_done


@contextmanager
def spark_for(talk: Talk, master: str | None) -> Iterator[Session]:
    """Start Spark (or use the session that is open), and let `talk` see how far its jobs are."""
    with ExitStack() as stack:
        with nullcontext() if is_open() else talk.phase("start Spark"):
            spark = stack.enter_context(opened(master))
        talk.tasks = lambda: tasks_done(spark)
        yield spark
