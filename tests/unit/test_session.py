from pathlib import Path

import pytest

from ropewalk.errors import RunError
from ropewalk.tables import machine, session
from ropewalk.tables.java import Search

GIB = 2**30


@pytest.mark.parametrize(("memory", "heap"), [(24 * GIB, "8192m"), (4 * GIB, "1365m"), (1 * GIB, "1024m")])
def test_the_heap_fits_the_machine(monkeypatch: pytest.MonkeyPatch, memory: int, heap: str) -> None:
    monkeypatch.setattr(session, "memory_bytes", lambda: memory)
    assert session._settings("local[2]")["spark.driver.memory"] == heap


@pytest.mark.parametrize(("cores", "partitions"), [(1, "8"), (2, "16")])
def test_partitions_follow_the_cores(monkeypatch: pytest.MonkeyPatch, cores: int, partitions: str) -> None:
    monkeypatch.setattr(session, "cores", lambda: cores)
    assert session._settings(f"local[{cores}]")["spark.sql.shuffle.partitions"] == partitions


def test_a_cluster_keeps_its_own_memory_and_addresses() -> None:
    chosen = session._settings("spark://head:7077")
    assert not [key for key in chosen if key.startswith("spark.driver")]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where a session would be started, with none started."""
    places: list[str] = []

    class Stopped:
        def stop(self) -> None: ...

    def start(where: str, _log: Path | None = None) -> Stopped:
        places.append(where)
        return Stopped()

    monkeypatch.setattr(session, "_started", start)
    monkeypatch.setattr(session, "_connected", start)
    monkeypatch.setattr(session.Session, "getActiveSession", lambda: None)
    monkeypatch.setattr(session, "cores", lambda: 3)
    for name in ("SPARK_REMOTE", "SPARK_MASTER"):
        monkeypatch.delenv(name, raising=False)
    return places


def test_where_spark_runs_is_asked_in_order(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def open_and_close(master: str | None = None) -> None:
        with session.opened(master):
            pass

    open_and_close()
    monkeypatch.setenv("SPARK_MASTER", "spark://head:7077")
    open_and_close()
    monkeypatch.setenv("SPARK_REMOTE", "sc://head")
    open_and_close()
    open_and_close("local[1]")
    assert asked == ["local[3]", "spark://head:7077", "sc://head", "local[1]"]


def test_no_java_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "find_java", lambda: Search(None, ("PATH: /bin/java is Java 8",)))
    with pytest.raises(
        RunError, match=r"Java 17 or newer \(PATH: /bin/java is Java 8\).*pip install 'ropewalk\[java\]'"
    ):
        session._started("local[1]", tmp_path / "log")


def test_a_containers_limit_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(machine, "LIMIT_FILES", (limit,))
    whole = machine.memory_bytes()
    limit.write_text("max\n")
    assert machine.memory_bytes() == whole
    limit.write_text(f"{GIB // 2}\n")
    assert machine.memory_bytes() == GIB // 2
