from pathlib import Path

import pytest

from ropewalk.errors import InputError, RunError
from ropewalk.tables import frames
from ropewalk.tables.frames import conform, problems_of, read_table, struct_of, write_table
from ropewalk.tables.schema import CONNECTIONS, NAMES, SUBSCRIPTIONS, TABLES, Table
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest, Store, drafted


def store_of(spark: Session, path: Path, tables: dict[str, list[tuple]]) -> Store:
    manifest = Manifest(name="x", made_by="a test", seed=1, settings={})
    with drafted(path, manifest) as draft:
        for name, rows in tables.items():
            write_table(draft, TABLES[name], spark.createDataFrame(rows, struct_of(TABLES[name])))
    return Store.open(path)


def hand_made(path: Path, table: Table, spark: Session, rows: list[tuple], schema: str) -> Store:
    """A store whose table was tampered with after it was made."""
    store = store_of(spark, path, {table.name: []})
    spark.createDataFrame(rows, schema).write.mode("overwrite").parquet(str(path / table.name))
    return store


class TestConform:
    def test_columns_come_in_order_and_type(self, spark: Session) -> None:
        frame = spark.createDataFrame([("3", 1, 2)], "topic string, extra int, node int")
        assert conform(SUBSCRIPTIONS, frame).schema == struct_of(SUBSCRIPTIONS)
        assert [tuple(row) for row in conform(SUBSCRIPTIONS, frame).collect()] == [(2, 3)]

    def test_a_missing_column_is_named_with_those_that_are_there(self, spark: Session) -> None:
        frame = spark.createDataFrame([(1, 2)], "a long, b long")
        with pytest.raises(InputError, match=r"connections: no column \['run', 'stage', 'links'\]; .*\['a', 'b'\]"):
            conform(CONNECTIONS, frame)


class TestWriting:
    def test_what_was_written_is_read_back(self, spark: Session, tmp_path: Path) -> None:
        store = store_of(spark, tmp_path / "s", {"subscriptions": [(1, 10), (2, 10)]})
        assert sorted(tuple(row) for row in read_table(spark, store, SUBSCRIPTIONS).collect()) == [(1, 10), (2, 10)]
        assert store.manifest.tables["subscriptions"].rows == 2

    def test_the_digest_knows_no_order_but_every_value(self, spark: Session, tmp_path: Path) -> None:
        def digest(name: str, rows: list[tuple]) -> str:
            return store_of(spark, tmp_path / name, {"subscriptions": rows}).manifest.tables["subscriptions"].digest

        first = digest("a", [(1, 10), (2, 20), (3, 30)])
        assert digest("b", [(3, 30), (1, 10), (2, 20)]) == first
        assert digest("c", [(1, 10), (2, 20), (3, 31)]) != first
        assert digest("d", [(10, 1), (20, 2), (30, 3)]) != first

    @pytest.mark.parametrize(
        ("rows", "said"),
        [([(1, 10), (1, 10)], r"a key of \(node, topic\) is repeated"), ([(1, None)], r"a key .* is null")],
    )
    def test_a_bad_key_is_refused_and_nothing_kept(
        self, spark: Session, tmp_path: Path, rows: list[tuple], said: str
    ) -> None:
        with pytest.raises(RunError, match=said):
            store_of(spark, tmp_path / "s", {"subscriptions": rows})
        assert list(tmp_path.iterdir()) == []

    def test_rows_that_stayed_on_the_disks_of_other_machines_are_missed(
        self, spark: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "here").mkdir()  # what this machine sees of the folder that others wrote to
        monkeypatch.setattr(frames, "pattern_of", lambda _: str(tmp_path / "here"))
        with pytest.raises(RunError, match=r"subscriptions: 1 rows were written, but 0 .* that all machines share"):
            store_of(spark, tmp_path / "s", {"subscriptions": [(1, 10)]})
        assert not (tmp_path / "s").exists()

    def test_an_empty_table_is_a_table(self, spark: Session, tmp_path: Path) -> None:
        store = store_of(spark, tmp_path / "s", {"subscriptions": []})
        assert read_table(spark, store, SUBSCRIPTIONS).count() == 0

    @pytest.mark.parametrize("name", ["with space", "u[1]", "{a,b}", "50%"])
    def test_any_folder_will_do(self, spark: Session, tmp_path: Path, name: str) -> None:
        store = store_of(spark, tmp_path / name, {"subscriptions": [(1, 10)]})
        assert read_table(spark, store, SUBSCRIPTIONS).count() == 1


