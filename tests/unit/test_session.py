import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ropewalk.errors import RunError, UsageError
from ropewalk.tables import machine, session
from ropewalk.tables.java import Search
from ropewalk.tables.masters import Master, recognised

GIB = 2**30


@pytest.mark.parametrize(("memory", "heap"), [(24 * GIB, "2048m"), (4 * GIB, "1365m"), (1 * GIB, "1024m")])
def test_the_heap_fits_the_machine(monkeypatch: pytest.MonkeyPatch, memory: int, heap: str) -> None:
    monkeypatch.setattr(session, "memory_bytes", lambda: memory)
    assert session._local_settings(recognised("local[2]", "--master"))["spark.driver.memory"] == heap


@pytest.mark.parametrize(
    ("master", "partitions"), [("local[1]", "8"), ("local[2]", "16"), ("local", "24"), ("local[*]", "24")]
)
def test_partitions_follow_the_cores(monkeypatch: pytest.MonkeyPatch, master: str, partitions: str) -> None:
    monkeypatch.setattr(session, "cores", lambda: 3)
    chosen = session._local_settings(recognised(master, "--master"))
    assert chosen["spark.sql.shuffle.partitions"] == partitions


@pytest.mark.parametrize(("memory", "cores", "used"), [(24 * GIB, 2, 2), (4 * GIB, 64, 3), (1 * GIB, 8, 1)])
def test_no_more_workers_than_there_is_memory_for(
    monkeypatch: pytest.MonkeyPatch, memory: int, cores: int, used: int
) -> None:
    monkeypatch.setattr(session, "memory_bytes", lambda: memory)
    monkeypatch.setattr(session, "cores", lambda: cores)
    assert session._local_cores() == used


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where a session would be started, with none started."""
    places: list[str] = []

    class Stopped:
        def stop(self) -> None: ...

    def start(where: Master, _log: Path, _descriptor: int) -> Stopped:
        places.append(where.url)
        return Stopped()

    @contextmanager
    def nothing_sent(*_: object) -> Iterator[None]:
        yield

    def connect(where: str) -> Stopped:
        places.append(f"connect to {where}")
        return Stopped()

    monkeypatch.setattr(session, "_started", start)
    monkeypatch.setattr(session, "_connected", connect)
    monkeypatch.setattr(session, "_on_cluster", nothing_sent)
    monkeypatch.setattr(session.Session, "getActiveSession", lambda: None)
    monkeypatch.setattr(session, "_local_cores", lambda: 3)
    for name in ("SPARK_REMOTE", "SPARK_MASTER"):
        monkeypatch.delenv(name, raising=False)
    return places


def test_where_spark_runs_is_asked_in_order(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def open_and_close(master: str | None = None) -> None:
        with session.opened(master):
            pass

    open_and_close()
    open_and_close("sc://there")
    monkeypatch.setenv("SPARK_MASTER", "spark://head:7077")
    open_and_close()
    monkeypatch.setenv("SPARK_REMOTE", "sc://head")
    open_and_close()
    monkeypatch.setenv("SPARK_REMOTE", "local[2]")
    open_and_close()
    open_and_close()  # it is still there
    open_and_close("local[1]")
    assert asked == [
        "local[3]",
        "connect to sc://there",
        "spark://head:7077",
        "connect to sc://head",
        "connect to local[2]",
        "connect to local[2]",
        "local[1]",
    ]


@pytest.mark.parametrize(
    ("option", "variables", "said"),
    [
        ("localhost", {}, "--master is 'localhost'"),
        (None, {"SPARK_MASTER": "spark://head"}, "SPARK_MASTER is 'spark://head'"),
        (None, {"SPARK_REMOTE": "head:15002"}, "SPARK_REMOTE is 'head:15002'"),
        (
            None,
            {"SPARK_REMOTE": "spark://head:7077"},
            "SPARK_REMOTE is 'spark://head:7077', which is no Connect address",
        ),
    ],
)
def test_nonsense_starts_no_spark(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, option: str | None, variables: dict[str, str], said: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=re.escape(said)), session.opened(option):
        pass
    assert asked == []


def test_no_java_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "find_java", lambda: Search(None, ("PATH: /bin/java is Java 8",)))
    with pytest.raises(
        RunError, match=r"Java 17 or newer \(PATH: /bin/java is Java 8\).*pip install 'ropewalk\[java\]'"
    ):
        session._started(Master("local[1]", "local"), tmp_path / "log", 2)


def test_a_containers_limits_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    whole, cores = machine.memory_bytes(), machine.cores()
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert (machine.memory_bytes(), machine.cores()) == (whole, cores)
    (tmp_path / "memory.max").write_text(f"{GIB // 2}\n")
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert (machine.memory_bytes(), machine.cores()) == (GIB // 2, 1)


def test_an_older_containers_limits_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    for name, text in {"memory/memory.limit_in_bytes": f"{GIB}", "cpu/cpu.cfs_quota_us": "100000"}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000")
    assert (machine.memory_bytes(), machine.cores()) == (GIB, 1)
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1")
    assert machine.cores() >= 1
