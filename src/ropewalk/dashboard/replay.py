"""A recorded run, played by the times in it: faster, slower, from anywhere. What it shows then depends on nothing but that moment."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from ropewalk.dashboard import rows
from ropewalk.dashboard.judging import GRACE, SILENT
from ropewalk.dashboard.layout import Place, places
from ropewalk.dashboard.picture import MOST_NODES, Picture
from ropewalk.dashboard.series import FAR
from ropewalk.dashboard.watching import Read, Watch
from ropewalk.errors import InputError

MOST_BYTES = 512 * 1_048_576  # ours: all rows are kept, and take some four times as much
LOT = 100  # ours: rows that are taken in at a time
STRIDE = 1.0  # ours, seconds of the recording: likewise, where there are no rows
TOGETHER = 5.0  # ours, seconds: nodes that leave no further apart leave together; one good-bye may take two, and more on a busy machine
EVE = 0.25  # ours, seconds: how long before they do a recording ends
SLOWEST, FASTEST = 0.05, 1000.0  # ours: times the speed at which it was


class Recording:
    """All rows of a folder, by time."""

    def __init__(self, folder: Path) -> None:
        watch = Watch([folder])
        paths = list(folder.glob("*.jsonl"))
        size = sum(path.stat().st_size for path in paths)
        if size > MOST_BYTES:
            raise InputError(f"{folder} holds {size} bytes of telemetry, and {MOST_BYTES} can be replayed.")
        self.rows: list[Read] = []
        self.rows += watch.more()
        while watch.behind:
            self.rows += watch.more()
        self.unreadable = watch.unreadable
        self.rows.sort(key=lambda each: rows.time_of(each[0]))
        self.times = [rows.time_of(row) for row, _ in self.rows]
        timed = [at for at in self.times if at]
        if not timed:
            raise InputError(_nothing_in(folder, paths))
        self.begin = timed[0]
        self.end = max(self.begin, min(timed[-1], _eve([row for row, _ in self.rows])))
        self.places = _places(row for row, _ in self.rows)


def _nothing_in(folder: Path, paths: list[Path]) -> str:
    if not paths:
        return f"{folder} holds no telemetry (*.jsonl); record some with `ropewalk cluster --telemetry`."
    if len(paths) == 1:
        return f"{paths[0]} has no row of telemetry."
    return f"none of the {len(paths)} files in {folder} (*.jsonl) has a row of telemetry."


def _eve(said: list[rows.Any]) -> float:
    """When it is about to be over since all who are still there leave together: nobody wants to be left with that. Never, if somebody stays."""
    words = {row.node: row for row in said if isinstance(row, rows.OfNode)}  # the last of each
    leaving = sorted((row.at for row in words.values() if isinstance(row, rows.Came) and not row.up), reverse=True)
    if not leaving:
        return float("inf")
    begun = leaving[0]
    for at in leaving:
        begun = at if begun - at <= TOGETHER else begun
    endings = [row for row in said if isinstance(row, rows.Ended) and row.why in GRACE and row.cause != "closed"]
    lost = {row.neighbour: row.at for row in endings}
    for node, row in words.items():
        left = isinstance(row, rows.Came) and not row.up
        if not left and row.at > max(begun - SILENT, lost.get(node, 0.0)):
            return float("inf")
    parting = [row.at for row in said if isinstance(row, rows.Ended) and row.why == "left"]  # noticed before it is said
    return min(at for at in [begun, *parting] if at >= begun - TOGETHER) - EVE


def _places(said: Iterable[rows.Any]) -> dict[int, Place]:
    """Where nodes are drawn from beginning to end: by all that ever linked them, so that no moment depends on how it was got to."""
    nodes: dict[int, None] = {}
    by_topic: dict[int, list[rows.Held]] = {}
    for row in said:
        named = [row.node] if isinstance(row, rows.OfNode) else []
        if isinstance(row, rows.Held):
            by_topic.setdefault(row.topic, []).append(row)
            named += row.neighbours
        if isinstance(row, rows.Linked):
            named += row.up
        if len(nodes) < MOST_NODES:
            nodes.update(dict.fromkeys(named))
    weights: Counter[tuple[int, int]] = Counter()
    for held in by_topic.values():  # one after the other, since all together are many
        weights.update({(min(row.node, other), max(row.node, other)) for row in held for other in row.neighbours})
    return places(nodes, weights)


class Played:
    """A picture, with the rows up to somewhere in it."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.picture = Picture(recording.places)
        self._next = 0

    def on(self, at: float) -> Iterator[None]:
        """Up to there, in lots: in between the picture is one of an earlier moment."""
        upto = bisect_right(self.recording.times, at)
        while self._next < upto:
            row, name = self.recording.rows[self._next]
            yield from self._wait(rows.time_of(row))
            self.picture.take(row, name)
            self._next += 1
            if self._next % LOT == 0:
                yield
        yield from self._wait(at)
        self.picture.advance(self._reach(at))

    def _wait(self, at: float) -> Iterator[None]:
        """Until somebody says something."""
        reach = self._reach(at) if self._said(-1) else 0.0
        while reach - self.picture.now > STRIDE:
            self.picture.advance(self.picture.now + STRIDE)
            yield

    def _reach(self, at: float) -> float:
        """How late it is for the picture: where nobody says anything for very long, not much later than the last word."""
        last, following = self._said(-1), self._said(0) or at
        return min(at, last + FAR) if last and following - last > 2 * FAR else at

    def _said(self, turn: int) -> float:
        """When the next row was, or the one before it; 0 if there is none."""
        number = self._next + turn
        return self.recording.times[number] if 0 <= number < len(self.recording.times) else 0.0


class Player:
    """Where it is, and how fast it goes on."""

    def __init__(self, recording: Recording, speed: float = 1.0) -> None:
        self.recording = recording
        self.speed = speed
        self.paused = False
        self.at = recording.begin
        self._played = Played(recording)
        self.seek(self.at)

    @property
    def picture(self) -> Picture:
        """As it is there; another one after going back."""
        return self._played.picture

    def step(self, seconds: float) -> None:
        """So much time has passed for who looks on."""
        for _ in self.stepping(seconds):
            pass

    def stepping(self, seconds: float) -> Iterator[None]:
        """The same, in lots."""
        if not self.paused and self.at < self.recording.end:
            yield from self.seeking(self.at + seconds * self.speed)

    def seek(self, at: float) -> None:
        """Go on from there."""
        for _ in self.seeking(at):
            pass

    def seeking(self, at: float) -> Iterator[None]:
        """The same, in lots: whoever has enough of it before goes on from there. Backwards is from the beginning to there: a new picture, to be seen when it is done."""
        at = min(max(at, self.recording.begin), self.recording.end)
        if at < self.at:
            played = Played(self.recording)
            yield from played.on(at)
            self._played = played
        else:
            for _ in self._played.on(at):
                self.at = max(self.at, self.picture.now)
                yield
        self.at = at

    def told(self) -> dict[str, float | bool]:
        """For the page."""
        about = {"begin": self.recording.begin, "end": self.recording.end, "at": self.at, "speed": self.speed}
        return about | {"paused": self.paused, "over": self.at >= self.recording.end}
