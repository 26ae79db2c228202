"""What became of events, from what nodes have written."""

import json
from pathlib import Path

import pytest

from ropewalk.engines.live.cluster import Life
from ropewalk.engines.live.collected import Collected
from ropewalk.errors import InputError
from ropewalk.protocols.contract import Contact

TOPIC, EVENT = 5, 77


def life(folder: Path, node: int, number: int = 0, **more) -> Life:
    return Life(node, node, number, folder / f"{node}.jsonl", Contact(100 + node), **more)


def write(life: Life, *rows: dict) -> None:
    with life.telemetry.open("a") as file:
        file.writelines(json.dumps({"life": life.life} | row) + "\n" for row in rows)


def follows(at: float = 0.0, **more) -> dict:
    return {"table": "subscriptions", "topic": TOPIC, "at": at, "follows": True} | more


def published(at: float) -> dict:
    return {"table": "publications", "event": EVENT, "at": at, "publisher": 101, "topics": [TOPIC], "size": 1}


@pytest.mark.parametrize(("politely", "expected"), [(True, 1), (False, 0)])
def test_who_leaves_politely_owes_what_it_has_published(tmp_path: Path, politely: bool, expected: int) -> None:
    former, reader = life(tmp_path, 1, ended_at=60.0, politely=politely), life(tmp_path, 2)
    write(former, follows(), published(50.0))
    write(reader, follows())
    outcome = Collected([former, life(tmp_path, 1, 1), reader]).outcome(period=1.0)
    assert (outcome["expected"], outcome["missed"]) == (expected, expected)


def test_what_is_got_twice_in_one_life_is_doubled_and_in_two_is_not(tmp_path: Path) -> None:
    publisher, reader, again = life(tmp_path, 1), life(tmp_path, 2, ended_at=60.0), life(tmp_path, 2, 1)
    write(publisher, follows(), published(50.0))
    got = {"table": "deliveries", "event": EVENT, "hops": 1, "at": 51.0}
    write(reader, follows(), got)
    write(again, follows(61.0), got | {"at": 62.0})
    assert Collected([publisher, reader, again]).outcome(1.0)["doubled"] == 0
    write(again, got | {"at": 63.0})
    assert Collected([publisher, reader, again]).outcome(1.0)["doubled"] == 1


def test_a_last_line_may_be_cut_off_and_no_other(tmp_path: Path) -> None:
    one = life(tmp_path, 1)
    one.telemetry.write_text(json.dumps({"life": 0} | follows()) + "\n" + '{"table": "pub')
    assert Collected([one]).published == {}
    one.telemetry.write_text('{"table": "pub\n' + json.dumps({"life": 0} | follows()) + "\n")
    with pytest.raises(InputError, match="line 1 is no JSON"):
        Collected([one])
