"""Where the dashboard's rows come from: files that grow, recordings; and where nodes are drawn."""

import asyncio
import json
import os
import random
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from math import hypot
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.dashboard import feed as feeds
from ropewalk.dashboard import replay, watching
from ropewalk.dashboard.feed import PLACING, Feed, Live, Replayed
from ropewalk.dashboard.judging import GRACE, SILENT
from ropewalk.dashboard.layout import SIZE, first_place, places
from ropewalk.dashboard.picture import Picture
from ropewalk.dashboard.replay import LOT, Player, Recording
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


def test_a_file_whose_name_is_no_text_is_shown_all_the_same(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.jsonl")).write_text(line(1, table="nodes", up=True))
    player = Player(Recording(tmp_path))
    assert b"caf\xef\xbf\xbd" in msgspec.json.encode(player.picture.since(0))


def test_a_file_that_is_replaced_is_read_from_its_beginning(tmp_path: Path) -> None:
    watch, path = Watch([tmp_path]), tmp_path / "a.jsonl"
    path.write_text(line(1) + line(2))
    assert times(watch) == [1, 2]
    path.unlink()
    assert times(watch) == []
    path.write_text(line(5))
    assert times(watch) == [5]


def test_a_file_that_is_copied_again_is_read_on_and_one_that_says_otherwise_from_its_beginning(tmp_path: Path) -> None:
    """As rsync copies: into a new file, which then takes the place of the old one."""
    watch, path, new = Watch([tmp_path]), tmp_path / "a.jsonl", tmp_path / "a.new"

    def copied(said: str) -> list[float]:
        new.write_text(said)
        new.replace(path)
        return times(watch)

    first = "".join(line(at) for at in range(1, 10))
    assert copied(first + line(10)[:20]) == list(range(1, 10))
    assert copied(first + line(10)[:20]) == []
    assert copied(first + line(10) + line(11)) == [10, 11]
    assert copied(first + line(12) + line(13) + line(14)) == [*range(1, 10), 12, 13, 14]
    assert copied(line(15)) == [15]


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


def test_files_that_hold_no_row_are_said_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{}\nno row\n")
    with pytest.raises(InputError, match=r"/x\.jsonl has no row of telemetry\.$"):
        Recording(tmp_path)
    (tmp_path / "y.jsonl").write_text("")
    with pytest.raises(InputError, match=r"^none of the 2 files in .* \(\*\.jsonl\) has a row of telemetry\.$"):
        Recording(tmp_path)


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    chances = random.Random(3)
    for node in range(1, 6):
        rows = [line(100 + node, node, table="nodes", up=True)]
        rows.append(line(100 + node, node, table="held", topic=7, neighbours=[1 + node % 5]))
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


def test_a_moment_looks_the_same_however_often_somebody_wanted_to_be_elsewhere_on_the_way(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "LOT", 7)
    once, hither = Player(recording), Player(recording)
    moment = (recording.begin + recording.end) / 2
    once.seek(moment)
    for turn in range(60):
        for _ in islice(hither.seeking(recording.end if turn % 3 else recording.begin), turn):
            pass
        hither.seek(moment)
        assert (hither.at, shown(hither)) == (moment, shown(once))


@asynccontextmanager
async def running(feed: Feed) -> AsyncIterator[None]:
    looking = asyncio.create_task(feed.run())
    yield
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)


def test_nodes_are_drawn_in_the_same_places_however_a_moment_was_got_to(recording: Recording) -> None:
    async def drawn(*moments: float) -> dict[str, Any]:
        feed = Feed(source := Replayed(Player(recording)))
        async with running(feed):
            await source.told_to({"paused": True})
            for moment in moments:
                await source.told_to({"at": moment})
                await feed.tick()
        return {row[0]: row[2:4] for _, row in feed.picture.since(0)["nodes"]}

    begin, end = recording.begin, recording.end
    once, back = asyncio.run(drawn(end)), asyncio.run(drawn(begin + 2, begin, begin + 20, end))
    assert len(once) == 5
    assert once == back
    assert once != {f"{node:016x}": list(first_place(node)) for node in range(1, 6)}


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


def came(at: float, node: int, *, up: bool) -> str:
    return line(at, node, table="nodes", up=up)


ENDINGS = {  # what happens, and when the recording ends
    "all leave together": ([came(140, 1, up=False), came(141.5, 2, up=False)], 139.75),
    "one takes its time": ([came(140, 1, up=False), came(142.5, 2, up=False)], 139.75),
    "which others notice first": (
        [line(139.5, 2, table="endings", neighbour=1, cause="left", why="left"), *(came(140, node, up=False) for node in (1, 2))],
        139.25,
    ),
    "one by one": ([came(120, 1, up=False), came(140, 2, up=False)], 139.75),
    "one stays": ([came(140, 1, up=False)], 140.0),
    "one stays and says so": ([came(140, 1, up=False), line(141, 2)], 141.0),
    "one was killed": (
        [line(125, 1, table="endings", neighbour=2, cause="failed", why="reset"), came(140, 1, up=False)],
        139.75,
    ),
    "one was lost, and was there": (
        [line(112, 1, table="endings", neighbour=2, cause="failed", why="frozen"), came(140, 1, up=False)],
        140.0,
    ),
    "one was silent for long": ([line(170, 1), came(180, 1, up=False)], 179.75),
    "one comes back": ([came(140, 1, up=False), came(140, 2, up=False), came(141, 2, up=True)], 141.0),
    "nobody leaves": ([line(140, 1)], 140.0),
}  # fmt: skip


