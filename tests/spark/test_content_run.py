"""The overlay by interests end to end on small universes: tables, measures, sweeps, and topics in place of filters."""

import json
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ropewalk.cli import simulate
from ropewalk.cli.main import main
from ropewalk.engines.batch.content import digest_of, routing_columns, run_here, spread_columns
from ropewalk.engines.batch.content_sweep import ContentPoint, content_swept
from ropewalk.engines.contents import contents_in
from ropewalk.engines.job import Order
from ropewalk.errors import InputError, UsageError
from ropewalk.experiments.rewire import rewire
from ropewalk.experiments.run import Executed, command_of, execute, ordered
from ropewalk.experiments.workload import make_workload
from ropewalk.measures.together import measured
from ropewalk.protocols.content.filters import Filter, Range
from ropewalk.report.page import render
from ropewalk.tables.frames import problems_of, read_table, struct_of, write_table
from ropewalk.tables.schema import FILTERS, PUBLICATIONS, ROUTING, SPREADS, SUBSCRIPTIONS, VIEWS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest, Store, drafted
from ropewalk.workloads.multi_modal import MultiModal
from ropewalk.workloads.stock_quotes import StockQuotes

pytestmark = pytest.mark.thorough  # runs from end to end, a few seconds each

QUOTES = StockQuotes(nodes=200, stocks=12, price_cells=8, ranges="random", filters_per_node=2, law="rank")
# Few subscriptions, each of many nodes: most are not primaries
ALIKE = StockQuotes(
    nodes=150, stocks=6, price_cells=8, ranges="random", filters_per_node=1, law="rank", exponent=1.5, alike=True
)
TOPICS = MultiModal(nodes=80, topics=20, categories=4, subscriptions_per_node=4.0)


def made(spark: Session, model: StockQuotes | MultiModal, path: Path) -> Store:
    make_workload(model, 3, path, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext())
    return Store.open(path)


