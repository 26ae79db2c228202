"""Who is down. That is a conclusion: a node that is killed says nothing any more.

It counts as down once somebody's link with it has ended and nothing has come from it since, nor has anybody got a link with it again; or
when nothing of its own has been read for long. Each verdict has a time of its own at which it falls due, whoever looks and however often:
so it is as soon after days as after seconds, and the same in a replay, in whatever steps that is played.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ropewalk.dashboard.seen import Moment, Seen

# Ours, seconds: after which who was at the other end of a link that ended so, and lives, has said so. Two looks of a node at itself
# (`engines.live.changes`); who could not be called need not know of it, and may be silent for ten seconds.
GRACE = {"reset": 2.0, "frozen": 2.0, "left": 2.0, "unreachable": 12.0}
SILENT = 35.0  # ours, seconds: more than three times as long as a node goes on without a word
NEVER = float("inf")


class Verdict(NamedTuple):
    """One is down."""

    due: float  # when that could be said
    number: int
    node: Seen
    moment: Moment  # since when it is
    why: str


class Judge:
    """Remembers who is in doubt, and when to look again: most rows come between two verdicts, and cost nothing."""

    def __init__(self) -> None:
        self._doubted: dict[int, Seen] = {}
        self._next = NEVER

    def doubt(self, node: Seen, moment: Moment, why: str) -> None:
        """Somebody's link with it has ended: unless it says something, it is down."""
        node.doubted = (moment, why)
        self._doubted[node.id] = node
        self._look_at(moment.read + GRACE[why])

    def trust(self, node: Seen, moment: Moment) -> None:
        """It lived then, so whoever doubted it earlier was wrong."""
        if node.doubted is not None and moment.after(node.doubted[0]):
            self.acquit(node)

    def acquit(self, node: Seen) -> None:
        """Whatever made it doubtful is over."""
        node.doubted = None
        self._doubted.pop(node.id, None)

    def listen(self, node: Seen) -> None:
        """From now on its silence means something."""
        self._look_at(node.heard.read + SILENT)

    def look_again(self) -> None:
        """Times have changed: whatever was due may be due at other times."""
        self._next = 0.0

    def verdicts(self, nodes: Iterable[Seen], now: float) -> list[Verdict]:
        """Who is down by now, the first first."""
        if now < self._next:
            return []
        waiting = [
            Verdict(moment.read + GRACE[why], node.number, node, moment, why) for node, moment, why in self._doubts()
        ]
        found = {each.number: each for each in waiting if each.due <= now}
        dues = [each.due for each in waiting if each.due > now]
        for node in nodes:
            if node.state != "up" or not node.signs:
                continue
            due = node.heard.read + SILENT
            if due >= now:
                dues.append(due)
            elif node.number not in found or due < found[node.number].due:
                found[node.number] = Verdict(due, node.number, node, Moment(due, due), "silent")
        self._next = min(dues, default=NEVER)
        return sorted(found.values(), key=lambda verdict: verdict[:2])

    def _doubts(self) -> Iterable[tuple[Seen, Moment, str]]:
        for node in self._doubted.values():
            assert node.doubted is not None
            yield node, *node.doubted

    def _look_at(self, due: float) -> None:
        self._next = min(self._next, due)
