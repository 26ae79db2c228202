"""What is let in to the machine: events that are genuine, and that nobody objects to.

An event is judged once, when it comes first, before the machine knows of it: what is not let in is neither delivered nor
passed on. What was judged is known by its id and by what it says: else whoever sends rubbish under the id of an event would
have the event itself refused. Signatures are checked in a thread, since one takes longer than all else that is done about an
event. Of an event that somebody objects to the machine is told, so that it does not ask for it; of one that is not genuine it is not, since
the id may be that of one that is.
"""

import asyncio
import json
import logging
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, get_args

from ropewalk.engines.live.arrived import size_of
from ropewalk.engines.live.envelope import Letter, Said, is_plain, thinned, unseal
from ropewalk.engines.live.replays import NEVER, Replays
from ropewalk.protocols.content.filters import MOST_ATTRIBUTES
from ropewalk.protocols.contract import Carrier, Contact, Event
from ropewalk.protocols.dissemination.messages import Inject, Push

Verdict = Literal["accept", "ignore", "reject"]
"""Let it in; leave it out; leave it out and count it against whoever sent it."""
Judge = Callable[[Event, bytes, int], "Verdict | Awaitable[Verdict]"]
"""What somebody says about one of the things that an event says, in which place."""

Outcome = Verdict | Literal["forged", "replayed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
OUTCOMES: tuple[Outcome, ...] = (*VERDICTS, "forged", "replayed")
Outcomes = tuple[Outcome, ...]
"""Of each thing that an event says, or one of all of them."""


class Judgement(NamedTuple):
    """What is to become of an event."""

    outcomes: Outcomes
    against: tuple[int, ...] = ()  # the topics on which somebody rejects some of it


WELCOME, IGNORED, FORGED, REPLAYED = (Judgement((each,)) for each in ("accept", "ignore", "forged", "replayed"))
Seconds = Callable[[], float]

MOST_JUDGED = 65_536  # ours: verdicts that are remembered, as many as ids of events are
MOST_REJECTED = 16  # ours: events that one neighbour may send within a minute before it is sent away for a while
REJECTED_WITHIN = 60.0  # seconds
BANNED = 600.0  # ours, seconds: how long a neighbour stays away that has sent what was rejected
MOST_COPIES = 64  # ours: of an event that is being judged
MOST_REJECTERS = 4096  # ours: neighbours of whom that is counted; to hang up does not help
MOST_AT_WORK = 4096  # ours: events that are being judged; more are left out, and counted
MOST_AT_WORK_BYTES = 64 * 1_048_576  # ours: of these, and of copies that come meanwhile
BUSY = 0.25  # ours: the share of both from which on who sends has to wait; what it has sent by then still comes
log = logging.getLogger(__name__)


class Gate:
    """Stands before one machine."""

    def __init__(
        self,
        let_in: Callable[[Contact, Any], None],
        refuse: Callable[[Contact, int], None],
        send_away: Callable[[Contact], None],
        judges: dict[int, Judge] | None = None,
        clock: Seconds = time.time,
        carriers: tuple[type[Any], ...] = (Push, Inject),
    ) -> None:
        self.let_in, self.refuse, self.send_away, self.clock = let_in, refuse, send_away, clock
        self.judges = {} if judges is None else judges  # by topic
        self.carriers = frozenset(carriers)  # all messages with an event in them
        self.came_again: Callable[[int], None] = lambda _: None  # told of events that had come before
        self.has_had: Callable[[int], bool] = lambda _: False  # whether an event has come before
        self.forgot_before: Seconds = lambda: NEVER  # see `contract.Lasting`
        self.follows: Callable[[int, int], bool] = lambda _, __: False  # whether a node is a neighbour on a topic
        self.hold_up: Callable[[Contact], None] = lambda _: None  # told who sends faster than events are judged
        self.caught_up: Callable[[], None] = lambda: None  # told when they are judged
        self.counts: dict[str, int] = {}  # of what was not let in, by why
        self.progress = 0  # events judged
        self.least, self.node = 0.0, None  # see `pressure.Slow`
        self.ignored: OrderedDict[int, int] = (
            OrderedDict()
        )  # by event: which things are of no use here, a bit each; MOST_JUDGED
        self.replays = Replays()
        # a byte for each thing, see `_packed`, and the topics on which somebody rejects some of them; MOST_JUDGED
        self._verdicts: OrderedDict[bytes, tuple[bytes, tuple[int, ...]]] = OrderedDict()
        self._rejected: OrderedDict[int, tuple[float, int]] = (
            OrderedDict()
        )  # by node: since when, how many; MOST_REJECTERS
        self._at_work: dict[bytes, asyncio.Task[None]] = {}  # what is being judged; MOST_AT_WORK
        self._copies: dict[bytes, list[tuple[Contact, Carrier]]] = {}  # of these, that came meanwhile
        self._work_bytes = 0  # of all of them

    def receive(self, sender: Contact, message: Any) -> None:
        """A message has come."""
        if type(message) in self.carriers:
            event = message.event
            if len(event.content) > MOST_ATTRIBUTES:
                self._count("too much said by name")
                return
            self._note(event.id)
            if self.judges or not is_plain(event):
                self._carried(sender, message)
            else:
                self.let_in(sender, message)  # as most are
        else:
            self.let_in(sender, message)

    def _note(self, event: int) -> None:
        if self.has_had(event):
            self.came_again(event)

    def _carried(self, sender: Contact, message: Carrier) -> None:
        event = message.event
        if is_plain(event) and not self._has_judge(event):
            self._decided(sender, message, WELCOME)
            return
        letter = unseal(event.payload)
        if letter is None or not letter.is_in_place(event):
            self._decided(sender, message, FORGED)
            return
        if letter.public is None and not self._has_judge(event):  # a parcel
            self._decided(sender, message, WELCOME)
            return
        key = _known_by(event)
        verdict = self._verdicts.get(key)
        if verdict is not None:
            packed, against = verdict
            self._decided(sender, message, self._remembered(event, Judgement(_unpacked(packed), against), letter))
        else:
            self._put_to_work(key, sender, message, letter)

    def _put_to_work(self, key: bytes, sender: Contact, message: Carrier, letter: Letter) -> None:
        """Have it judged, if there is room; a copy of one that is being judged waits for what becomes of that."""
        event = message.event
        size = size_of(event, (event.payload,))
        if len(self._at_work) >= MOST_AT_WORK or self._work_bytes + size > MOST_AT_WORK_BYTES:
            self._count("too many at once")
            return
        if key not in self._at_work:
            self._at_work[key] = asyncio.create_task(self._judge(key, sender, message, letter))
        elif len(copies := self._copies.setdefault(key, [])) < MOST_COPIES:
            copies.append((sender, message))
            self.came_again(event.id)
        else:
            self._count("too many copies at once")
            return
        self._work_bytes += size
        if self.is_pressed:
            self.hold_up(sender)

    def _remembered(self, event: Event, judged: Judgement, letter: Letter) -> Judgement:
        """The same as before, unless it has become too old meanwhile: ids are forgotten sooner than verdicts."""
        if letter.public is None or judged == FORGED:
            return judged
        if letter.is_stale(self.clock()):
            return IGNORED
        return REPLAYED if "accept" in judged.outcomes and self._is_replay(event, letter) else judged

    def _is_replay(self, event: Event, letter: Letter) -> bool:
        known = letter.public is None or self.has_had(event.id)  # then the machine takes it for a copy
        return not known and self.replays.is_one(event, letter.at, self.forgot_before())

    @property
    def is_pressed(self) -> bool:
        """Whether so much is being judged that who sends more has to wait."""
        return len(self._at_work) >= BUSY * MOST_AT_WORK or self._work_bytes >= BUSY * MOST_AT_WORK_BYTES

    @property
    def is_behind(self) -> bool:
        """See `pressure.Slow`: it has caught up when nobody has to wait."""
        return self.is_pressed

    async def close(self) -> None:
        """Judge nothing any more."""
        working = list(self._at_work.values())
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)

    def _has_judge(self, event: Event) -> bool:
        return bool(self.judges) and any(topic in self.judges for topic in event.topics)

    async def _judge(self, key: bytes, sender: Contact, message: Carrier, letter: Letter) -> None:
        event = message.event
        judged: Judgement | None = None
        try:
            judged = await self._judged(event, letter)
        except Exception:  # as where the system has no thread left
            log.exception("an event could not be judged: it is left out")
        finally:  # whatever has happened, it is at work no more
            was_pressed = self.is_pressed
            self.progress += 1
            del self._at_work[key]
            came = [(sender, message), *self._copies.pop(key, ())]
            self._work_bytes -= len(came) * size_of(event, (event.payload,))
        if judged is not None and letter.public is not None and "accept" in judged.outcomes:
            self.replays.let_in(event, letter.at, asyncio.get_running_loop().time(), self.clock())
        if judged is not None:
            self._verdicts[key] = _packed(judged.outcomes), judged.against
            if len(self._verdicts) > MOST_JUDGED:
                self._verdicts.popitem(last=False)
        for who, copy in came:
            if judged is not None:
                self._decided(who, copy, judged)
            else:
                self._count("not judged")
        if was_pressed and not self.is_pressed:
            self.caught_up()

    async def _judged(self, event: Event, letter: Letter) -> Judgement:
        """One outcome for all that it says, or one of each thing."""
        if letter.public is not None and not await _elsewhere(letter.is_genuine, event):
            return FORGED
        if letter.is_stale(self.clock()):
            return IGNORED
        if self._is_replay(event, letter):
            return REPLAYED
        asked = [await self._asked(event, said, place) for place, said in enumerate(letter.said)]
        verdicts = tuple([verdict for verdict, _ in asked])
        if verdicts.count("accept") == len(verdicts):
            return WELCOME
        return Judgement(verdicts, tuple(dict.fromkeys(topic for _, topic in asked if topic is not None)))

    async def _asked(self, event: Event, said: bytes | None, place: int) -> tuple[Verdict, int | None]:
        """A verdict on one of the things that it says, and on which topic somebody objects to it."""
        for topic in event.topics:
            judge = self.judges.get(topic)
            if judge is None or said is None:
                continue
            try:
                answer = judge(event, said, place)
                verdict = answer if isinstance(answer, str) else await answer
            except asyncio.CancelledError:  # of what it waited for; if it is this task that is to end, it ends
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise
                log.error("a validator was cancelled: the event is left out")  # noqa: TRY400  it says nothing about where
                return "ignore", None
            except Exception:
                log.exception("a validator failed: the event is left out")
                return "ignore", None
            if verdict not in VERDICTS:
                log.error("a validator said %.40r, but must say one of %s: the event is left out", verdict, VERDICTS)
                return "ignore", None
            if verdict != "accept":
                return verdict, topic if verdict == "reject" else None
        return "accept", None

    def _decided(self, sender: Contact, message: Carrier, judged: Judgement) -> None:
        """What was rejected goes no further; what is of no use here may be of use to others, if some of the rest is of use here."""
        verdicts = judged.outcomes
        for verdict in verdicts:
            if verdict != "accept":
                self._count(verdict)
        if judged == FORGED or ("reject" in verdicts and self._is_to_blame(sender, message, judged.against)):
            self._reject(sender)
        if "accept" not in verdicts:
            if verdicts != ("forged",):
                self.refuse(sender, message.event.id)
            return
        if "reject" in verdicts:
            message = _thinned(message, verdicts)
        if "ignore" in verdicts:
            self.ignored[message.event.id] = sum(1 << place for place, each in enumerate(verdicts) if each == "ignore")
            if len(self.ignored) > MOST_JUDGED:
                self.ignored.popitem(last=False)
        self.let_in(sender, message)

    def _is_to_blame(self, sender: Contact, message: Carrier, against: tuple[int, ...]) -> bool:
        """Whether it follows a topic on which somebody objects, or is who has said it: others cannot know what is objected to there.

        What goes along a tree passes nodes that do not follow its topic; a neighbour on another topic of the event need not follow this one.
        """
        if sender.id == message.event.publisher:
            return True
        if not isinstance(message, Push | Inject):
            return False
        return any(topic in message.topics or self.follows(sender.id, topic) for topic in against)

    def wanted(self, event: int, said: Said) -> Said:
        """Of all that an event says, what is of use here."""
        ignored = self.ignored.get(event) if self.ignored else None
        return (
            said
            if ignored is None
            else tuple([None if ignored >> place & 1 else each for place, each in enumerate(said)])
        )

    def _reject(self, sender: Contact) -> None:
        now = asyncio.get_running_loop().time()
        since, count = self._rejected.pop(sender.id, (now, 0))
        since, count = (since, count + 1) if now - since < REJECTED_WITHIN else (now, 1)
        self._rejected[sender.id] = (since, count)
        if len(self._rejected) > MOST_REJECTERS:
            self._rejected.popitem(last=False)
        if count >= MOST_REJECTED:
            del self._rejected[sender.id]
            self.send_away(sender)

    def _count(self, why: str) -> None:
        self.counts[why] = self.counts.get(why, 0) + 1


