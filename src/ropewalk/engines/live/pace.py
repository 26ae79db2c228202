"""Whether somebody who is waited for goes on; and neighbours that did not, for whom nobody waits for a while.

Those are known by who they are, not by their connection: to hang up and to call again makes nobody worth waiting for.
"""

from collections import OrderedDict

HELD_UP = 5.0  # ours, seconds with too little progress: as long as publishing waits for who is slow
LEAST = 65_536.0  # ours, bytes a second: that a neighbour takes who is waited for; half a megabit
PASSED_OVER = 60.0  # ours, seconds: twelve times as long as it may have held others up
STOOD_STILL = 1.0  # ours, seconds: who is waited for is looked at more often than that, unless this node stands still
MOST_PASSED_OVER = 4096  # ours: that are remembered; to be many at once takes as many keys


class Pace:
    """Of one who is waited for. It is to be looked at several times a second."""

    __slots__ = ("least", "progress", "seen_at", "since")

    def __init__(self, least: float, progress: int, now: float) -> None:
        self.least, self.progress, self.since, self.seen_at = least, progress, now, now

    def look(self, now: float) -> None:
        """If nobody has looked for long, this node stood still: nobody could go on meanwhile, and nobody is blamed for it."""
        if now - self.seen_at > STOOD_STILL:
            self.since += now - self.seen_at
        self.seen_at = now

    def has_stopped(self, progress: int, now: float) -> bool:
        """Whether it has grown by less than it must for too long: by so much in a second, by anything if that is 0."""
        self.look(now)
        if progress - self.progress > self.least * (now - self.since):
            self.progress, self.since = progress, now
        return now - self.since > HELD_UP


class PassedOver:
    """Neighbours for whom nobody waits, whatever they do."""

    def __init__(self) -> None:
        self.times = 0  # that somebody who was waited for was so no longer
        self._until: OrderedDict[int, float] = OrderedDict()  # by node; MOST_PASSED_OVER

    def add(self, node: int, now: float) -> None:
        """One more, for a while."""
        if not self.has(node, now):
            self.times += 1
        self._until[node] = now + PASSED_OVER
        self._until.move_to_end(node)
        if len(self._until) > MOST_PASSED_OVER:
            self._until.popitem(last=False)

    def has(self, node: int, now: float) -> bool:
        """Whether that is so now."""
        return now < self._until.get(node, now)
