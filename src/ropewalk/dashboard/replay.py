"""A recorded run, played by the times in it: faster, slower, from anywhere. What it shows then depends on nothing but that moment."""

from bisect import bisect_right
from pathlib import Path

from ropewalk.dashboard import rows
from ropewalk.dashboard.picture import Picture
from ropewalk.dashboard.watching import Read, Watch
from ropewalk.errors import InputError

MOST_BYTES = 512 * 1_048_576  # ours: all rows are kept, and take some four times as much
SLOWEST, FASTEST = 0.05, 1000.0  # ours: times the speed at which it was


class Recording:
    """All rows of a folder, by time."""

    def __init__(self, folder: Path) -> None:
        watch = Watch([folder])
        size = sum(path.stat().st_size for path in folder.glob("*.jsonl"))
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
            raise InputError(f"{folder} holds no telemetry (*.jsonl); record some with `ropewalk cluster --telemetry`.")
        self.begin, self.end = timed[0], timed[-1]


class Player:
    """Where it is, and how fast it goes on."""

    def __init__(self, recording: Recording, speed: float = 1.0) -> None:
        self.recording = recording
        self.speed = speed
        self.paused = False
        self.at = recording.begin
        self.picture = Picture()
        self._next = 0
        self._play_to(self.at)

    def step(self, seconds: float) -> None:
        """So much time has passed for who looks on."""
        if not self.paused and self.at < self.recording.end:
            self._play_to(min(self.recording.end, self.at + seconds * self.speed))

    def seek(self, at: float) -> None:
        """Go on from there. Backwards is from the beginning to there: a new picture."""
        at = min(max(at, self.recording.begin), self.recording.end)
        if at < self.at:
            places = self.picture.places
            self.picture, self._next = Picture(), 0
            self.picture.places = places
        self._play_to(at)

    def told(self) -> dict[str, float | bool]:
        """For the page."""
        about = {"begin": self.recording.begin, "end": self.recording.end, "at": self.at, "speed": self.speed}
        return about | {"paused": self.paused, "over": self.at >= self.recording.end}

    def _play_to(self, at: float) -> None:
        upto = bisect_right(self.recording.times, at)
        for row, name in self.recording.rows[self._next : upto]:
            self.picture.take(row, name)
        self._next, self.at = max(self._next, upto), at
        self.picture.advance(at)