class TestReading:
    def test_a_missing_column_is_named(self, spark: Session, tmp_path: Path) -> None:
        store = hand_made(tmp_path / "s", SUBSCRIPTIONS, spark, [(1,)], "node long")
        with pytest.raises(InputError, match=r"no column \['topic'\]; it has \['node'\]"):
            read_table(spark, store, SUBSCRIPTIONS)

    def test_a_column_of_another_type_is_named(self, spark: Session, tmp_path: Path) -> None:
        store = hand_made(tmp_path / "s", SUBSCRIPTIONS, spark, [(1, "x")], "node long, topic string")
        with pytest.raises(InputError, match="column 'topic' is string, but must be bigint"):
            read_table(spark, store, SUBSCRIPTIONS)

    def test_a_folder_without_parquet_is_said_so(self, spark: Session, tmp_path: Path) -> None:
        store = store_of(spark, tmp_path / "s", {"subscriptions": [(1, 10)]})
        for file in (tmp_path / "s" / "subscriptions").iterdir():
            file.unlink()
        with pytest.raises(InputError, match="no readable Parquet"):
            read_table(spark, store, SUBSCRIPTIONS)

    def test_a_file_that_is_not_parquet_is_said_so(self, spark: Session, tmp_path: Path) -> None:
        store = store_of(spark, tmp_path / "s", {"subscriptions": [(1, 10)]})
        for file in (tmp_path / "s" / "subscriptions").glob("*.parquet"):
            file.write_bytes(b"not parquet at all")
        with pytest.raises(InputError, match="no readable Parquet"):
            read_table(spark, store, SUBSCRIPTIONS)


class TestProblems:
    RUN = ("r", "u", "stan", "{}", "batch", 1, "0", "00")

    def test_a_sound_store_has_none(self, spark: Session, tmp_path: Path) -> None:
        views = [("r", "final", node, 1, 1, 1, 1) for node in (1, 2)]
        tables: dict[str, list[tuple]] = {"runs": [self.RUN], "views": views, "connections": [("r", "final", 1, 2, 2)]}
        store_of(spark, tmp_path / "s", tables)
        assert problems_of(spark, tmp_path / "s") == []

    def test_references_that_lead_nowhere_are_found(self, spark: Session, tmp_path: Path) -> None:
        views = [("r", "final", 1, 1, 1, 1, 1), ("q", "final", 5, 1, 1, 1, 1)]
        tables: dict[str, list[tuple]] = {"runs": [self.RUN], "views": views, "connections": [("r", "final", 1, 9, 2)]}
        store_of(spark, tmp_path / "s", tables)
        problems = problems_of(spark, tmp_path / "s")
        assert problems == [
            "connections: {'run': 'r', 'stage': 'final', 'b': 9} does not occur in views",
            "views: {'run': 'q'} does not occur in runs",
        ]

    def test_repeated_keys_of_large_tables_and_changed_rows_are_found(self, spark: Session, tmp_path: Path) -> None:
        twice = [("r", "final", 1, 2, 2), ("r", "final", 1, 2, 3)]
        store_of(spark, tmp_path / "s", {"connections": twice, "names": [("node", 1, "one")]})
        changed = spark.createDataFrame([("node", 1, "two")], struct_of(NAMES))
        changed.write.mode("overwrite").parquet(str(tmp_path / "s" / "names"))
        repeated, tampered = problems_of(spark, tmp_path / "s")
        assert repeated.startswith("connections: a key of (run, stage, a, b) is repeated")
        assert tampered == "names: is not what its manifest tallied"