@pytest.fixture(scope="module")
def quotes(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return made(spark, QUOTES, tmp_path_factory.mktemp("quotes") / "universe")


def asked(universe: Store, parts: int | None = None, events: int = 300, **told) -> Order:
    return ordered(universe, "kato", "batch", told, seed=3, partitions=parts, events=events)


def executed(spark: Session, universe: Store, out: Path, job: Order) -> Executed:
    return execute(universe, job, out, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext())


@pytest.fixture(scope="module")
def alike(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return made(spark, ALIKE, tmp_path_factory.mktemp("alike") / "universe")


@pytest.fixture(scope="module")
def usual(spark: Session, quotes: Store, tmp_path_factory: pytest.TempPathFactory) -> Executed:
    return executed(spark, quotes, tmp_path_factory.mktemp("usual") / "run", asked(quotes))


def test_a_run_is_sound_and_says_what_events_came_to(spark: Session, quotes: Store, usual: Executed) -> None:
    store = Store.open(Path(usual.document["out"]))
    assert problems_of(spark, store.path) == []
    rows = read_table(spark, store, SPREADS).collect()
    assert len(rows) == 300
    document = usual.document
    assert document["expected"] == sum(row.wanted for row in rows)
    assert document["delivered"] == sum(row.delivered for row in rows)
    reached = sum(row.delivered + row.by_cell + row.by_bits for row in rows)
    spread = document["spread"]
    assert spread["false_positives"] == pytest.approx(sum(row.by_cell + row.by_bits for row in rows) / reached)
    assert spread["false_positives"] == pytest.approx(
        spread["false_positives.by_cell"] + spread["false_positives.by_bits"]
    )
    assert spread["messages"] == pytest.approx(sum(row.messages for row in rows) / reached)
    tables = read_table(spark, store, ROUTING).collect()
    held = {row.node: row.lvs for row in read_table(spark, store, VIEWS).collect()}
    assert {row.node: row.covering + row.covered + row.neighbours + row.ring for row in tables} == held
    assert sum(row.unwanted for row in tables) == sum(row.by_cell + row.by_bits for row in rows)
    assert document["routing"]["table"]["mean"] == pytest.approx(sum(held.values()) / len(held))


def test_who_is_said_to_want_an_event_is_who_has_a_filter_for_it(
    spark: Session, quotes: Store, usual: Executed
) -> None:
    """The oracle: every filter against every event, as words and numbers."""
    store = Store.open(Path(usual.document["out"]))
    wanted: dict[tuple[int, int], dict[str, tuple]] = {}
    for row in read_table(spark, quotes, FILTERS).collect():
        wanted.setdefault((row.node, row["filter"]), {})[row.attribute] = (row.low, row.high, row.value)
    counts = {row.event: row.wanted for row in read_table(spark, store, SPREADS).collect()}
    for event in read_table(spark, store, PUBLICATIONS).collect():
        said = json.loads(event.content)
        nodes = {
            node
            for (node, _), on in wanted.items()
            if on["stock"][2] == said["stock"] and on["price"][0] <= said["price"] <= on["price"][1]
        }
        assert event.publisher in nodes
        assert counts[event.event] == len(nodes) - 1


def test_tasks_change_no_result(spark: Session, quotes: Store, usual: Executed, tmp_path: Path) -> None:
    run = executed(spark, quotes, tmp_path / "run", asked(quotes, parts=1))
    assert (run.document["digest"], run.rows) == (usual.document["digest"], usual.rows)


@pytest.mark.parametrize(
    "told",
    [
        {"hashes": 1},
        pytest.param({"space": "stock:5,price:0:100:8,curve:5"}, marks=pytest.mark.long),  # words by hash, on a curve
        pytest.param({"common": "ignored", "cover": "cells"}, marks=pytest.mark.long),
        pytest.param({"spread": "multicast", "publishers": "anybody"}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_tasks_find_what_one_process_finds_in_every_reading(
    spark: Session, alike: Store, tmp_path: Path, told: dict[str, Any]
) -> None:
    job = asked(alike, parts=7, **told)
    run = executed(spark, alike, tmp_path / "run", job)
    contents = contents_in(spark, alike, job.settings.space)
    overlay, heard = run_here(contents, job.settings, job.events, job.seed)
    store = Store.open(tmp_path / "run")
    for table, key, columns in (
        (ROUTING, "node", routing_columns(contents, overlay, heard)),
        (SPREADS, "event", spread_columns(heard)),
    ):
        rows = read_table(spark, store, table).orderBy(key).collect()
        found = {name: [row[name] for row in rows] for name in columns}
        assert found == {name: values.tolist() for name, values in columns.items()}
    received, sent = heard.received.sum(), spread_columns(heard)["messages"].sum()
    assert received == sent > 0
    picked, ring = np.diff(overlay.links.starts), routing_columns(contents, overlay, heard)["ring"]
    copied = picked[overlay.profiles.primaries] + ring  # everybody holds what its primary does, and its ring
    assert {row[0]: row[2] for row in run.rows}["routing.copied.mean"] == pytest.approx(copied.mean())


@pytest.mark.parametrize("space", ["stock:5,price:0:100:8", "stock:5,price:0:100:8,curve:5"])
def test_nodes_want_the_cells_that_their_filters_touch(spark: Session, alike: Store, space: str) -> None:
    """The oracle: every filter of the stored table, as a node compares it."""
    contents = contents_in(spark, alike, space)
    wanted: dict[int, dict[int, dict[str, Range | str]]] = {}
    for row in read_table(spark, alike, FILTERS).collect():
        on = row.value if row.value is not None else Range(row.low, row.high)
        wanted.setdefault(row.node, {}).setdefault(row["filter"], {})[row.attribute] = on
    interests = contents.interests
    assert contents.space is not None
    for at, node in enumerate(interests.node_ids.tolist()):
        cells = interests.topics[interests.by_node[at] : interests.by_node[at + 1]]
        filters = [Filter(tuple(sorted(each.items()))) for each in wanted[node].values()]
        assert set(interests.topic_ids[cells].tolist()) == set(contents.space.all_cells_of(filters))


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"cover": "cells", "hashes": 3},
        {"space": "stock:4,price:0:100:2"},
        {"space": "stock,price:0:100:8"},  # as the universe says itself
        {"space": ""},  # as its filters are
        {"publishers": "anybody", "spread": "multicast", "common": "ignored", "covering": 2},
    ],
    ids=str,
)
def test_the_command_of_a_run_orders_the_same_run(
    quotes: Store, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any]
) -> None:
    job, orders = asked(quotes, **told), []
    monkeypatch.setattr(simulate, "carry_out", lambda _universe, order, **_shown: orders.append(order))
    name, *words = shlex.split(command_of(quotes, job))
    assert name == "ropewalk"
    assert main([str(quotes.path) if word == "UNIVERSE" else word for word in words]) == 0
    assert orders == [job]


def test_the_command_says_what_is_unusual(quotes: Store) -> None:
    command = "ropewalk simulate kato UNIVERSE --seed 3 --hashes 3 --cover cells --publish 300"
    assert command_of(quotes, asked(quotes, cover="cells", hashes=3)) == command


def test_a_page_shows_tables_by_kind_and_what_became_of_events(
    spark: Session, quotes: Store, usual: Executed, tmp_path: Path
) -> None:
    page = render(usual.document, usual.rows)
    spread = usual.document["spread"]
    for title in ("Who holds how many", "Routing tables", "What became of events"):
        assert f"<h2>{title}</h2>" in page
    assert f"<b>{spread['false_positives']:.1%}</b>" in page
    for name in ("false_positives.by_cell", "false_positives.by_bits", "false_negatives", "depth", "messages"):
        assert f"<td>{spread[name]:.4f}</td>" in page
    assert "before" not in page
    silent = executed(spark, quotes, tmp_path / "run", asked(quotes, events=0))
    page = render(silent.document, silent.rows)
    assert "<h2>Routing tables</h2>" in page
    assert "What became of events" not in page


def test_links_for_every_cell_miss_nothing_and_pass_on_no_bits(spark: Session, quotes: Store, tmp_path: Path) -> None:
    run = executed(spark, quotes, tmp_path / "run", asked(quotes, cover="cells"))
    assert run.document["missed"] == 0
    assert run.document["spread"]["false_positives.by_bits"] == 0


def test_a_topic_is_a_cell_where_there_are_no_filters(spark: Session, tmp_path: Path) -> None:
    universe = made(spark, TOPICS, tmp_path / "topics")
    run = executed(spark, universe, tmp_path / "run", asked(universe, cover="cells"))
    assert run.document["missed"] == 0
    assert run.document["spread"]["false_positives"] == 0  # all of a topic is wanted
    assert run.document["topics"] <= 20
    with pytest.raises(UsageError, match="has no filters, so each topic is a cell"):
        executed(spark, universe, tmp_path / "other", asked(universe, space="price:0:1:4"))


def test_a_space_can_be_told(spark: Session, quotes: Store, tmp_path: Path) -> None:
    assert quotes.manifest.defaults["space"] == "stock,price:0:100:8"
    coarse = contents_in(spark, quotes, "stock:4,price:0:100:2")
    assert coarse.interests.topic_ids.size <= 8
    own = contents_in(spark, quotes, "")
    assert own.space is not None
    assert [each.intervals for each in own.space.attributes] == [16, 12]  # price, stock
    assert len(own.space.cells_of(Filter())) == 16 * 12
    with pytest.raises(UsageError, match=r"do not fit --space 'stock:0'"):
        contents_in(spark, quotes, "stock:0")
    with pytest.raises(UsageError, match=r"attribute price is not in the space stock:4"):
        contents_in(spark, quotes, "stock:4")


def test_words_that_no_filter_names_are_said_as_well(spark: Session, quotes: Store, tmp_path: Path) -> None:
    job = asked(quotes, events=20, space="stock:4,colour:3,price:0:100:2", cover="cells")
    run = executed(spark, quotes, tmp_path / "run", job)
    assert run.document["missed"] == 0
    store = Store.open(tmp_path / "run")
    said = [json.loads(row.content) for row in read_table(spark, store, PUBLICATIONS).collect()]
    assert {each["colour"] for each in said} <= {"colour-0", "colour-1", "colour-2"}


def test_a_universe_without_anybody_is_refused(spark: Session, tmp_path: Path) -> None:
    for table in (FILTERS, SUBSCRIPTIONS):
        path = tmp_path / table.name
        manifest = Manifest(name="nobody", made_by="tests", seed=1, settings={})
        with drafted(path, manifest) as draft:
            write_table(draft, table, spark.createDataFrame([], struct_of(table)))
        with pytest.raises(InputError, match="so nobody wants anything"):
            contents_in(spark, Store.open(path), "")


def test_a_rewired_universe_has_no_filters_and_so_no_space(spark: Session, quotes: Store, tmp_path: Path) -> None:
    rewire(quotes, 1, tmp_path / "rewired", overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext())
    rewired = Store.open(tmp_path / "rewired")
    assert rewired.manifest.defaults.keys() == {"overlay", "connectivity"}
    assert contents_in(spark, rewired, asked(rewired).settings.space).space is None


def test_a_sweep_is_the_same_as_single_runs(spark: Session, quotes: Store, usual: Executed) -> None:
    point = ContentPoint(name="one", model=QUOTES, settings=asked(quotes).settings, seed=3, events=300)
    contents = point.contents()
    overlay, _ = run_here(contents, point.settings, 0, 3)
    assert digest_of(contents, overlay) == usual.document["digest"]
    found = content_swept(spark, [point])
    rows = measured(spark, {name: found[name] for name in ("routing", "spreads")}, examined=False)
    found["rows"].unpersist()
    swept = {(row["measure"], row["group"]): row["value"] for row in rows}
    stored = {
        (measure, group): value for measure, group, value in usual.rows if measure.startswith(("routing", "spread"))
    }
    assert swept == stored


def test_nodes_in_the_simulator_make_the_tables_that_the_batch_engine_says(
    spark: Session, alike: Store, tmp_path: Path
) -> None:
    """The same universe, seed and settings: who links to whom, who stands for whom, and nothing missed."""
    batch = executed(spark, alike, tmp_path / "batch", asked(alike, cover="cells"))
    order = ordered(alike, "kato", "sim", {"rounds": 10}, seed=3, events=100)
    assert order.settings.cover == "cells"  # what nodes promise is what is usual
    sim = executed(spark, alike, tmp_path / "sim", order)
    static, found = (
        {row.node: row for row in read_table(spark, Store.open(Path(each.document["out"])), ROUTING).collect()}
        for each in (batch, sim)
    )
    for name in ("cells", "bits", "covering", "covered", "neighbours", "incoming", "ring", "alike", "primary"):
        assert {node: row[name] for node, row in found.items()} == {node: row[name] for node, row in static.items()}
    store = Store.open(Path(sim.document["out"]))
    assert problems_of(spark, store.path) == []
    assert (sim.document["events"], sim.document["missed"], sim.document["unwanted"]) == (100, 0, 0)
    assert sim.document["expected"] > 500
    assert all(json.loads(row.content) for row in read_table(spark, store, PUBLICATIONS).collect())
    assert "Routing tables" in render(sim.document, sim.rows)


@pytest.mark.long
def test_topics_run_in_the_simulator_with_the_events_of_other_protocols(spark: Session, tmp_path: Path) -> None:
    universe = made(spark, TOPICS, tmp_path / "universe")
    documents = {
        protocol: executed(
            spark,
            universe,
            tmp_path / protocol,
            ordered(universe, protocol, "sim", {"rounds": 10}, seed=3, events=40, topics_per_event=2),
        ).document
        for protocol in ("kato", "scribe")
    }
    assert {document["missed"] for document in documents.values()} == {0}
    assert documents["kato"]["expected"] == documents["scribe"]["expected"] > 0


def test_an_event_of_a_space_is_in_one_cell(spark: Session, quotes: Store, tmp_path: Path) -> None:
    order = ordered(quotes, "kato", "sim", {"rounds": 8}, seed=3, events=4, topics_per_event=2)
    with pytest.raises(UsageError, match="an event is in one cell"):
        executed(spark, quotes, tmp_path / "run", order)
