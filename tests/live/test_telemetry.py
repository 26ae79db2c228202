"""What a node writes for those who look on."""

import json
from pathlib import Path
from typing import Any

from alive import Node, alive, eventually, read, settled
from ropewalk.engines.live.changes import LIVES, Changes, Linked
from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.identity import topic_of
from ropewalk.engines.live.telemetry import Telemetry
from ropewalk.protocols.contract import Contact

NEWS = topic_of("news")


def rows(path: Path, table: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in found if row["table"] == table]


@alive
async def test_a_delivery_says_over_whom_it_came_and_topics_what_they_are_called(tmp_path: Path) -> None:
    async with Node() as first:
        reader = Node(bootstrap=[first.address])
        telemetry = Telemetry(reader, tmp_path / "b.jsonl")
        async with reader, first.subscribe("news"), reader.subscribe("news") as events:
            telemetry.watch()
            await settled(first, reader, topic=NEWS)
            await first.publish(b"hello", ["news"])
            await read(events, 1)
            (delivery,) = rows(tmp_path / "b.jsonl", "deliveries")
            assert delivery["from"] == first.identity.id
            (followed,) = rows(tmp_path / "b.jsonl", "subscriptions")
            assert (followed["topic"], followed["name"]) == (NEWS, "news")
            await telemetry.close()


@alive
async def test_who_comes_and_leaves_holds_and_is_linked_is_said_as_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = Node()
    telemetry = Telemetry(first, path)
    async with first, first.subscribe("news"):
        telemetry.watch()
        async with Node(bootstrap=[first.address]) as other, other.subscribe("news"):
            await settled(first, other, topic=NEWS)
            await eventually(lambda: any(other.identity.id in row["up"] for row in rows(path, "linked")))
            await eventually(lambda: [other.identity.id] in [row["neighbours"] for row in rows(path, "held")])
            there = other.identity.id
        await eventually(lambda: rows(path, "endings"), "nobody says that the link has ended")
        (ended,) = rows(path, "endings")
        assert (ended["neighbour"], ended["cause"]) == (there, "left")
        await telemetry.close()
    came, left = rows(path, "nodes")
    assert (came["up"], came["address"], left["up"]) == (True, first.address, False)


@alive
async def test_without_watching_nothing_is_written_but_what_runs_are_measured_by(tmp_path: Path) -> None:
    node = Node()
    telemetry = Telemetry(node, tmp_path / "a.jsonl")
    async with node, node.subscribe("news"):
        telemetry.stage("final")
    await telemetry.close()
    tables = {json.loads(line)["table"] for line in (tmp_path / "a.jsonl").read_text().splitlines()}
    assert not tables & {"nodes", "endings", "held", "linked"}


def test_only_what_has_changed_is_said() -> None:
    changes = Changes()
    held = {1: [Contact(7), Contact(8)], 2: [Contact(7)]}
    assert list(changes.held(held)) == [(1, [7, 8]), (2, [7])]
    assert list(changes.held(held)) == []
    assert list(changes.held({1: [Contact(7)]})) == [(1, [7]), (2, [])]


def test_a_link_that_ended_and_is_back_at_the_next_look_is_news_and_silence_ends_after_a_while() -> None:
    changes = Changes()
    assert changes.linked({7: Ending, 8: Ending}, 0.0) == Linked([7, 8], [])
    assert changes.linked({7: Ending, 8: Ending}, 1.0) is None
    changes.unlink(7)
    assert changes.linked({7: Ending, 8: Ending}, 2.0) == Linked([7], [])
    assert changes.linked({7: Ending, 8: Ending}, 2.0 + LIVES) == Linked([], [])
    assert changes.linked({8: Ending}, 13.0) == Linked([], [7])
