"""Signed events that were let in, so that none is let in again once its id is forgotten.

A machine forgets ids when they are old, by when the events are stale, and when there are too many: then the oldest may be seconds
old. Who has an event that somebody signed could send it again by then. So a node remembers when each was let in, and of those for which
there is no room here either, how late the last of each signer was signed: that is by the signer's own clock, which others cannot move, and
need not agree with any. What that says nothing of, since there were too many signers, was signed before a moment by this node's own.
In doubt an event is left out.
"""

from collections import OrderedDict
from struct import Struct

from ropewalk.engines.live.envelope import STALE
from ropewalk.protocols.contract import Event

MOST_LET_IN = 65_536  # ours: signed events, as many as ids of events are remembered
MOST_SIGNERS = 16_384  # ours: of whom it is known how late the last was signed that is forgotten
NEVER = float("-inf")
_ENTRY = Struct("<QQdd")  # publisher, when it was signed, when it was let in by the machine's clock and by the wall's


class Replays:
    """What one node remembers of signed events."""

    __slots__ = ("_before", "_latest", "_let_in")

    def __init__(self) -> None:
        self._let_in: OrderedDict[int, bytes] = OrderedDict()  # by event, see `_ENTRY`; MOST_LET_IN
        # by publisher: when the last that is forgotten was signed, and let in by the wall's clock; MOST_SIGNERS
        self._latest: OrderedDict[int, tuple[int, float]] = OrderedDict()
        self._before = NEVER  # seconds since 1970: others have signed what is forgotten up to then

    def let_in(self, event: Event, at: int, now: float, clock: float) -> None:
        """An event is let in that was signed `at`, in microseconds since 1970."""
        if event.id in self._let_in:
            return
        self._let_in[event.id] = _ENTRY.pack(event.publisher, at, now, clock)
        if len(self._let_in) > MOST_LET_IN:
            publisher, signed_at, _, let_in_at = _ENTRY.unpack(self._let_in.popitem(last=False)[1])
            known = self._latest.pop(publisher, (0, NEVER))
            self._latest[publisher] = max(known[0], signed_at), max(known[1], let_in_at)
        if len(self._latest) > MOST_SIGNERS:
            signed_at, let_in_at = self._latest.popitem(last=False)[1]
            if signed_at / 1e6 > clock - STALE:  # else all of them are stale
                self._before = max(self._before, let_in_at)

    def is_one(self, event: Event, at: int, forgot_before: float) -> bool:
        """Whether an event that the machine does not know may have been let in before, and forgotten."""
        entry = self._let_in.get(event.id)
        if entry is not None:
            let_in_at: float = _ENTRY.unpack(entry)[2]
            return let_in_at <= forgot_before  # else the machine had no use for it then
        latest = self._latest.get(event.publisher)
        return at <= latest[0] if latest is not None else at / 1e6 <= self._before