async def _elsewhere(is_genuine: Callable[[Event], bool], event: Event) -> bool:
    return await asyncio.get_running_loop().run_in_executor(_threads(os.getpid()), is_genuine, event)


@cache
def _threads(_process: int) -> ThreadPoolExecutor:
    """For signatures alone: in those of the loop names of hosts are looked up, which somebody else may have take long."""
    return ThreadPoolExecutor(os.cpu_count(), "ropewalk signatures")


def _packed(outcomes: Outcomes) -> bytes:
    """As they are remembered: there may be many, of many things each."""
    return bytes(map(OUTCOMES.index, outcomes))


def _unpacked(packed: bytes) -> Outcomes:
    return tuple([OUTCOMES[each] for each in packed])


def _thinned(message: Any, verdicts: Outcomes) -> Any:
    """Without what somebody objects to."""
    letter = unseal(message.event.payload)
    assert letter is not None
    said = [None if verdict == "reject" else each for each, verdict in zip(letter.said, verdicts, strict=True)]
    return replace(message, event=thinned(message.event, tuple(said)))


def _known_by(event: Event) -> bytes:
    content = json.dumps(event.content).encode()
    numbers = (event.id, event.publisher, len(event.topics), len(content), *event.topics)
    about = b"".join(number.to_bytes(8, "big") for number in numbers)
    return blake2b(about + content + event.payload, digest_size=16).digest()