@pytest.mark.parametrize("what", ENDINGS)
def test_a_recording_ends_before_all_leave_so_that_somebody_is_left_to_be_seen(tmp_path: Path, what: str) -> None:
    said, end = ENDINGS[what]
    begun = [came(100, node, up=True) for node in (1, 2)] + [line(118, 2)]
    (tmp_path / "a.jsonl").write_text("".join([*begun, *said]))
    player = Player(Recording(tmp_path))
    assert player.recording.end == end
    player.seek(1e6)
    assert player.picture.totals()["up"] >= 1
    assert player.told()["over"]


def test_a_moment_after_hours_of_silence_looks_the_same_too(tmp_path: Path) -> None:
    came = [line(100.0 + node, node, table="nodes", up=True) for node in (1, 2)]
    (tmp_path / "a.jsonl").write_text("".join([*came, line(160.0), line(20_000.0), line(20_003.5)]))
    recording = Recording(tmp_path)
    for moment in (3_000.0, 9_000.0, 20_002.0):
        once, in_steps = Player(recording), Player(recording)
        once.seek(moment)
        while in_steps.at < moment:
            in_steps.step(min(7.0, moment - in_steps.at))
        assert shown(once) == shown(in_steps)
        assert once.picture.since(0)["points"] == in_steps.picture.since(0)["points"]
        assert [node.since for node in once.picture.nodes.values()] == [
            node.since for node in in_steps.picture.nodes.values()
        ]


def test_who_reads_while_a_recording_is_played_reads_something_whole_and_is_not_kept_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(line(100 + at / 100, node) for at in range(1500) for node in (1 + at % 7,))
    (tmp_path / "a.jsonl").write_text(rows + line(3000.0))
    player = Player(Recording(tmp_path))
    threads: set[int] = set()
    take = Picture.take

    def taken(self: Picture, *arguments: Any) -> None:
        threads.add(threading.get_ident())
        take(self, *arguments)

    monkeypatch.setattr(Picture, "take", taken)

    async def whole() -> tuple[int, int]:
        source, turns = Replayed(player), []
        for at in (player.recording.end, player.recording.begin + 14.0):
            moving, count = asyncio.ensure_future(source.told_to({"at": at})), 0
            before, nodes = source.picture, len(source.picture.nodes)
            while not moving.done():
                count += 1
                assert at > player.at or (source.picture, len(before.nodes)) == (
                    before,
                    nodes,
                )  # the old one, untouched
                await asyncio.sleep(0)
            await moving
            assert player.at == at
            turns.append(count)
        return turns[0], turns[1]

    forwards, backwards = asyncio.run(whole())
    assert threads == {threading.get_ident()}
    assert forwards > 2500  # rows in lots, and then hardly more than a second of silence at a time
    assert backwards > 1400 // LOT


def test_who_wants_to_be_elsewhere_does_not_wait_until_it_has_come_where_it_was_sent_before(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(line(100.0 + at) for at in range(5000)))
    player = Player(Recording(tmp_path))
    begin, end = player.recording.begin, player.recording.end

    async def sent(*moments: float) -> list[float]:
        """Where it was when each had an answer."""
        source, were = Replayed(player), []

        async def go(at: float) -> None:
            await source.told_to({"at": at})
            were.append(player.at)

        going = []
        for at in moments:
            going.append(asyncio.create_task(go(at)))
            for _ in range(5):
                await asyncio.sleep(0)
        await asyncio.gather(*going)
        return were

    there = asyncio.run(sent(end, begin + 9, end - 1, begin + 5))
    assert there[-1] == begin + 5
    assert max(there) < begin + 1000
    player.seek(end)
    assert asyncio.run(sent(begin + 4000, begin + 3000, begin + 2000)) == [end, end, begin + 2000]


class Looked:
    """Nodes that write into a folder, and who looks at it, each by a clock of their own."""

    def __init__(self, folder: Path, now: float = 10_000.0) -> None:
        self.folder, self.now = folder, now
        self.ahead = {1: 0.0, 2: 0.0, 3: 0.0}  # seconds, by node
        self.live = Live(Watch([folder]), clock=lambda: self.now)

    def say(self, node: int, table: str = "linked", **about: Any) -> None:
        said: dict[str, Any] = {"at": self.now + self.ahead[node], "node": node, "table": table} | about
        with (self.folder / f"{node}.jsonl").open("a") as file:
            file.write(line(**said))

    def look(self) -> dict[int, str]:
        asyncio.run(self.live.step())
        return {node.id: node.state for node in self.live.picture.nodes.values()}

    def go_on(self, seconds: float, *nodes: int) -> Iterator[dict[int, str]]:
        """These say every five seconds that they live; what is seen after each."""
        for _ in range(int(seconds / 5)):
            self.now += 5
            for node in nodes:
                self.say(node)
            yield self.look()


