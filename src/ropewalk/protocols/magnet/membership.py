"""Who follows what, as far as a node gets to know: samples that come up the membership tree of every topic and go down again.

Magnet 3.1. A node unites its children's samples and itself, and keeps some; the topic's home sends what comes to it to
everybody on the tree, and to whoever asks. Ours: everybody draws a number for itself and the lowest are kept, so a sample of
samples is as even as one of all; the paper keeps any k of those that come, which prefers those in small subtrees.
"""

from collections.abc import Callable

from ropewalk.protocols.contract import Contact, Effect
from ropewalk.protocols.dht.places import Seat, key_of
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.settings import MOST_HOPS
from ropewalk.protocols.links import Links
from ropewalk.protocols.magnet.messages import MOST_FOLLOWED, Follower, Gather, Query, Sample, lowest
from ropewalk.protocols.trees.branches import Trees
from ropewalk.protocols.trees.settings import MOST_BRANCHES
from ropewalk.seeds import chance

MOST_GATHERED = 1 << 20  # ours: topics in all samples that children have sent up
LATELY = 0.5  # ours: what a period more counts for in the rate of a topic


class Membership:
    """Samples at one node."""

    __slots__ = (
        "control", "count", "counted", "gathered", "links", "me", "named", "passed", "rated", "rates", "rounds", "seat", "seed", "topics", "trees",
        "views",
    )  # fmt: skip

    def __init__(
        self, me: Contact, links: Links, control: Ring, trees: Trees, count: int, seed: int,
        topics: dict[int, None], seat: Callable[[], Seat | None], *, rated: bool = True,
    ) -> None:  # fmt: skip
        self.me, self.links, self.control, self.trees, self.count, self.seed = me, links, control, trees, count, seed
        self.topics, self.seat, self.rated = topics, seat, rated
        self.gathered: dict[
            int, dict[int, tuple[Follower, ...]]
        ] = {}  # topic -> child -> the last that came up from it
        self.views: dict[int, tuple[Follower, ...]] = {}  # topic that is followed -> the last sample that came down
        self.passed: dict[int, tuple[Follower, ...]] = {}  # topic -> the last that was handed down
        self.rates: dict[int, float] = {}  # topic -> what its home says is published on it; none if all count the same
        self.counted: dict[
            int, tuple[int, float]
        ] = {}  # topic whose home this is -> events in this period, and lately; at most MOST_BRANCHES
        self.rounds = 0
        self.named = 0  # topics in all samples from below; counted anew once per period, at most MOST_GATHERED

    def view(self) -> dict[int, Follower]:
        """All who are known to follow something that this node follows, but itself."""
        found: dict[int, Follower] = {}
        for topic in self.topics:
            for follower in self.views.get(topic, ()):
                found[follower.seat.contact.id] = follower
        found.pop(self.me.id, None)
        return found

    def strike(self, node: int) -> None:
        """Somebody is not there any more."""
        for topic, known in self.views.items():
            self.views[topic] = tuple(each for each in known if each.seat.contact.id != node)

    def came(self, topic: int) -> None:
        """An event has come to its home, which is here."""
        events, lately = self.counted.get(topic, (0, 0.0))
        if topic in self.counted or len(self.counted) < MOST_BRANCHES:
            self.counted[topic] = (events + 1, lately)
        else:
            self.links.reached.note("topics whose events are counted")

    def beat(self, now: float) -> list[Effect]:
        """A period is over: send up what is known; where this node is the home, send it down."""
        self.rounds += 1
        for topic in [topic for topic in self.views if topic not in self.topics]:
            del self.views[topic]
        for topic in [topic for topic in self.rates if topic not in self.topics]:
            del self.rates[topic]
        self.counted = {
            topic: (0, lately * LATELY + events * (1 - LATELY))
            for topic, (events, lately) in self.counted.items()
            if self.control.owns(key_of(topic)) and lately + events > 1e-3  # noqa: PLR2004
        }
        effects: list[Effect] = []
        for topic in [topic for topic in self.gathered if topic not in self.trees.by_topic]:
            del self.gathered[topic]
        samples = (sample for known in self.gathered.values() for sample in known.values())
        self.named = sum(len(each.follows) for sample in samples for each in sample)
        for topic in [topic for topic in self.passed if topic not in self.trees.by_topic]:
            del self.passed[topic]
        for topic in self.trees.by_topic:
            if self.control.owns(key_of(topic)):
                effects += self._down(Sample(topic, self._united(topic), self._rate(topic)), now)
            else:
                effects += self.tell(topic, now)
        return effects

    def gather(self, sender: Contact, message: Gather, now: float) -> list[Effect]:
        """A child's sample. Somebody new is told of at once, while there is room for all."""
        topic = message.topic
        branch = self.trees.by_topic.get(topic)
        if branch is None or sender.id not in branch.children:
            return []
        known = lowest(list(message.followers), self.count)
        self.named += sum(len(each.follows) for each in known)
        if self.named > MOST_GATHERED:
            self.links.reached.note("topics in samples")
            return []
        before = {each.seat.contact.id for each in self._united(topic)}
        self.gathered.setdefault(topic, {})[sender.id] = known
        after = {each.seat.contact.id for each in self._united(topic)}
        return [] if after <= before or len(before) >= self.count else self.tell(topic, now)

    def tell(self, topic: int, now: float) -> list[Effect]:
        """Send up what is known."""
        branch = self.trees.by_topic.get(topic)
        if branch is None or branch.parent is None:
            return []
        return self.links.post(branch.parent, Gather(topic, self._united(topic)), now)

    def sampled(self, sender: Contact, message: Sample, now: float) -> list[Effect]:
        """A sample from above."""
        branch = self.trees.by_topic.get(message.topic)
        if branch is None or branch.parent is None or branch.parent.id != sender.id:
            return []
        if self.passed.get(message.topic) == message.followers:  # it has come round, where parents are in a circle
            return []
        return self._down(message, now)

    def learn(self, message: Sample) -> None:
        """A sample that was asked for, or came down."""
        if message.topic in self.topics:
            self.views[message.topic] = message.followers
            if self.rated:
                self.rates[message.topic] = message.rate

    def query(self, message: Query, now: float, whence: bytes | None = None) -> list[Effect]:
        """Somebody asks: answer, or hand it on."""
        key = key_of(message.topic)
        if self.control.owns(key, whence):
            answer = Sample(message.topic, self._united(message.topic), self._rate(message.topic))
            if message.seeker.id == self.me.id:
                self.learn(answer)
                return []
            return self.links.answer(message.seeker, answer, now)
        onward = self.control.towards(key, whence)
        if onward is None or message.hops >= MOST_HOPS:
            return []
        return self.links.pass_on(onward.contact, Query(message.topic, message.seeker, message.hops + 1), now)

    def _down(self, message: Sample, now: float) -> list[Effect]:
        self.learn(message)
        self.passed[message.topic] = message.followers
        branch = self.trees.by_topic[message.topic]
        effects: list[Effect] = []
        for child, _ in branch.children.values():
            effects += self.links.post(child, message, now)
        return effects

    def _united(self, topic: int) -> tuple[Follower, ...]:
        """The children's samples, and this node."""
        branch = self.trees.by_topic.get(topic)
        known = self.gathered.get(topic, {})
        if branch is not None:
            for child in [child for child in known if child not in branch.children]:
                del known[child]
        followers = [
            follower for sample in known.values() for follower in sample if follower.seat.contact.id != self.me.id
        ]
        seat = self.seat()
        if topic in self.topics and seat is not None:
            drawn = chance(self.seed, "sample", self.me.id, topic, self.rounds)
            followers.append(Follower(seat, tuple(self.topics)[:MOST_FOLLOWED], drawn))
        return lowest(followers, self.count)

    def _rate(self, topic: int) -> float:
        events, lately = self.counted.get(topic, (0, 0.0))
        return max(float(events), lately)
