"""Where the dashboard's rows come from: files that grow, recordings; and where nodes are drawn."""

import json
import random
from math import hypot
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.dashboard import watching
from ropewalk.dashboard.layout import SIZE, first_place, places
from ropewalk.dashboard.replay import Player, Recording
from ropewalk.dashboard.watching import Watch
from ropewalk.errors import InputError


def line(at: float, node: int = 1, **about: Any) -> str:
    return json.dumps({"table": "linked", "life": 0, "node": node, "at": at, "up": [], "down": []} | about) + "\n"


def read(watch: Watch) -> list[tuple[Any, str]]:
    return list(watch.more())


def times(watch: Watch) -> list[float]:
    return [row.at for row, _ in read(watch)]


def test_files_are_read_on_as_they_grow_and_new_ones_are_found(tmp_path: Path) -> None:
    watch = Watch([tmp_path])
    assert times(watch) == []
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    a.write_text(line(1) + line(3)[:20])
    assert times(watch) == [1]
    with a.open("a") as file:
        file.write(line(3)[20:] + "no row\n")
    b.write_text(line(2, node=2))
    assert [(row.at, name) for row, name in read(watch)] == [(2, "b"), (3, "a")]
    assert (times(watch), watch.unreadable) == ([], 1)


def test_a_file_that_is_replaced_is_read_from_its_beginning(tmp_path: Path) -> None:
    watch, path = Watch([tmp_path]), tmp_path / "a.jsonl"
    path.write_text(line(1) + line(2))
    assert times(watch) == [1, 2]
    path.unlink()
    assert times(watch) == []
    path.write_text(line(5))
    assert times(watch) == [5]


def test_much_is_read_a_part_at_a_time_and_nobody_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "AT_ONCE", 200)
    monkeypatch.setattr(watching, "MOST_AT_ONCE", 500)
    for node in range(6):
        (tmp_path / f"{node}.jsonl").write_text("".join(line(at, node) for at in range(1, 21)))
    watch = Watch([tmp_path])
    found = read(watch)
    while watch.behind:
        found += read(watch)
    assert sorted((row.node, row.at) for row, _ in found) == [(node, at) for node in range(6) for at in range(1, 21)]


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        Watch([tmp_path / "no"])
    with pytest.raises(InputError, match="holds no telemetry"):
        Recording(tmp_path)


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    chances = random.Random(3)
    for node in range(1, 6):
        rows = [line(100 + node, node, table="nodes", up=True)]
        at = 100.0 + node
        for _ in range(30):
            at += chances.random() * 2
            others = [other for other in range(1, 6) if other != node and chances.random() < 0.5]
            rows.append(line(at, node, up=others, down=[other for other in range(1, 6) if other not in others]))
        (tmp_path / f"{node}.jsonl").write_text("".join(rows))
    return Recording(tmp_path)


def shown(player: Player) -> Any:
    told = player.picture.since(0)
    return {name: sorted(map(str, told.get(name, ()))) for name in ("nodes", "links")}, told["totals"]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_moment_looks_the_same_however_it_was_got_to(recording: Recording, share: float) -> None:
    moment = recording.begin + share * (recording.end - recording.begin)
    once, in_steps, back = Player(recording), Player(recording), Player(recording)
    once.seek(moment)
    while in_steps.at < moment:
        in_steps.step(min(0.25, moment - in_steps.at))
    back.seek(recording.end)
    back.seek(moment)
    numbers = [{node.id: node.number for node in player.picture.nodes.values()} for player in (once, in_steps, back)]
    assert numbers[0] == numbers[1] == numbers[2]
    assert shown(once) == shown(in_steps) == shown(back)


def test_a_replay_goes_on_by_its_speed_stops_when_paused_and_at_the_end(recording: Recording) -> None:
    player = Player(recording, speed=4.0)
    player.step(0.5)
    assert player.at == recording.begin + 2.0
    player.paused = True
    player.step(10)
    assert player.at == recording.begin + 2.0
    player.paused = False
    player.step(10_000)
    assert (player.at, player.told()["over"]) == (recording.end, True)
    player.seek(0)
    assert player.at == recording.begin


graphs = st.integers(1, 40).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.dictionaries(
            st.tuples(st.integers(1, count), st.integers(1, count)).filter(lambda pair: pair[0] < pair[1]),
            st.integers(1, 9),
            max_size=80,
        ),
    )
)


@given(graphs, st.randoms())
def test_places_depend_on_who_is_linked_and_on_nothing_else(graph: Any, chances: Any) -> None:
    count, links = graph
    nodes, order = list(range(1, count + 1)), list(links.items())
    found = places(nodes, links)
    chances.shuffle(nodes)
    chances.shuffle(order)
    assert places(nodes, dict(order)) == found
    assert set(found) == set(nodes)
    assert all(0 <= x <= SIZE and 0 <= y <= SIZE for x, y in found.values())


def test_nobody_is_drawn_on_top_of_another() -> None:
    links = {(a, b): 1 + (a * b) % 7 for a in range(1, 101) for b in range(a + 1, 101) if (a * 31 + b * 17) % 11 == 0}
    found = list(places(range(1, 101), links).values())
    apart = min((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 for n, a in enumerate(found) for b in found[:n]) ** 0.5
    assert apart > SIZE / 30


def test_who_shares_more_topics_is_nearer() -> None:
    links = {(a, b): 9 if a // 20 == b // 20 else 1 for a in range(60) for b in range(a + 1, 60) if (a + b) % 3 == 0}
    found = places(range(60), links)

    def distance(pair: tuple[int, int]) -> float:
        (ax, ay), (bx, by) = found[pair[0]], found[pair[1]]
        return hypot(ax - bx, ay - by)

    close = [distance(pair) for pair, weight in links.items() if weight == 9]
    far = [distance(pair) for pair, weight in links.items() if weight == 1]
    assert sum(close) / len(close) < 0.7 * sum(far) / len(far)


def test_a_newcomer_leaves_others_about_where_they_were() -> None:
    links = {(a, a + 1): 3 for a in range(1, 60)}
    before = places(range(1, 61), links)
    after = places(range(1, 62), links | {(60, 61): 3}, before)
    moved = sorted(((after[n][0] - x) ** 2 + (after[n][1] - y) ** 2) ** 0.5 for n, (x, y) in before.items())
    assert moved[len(moved) // 2] < SIZE / 8
    assert first_place(5) == first_place(5) != first_place(6)