@pytest.fixture
def looked(tmp_path: Path) -> Looked:
    found = Looked(tmp_path)
    for node in found.ahead:
        found.say(node, "nodes", up=True)
    found.look()
    return found


def test_places_are_thought_about_only_if_something_has_changed(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    weights = Picture.weights

    def counted(self: Picture) -> dict[tuple[int, int], int]:
        looks.append(self.shifts)
        return weights(self)

    async def whole() -> None:
        feed = Feed(looked.live)
        async with running(feed):
            for _ in range(4):
                await feed.tick()
                looked.now += 1  # charts go on

    monkeypatch.setattr(Picture, "weights", counted)
    asyncio.run(whole())
    assert len(looks) == 1


def test_what_changes_all_the_time_is_not_looked_at_at_every_tick(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, looks, weights = 1000.0, 0, Picture.weights

    def counted(self: Picture) -> dict[tuple[int, int], int]:
        nonlocal looks
        looks += 1
        return weights(self)

    async def whole() -> None:
        nonlocal now
        feed = Feed(looked.live)
        async with running(feed):
            await feed.tick()  # places are given, and need not be given again
            for after in (PLACING + 1.0, 0.0, 0.0, 0.0):
                now += after
                looked.say(1, "held", topic=7, neighbours=[])
                shifts = feed.picture.shifts
                while feed.picture.shifts == shifts:
                    await feed.tick()

    monkeypatch.setattr(Picture, "weights", counted)
    monkeypatch.setattr(feeds, "time", SimpleNamespace(monotonic=lambda: now))
    asyncio.run(whole())
    assert looks == 2


ALL_UP = {1: "up", 2: "up", 3: "up"}


@pytest.mark.parametrize("ahead", [-3600.0, -60.0, 60.0, 3600.0])
def test_a_node_with_a_wrong_clock_takes_nobody_down_and_is_down_itself_when_it_is_silent(
    looked: Looked, ahead: float
) -> None:
    looked.ahead[1] = ahead
    for seen in looked.go_on(120, 1, 2, 3):
        assert (seen, looked.live.picture.now) == (ALL_UP, looked.now)
    assert list(looked.go_on(SILENT + 10, 2, 3))[-1] == {**ALL_UP, 1: "down"}
    assert list(looked.go_on(5, 1, 2, 3))[-1] == ALL_UP


def test_a_time_that_makes_no_sense_does_not_stop_the_page(looked: Looked) -> None:
    looked.say(1, at=9e11)
    looked.look()
    points = len(looked.live.picture.series.points)
    assert list(looked.go_on(60, 1, 2, 3))[-1] == ALL_UP
    assert len(looked.live.picture.series.points) >= points + 55


def test_a_clock_of_who_looks_that_is_set_back_heals(looked: Looked) -> None:
    list(looked.go_on(60, 1, 2, 3))
    looked.now -= 3600
    for seen in looked.go_on(60, 1, 2, 3):
        assert (seen, looked.live.picture.now) == (ALL_UP, looked.now)
    assert max(at for at, _ in looked.live.picture.since(0)["points"]) <= looked.now
    assert list(looked.go_on(SILENT + 10, 2, 3))[-1] == {**ALL_UP, 1: "down"}


@pytest.mark.parametrize("ahead", [-60.0, 0.0, 60.0])
def test_who_is_lost_by_a_node_with_a_wrong_clock_is_given_the_same_time(looked: Looked, ahead: float) -> None:
    looked.ahead[1] = ahead
    list(looked.go_on(10, 1, 2, 3))
    looked.now += 1
    looked.say(1, "endings", neighbour=2, cause="failed", why="reset")
    looked.look()
    looked.now += 1.5
    looked.say(2, down=[1])
    assert looked.look() == ALL_UP
    looked.now += GRACE["reset"]
    assert looked.look() == ALL_UP


def test_who_has_a_slow_clock_and_is_lost_is_down_and_back_with_its_next_word(looked: Looked) -> None:
    looked.ahead[2] = -60.0
    list(looked.go_on(10, 1, 2, 3))
    looked.say(1, "endings", neighbour=2, cause="failed", why="reset")
    looked.look()
    looked.now += GRACE["reset"] + 1.5
    assert looked.look() == {**ALL_UP, 2: "down"}
    assert list(looked.go_on(5, 1, 2, 3))[-1] == ALL_UP


def test_what_was_written_before_anybody_looked_is_of_then(tmp_path: Path) -> None:
    looked = Looked(tmp_path)
    for node in (1, 2):
        looked.say(node, "nodes", up=True, at=looked.now - (100.0 if node == 1 else 1.0))
    assert looked.look() == {1: "down", 2: "up"}


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
