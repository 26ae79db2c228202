"""Discovery: given a topic and any live node, find members of the topic, without a server.

After Kademlia (Maymounkov, Mazieres, IPTPS 2002). Every topic has a tag, which is an id like those of nodes. Members leave
their contact at the nodes whose ids are closest to the tag; who seeks members looks up the same nodes and asks them. Both
find them by asking the closest that they know for closer ones.

Ours: members serve themselves and nobody else, so nobody can be announced by another; a node that has no room says so,
and is asked less often; nodes that were once given as a way in are asked for ever, so that what was parted finds
together; and an announcement's answer names other members, so that overlays of one topic that have grown apart do, too.
"""

from dataclasses import dataclass

from ropewalk.protocols.contract import Cause, Contact, Effect, SetTimer
from ropewalk.protocols.discovery.leases import Leases
from ropewalk.protocols.discovery.lookups import Lookup
from ropewalk.protocols.discovery.messages import Found, OfLookups, Seek, Serve, Served, Unserve, is_sound
from ropewalk.protocols.discovery.questions import Job, Question, Questions
from ropewalk.protocols.discovery.routes import Routes
from ropewalk.protocols.discovery.serving import Serving
from ropewalk.protocols.discovery.settings import (
    FEWEST_OPEN,
    FIRST_OPEN,
    MOST_FOUND,
    MOST_LOOKUPS,
    MOST_OPEN,
    MOST_SEEDS,
    MOST_TOPICS_MISLED,
    Settings,
)
from ropewalk.protocols.discovery.tags import tag
from ropewalk.protocols.links import Links
from ropewalk.protocols.reached import UNSOUND
from ropewalk.seeds import chance, pick, unit

JOIN: Job = ("join", 0)
REFRESH: Job = ("refresh", 0)


@dataclass(frozen=True, slots=True)
class Overdue:
    """Time for a question to have been answered."""

    turn: int


@dataclass(frozen=True, slots=True)
class Refresh:
    """Time to see who is still there, once per `refresh`."""


@dataclass(frozen=True, slots=True)
class Rejoin:
    """Time to try again to find anybody at all."""


@dataclass(frozen=True, slots=True)
class Announce:
    """Time to say again that a topic is served here."""

    topic: int
    era: int  # which `serve` it is for


class Node:
    """Discovery at one node. It is part of a node that owns the links, and closes those that idle."""

    __slots__ = (
        "eras", "found", "leases", "links", "me", "misled", "questions", "rejoining", "routes", "running", "secret", "seed",
        "seeds", "served", "setbacks", "settings", "shrunk_at", "waiting", "window",
    )  # fmt: skip

    def __init__(
        self, me: Contact, settings: Settings, seed: int, links: Links, seeds: tuple[Contact, ...], secret: bytes = b""
    ) -> None:
        self.me, self.settings, self.seed, self.links, self.secret = me, settings, seed, links, secret
        self.seeds = tuple(dict.fromkeys(contact for contact in seeds if contact.id != me.id))[:MOST_SEEDS]
        self.routes = Routes(me.id, settings.bucket)
        self.leases = Leases(me.id, seed, settings.lease)
        self.found: list[tuple[int, tuple[Contact, ...]]] = []  # members by topic, for the owner, who empties it
        self.served: dict[int, Serving] = {}  # by topic; grows by `serve`, shrinks by `serve_no_more`
        self.misled: dict[int, None] = {}  # topics of whom nobody who was found last is a member; MOST_TOPICS_MISLED
        self.waiting: dict[Job, None] = {}  # until fewer are running; one for each topic sought or served, and two
        self.running: dict[Job, Lookup] = {}  # at most MOST_LOOKUPS
        self.questions = Questions()
        self.window: float = FIRST_OPEN  # questions that may be open before another lookup begins; at most MOST_OPEN
        self.shrunk_at = float("-inf")  # when they became fewer
        self.eras = 0  # topics served so far
        self.setbacks = 0  # joins in a row that reached nobody
        self.rejoining = False  # whether a Rejoin is on its way

    # What the owner asks for

    def start(self, now: float) -> list[Effect]:
        """Find others, and keep on."""
        share = unit(chance(self.seed, "refresh", self.me.id))  # else those who start together would ask together
        return [SetTimer(share * self.settings.refresh, Refresh()), *self._want(JOIN, now)]

    def know(self, seeds: tuple[Contact, ...], now: float) -> list[Effect]:
        """Nodes that are a way in, besides those it was told of before."""
        others = dict.fromkeys(contact for contact in (*self.seeds, *seeds) if contact.id != self.me.id)
        self.seeds = tuple(others)[-MOST_SEEDS:]
        return self._want(JOIN, now)

    def seek(self, topic: int, now: float) -> list[Effect]:
        """Look for members: they will be in `found`, once; nobody, if there are none to be found."""
        return self._want(("seek", topic), now)

    def proven(self, topic: int, count: int) -> None:
        """How many of those who were found have turned out to be members."""
        self.misled.pop(topic, None)
        if not count:
            self.misled[topic] = None
            if len(self.misled) > MOST_TOPICS_MISLED:
                self.links.reached.note("topics to look up thoroughly")
                del self.misled[next(iter(self.misled))]

    def serve(self, topic: int, now: float) -> list[Effect]:
        """Be found as a member from now on. Other members that are met on the way will be in `found`, again and again."""
        if topic in self.served:
            return []
        self.eras += 1
        self.served[topic] = Serving(tag(topic, self.secret), self.eras)
        return self._want(("serve", topic), now)

    def serve_no_more(self, topic: int, now: float) -> list[Effect]:
        """Be found no longer. Whoever does not hear of it forgets at the end of a lease."""
        serving = self.served.pop(topic, None)
        if serving is None:
            return []
        job: Job = ("serve", topic)
        self.waiting.pop(job, None)
        self.running.pop(job, None)
        self.leases.take_back(serving.tag, self.me.id)
        told = [each.to for each in self.questions if each.job == job and isinstance(each.message, Serve)]
        effects: list[Effect] = []
        for contact in dict.fromkeys((*serving.left_at.values(), *told)):
            effects += self.links.post(contact, Unserve(serving.tag), now)
        return effects + self._proceed(now)

    # What happens to it

    def receive(self, sender: Contact, message: OfLookups, now: float) -> list[Effect]:
        """Take in what another node's discovery says."""
        if not is_sound(message):
            self.links.reached.note(UNSOUND)
            return []
        if sender.id == self.me.id:
            return []
        self.routes.heard(sender, now)
        return self._receive(sender, message, now) + self._proceed(now)

    def fire(self, timer: object, now: float) -> list[Effect]:
        """One of its timers is due."""
        match timer:
            case Overdue(turn):
                question = self.questions.close(turn)
                if question is None:
                    return []
                if self.routes.get(question.to.id) is not None:  # who never said anything may not be there
                    self._ask_less(now)
                return self._failed(question, now) + self._proceed(now)
            case Refresh():
                return self._refresh(now)
            case Rejoin():
                self.rejoining = False
                return self._want(JOIN, now)
            case Announce(topic, era) if topic in self.served and self.served[topic].era == era:
                return self._want(("serve", topic), now)
            case _:
                return []

    def link_down(self, contact: Contact, cause: Cause, now: float) -> list[Effect]:
        """A link is gone, or there never was one. One that was closed says nothing about its other end: it is asked again."""
        if cause == "closed":
            asked = [question.message for question in self.questions if question.to.id == contact.id]
            return [effect for message in asked for effect in self.links.post(contact, message, now)]
        unanswered = self.questions.close_all_to(contact.id)
        effects: list[Effect] = []
        for question in unanswered:
            effects += self._failed(question, now)
        if cause == "left":
            self.routes.drop(contact.id)
            self.leases.forget(contact.id)
        elif not unanswered:
            self.routes.doubt(contact, now)
        return effects + self._proceed(now)

    def _receive(self, sender: Contact, message: OfLookups, now: float) -> list[Effect]:
        match message:
            case Seek():
                return self._sought(sender, message, now)
            case Found():
                return self._found(sender, message, now)
            case Serve():
                others = self.leases.named(message.tag, sender.id, now)
                full = not self.leases.leave(message.tag, sender, now)
                if full:
                    self.links.reached.note("members kept under tags")
                return self.links.post(sender, Served(message.tag, message.turn, full, others), now)
            case Served():
                return self._served(sender, message, now)
            case Unserve():
                self.leases.take_back(message.tag, sender.id)
                return []

    # Questions and answers

    def _sought(self, sender: Contact, seek: Seek, now: float) -> list[Effect]:
        near = self.routes.closest(seek.tag, self.settings.bucket + 1, sure=True)
        closer = tuple(contact for contact in near if contact.id != sender.id)[: self.settings.bucket]
        serving = self.leases.named(seek.tag, sender.id, now) if seek.members else ()
        return self.links.post(sender, Found(seek.tag, seek.turn, closer, serving), now)

    def _found(self, sender: Contact, found: Found, now: float) -> list[Effect]:
        question = self.questions.answered(sender, found)
        if question is not None:
            self._ask_more()
        if question is None or not self._matters(question):
            return []
        lookup = question.lookup
        lookup.answered(sender.id)
        lookup.learn((self.routes.get(contact.id) or contact for contact in found.closer), sender.id)
        if lookup.members:
            lookup.learn_members(found.serving, sender.id)
        return self._go_on(question.job, lookup, now)

    def _served(self, sender: Contact, answer: Served, now: float) -> list[Effect]:
        question = self.questions.answered(sender, answer)
        if question is not None:
            self._ask_more()
        if question is None or not self._matters(question):
            return []
        self.served[question.job[1]].answered(sender, answer.full, answer.serving)
        return self._leave(question.job, question.lookup, now)

    def _failed(self, question: Question, now: float) -> list[Effect]:
        self.routes.failed(question.to, question.at, now)
        if not self._matters(question):
            return []
        if isinstance(question.message, Serve):
            self.served[question.job[1]].failed()
            return self._leave(question.job, question.lookup, now)
        question.lookup.failed(question.to.id)
        return self._go_on(question.job, question.lookup, now)

    def _matters(self, question: Question) -> bool:
        """Whether what it was asked for still goes on: a lookup may end before all have answered."""
        current = self.running.get(question.job) is question.lookup
        return current and question.lookup.over == isinstance(question.message, Serve)

    def _ask(self, contact: Contact, job: Job, lookup: Lookup, now: float) -> list[Effect]:
        question = self.questions.put(contact, job, lookup, now)
        overdue = SetTimer(self.settings.patience, Overdue(question.message.turn))
        return [overdue, *self.links.post(contact, question.message, now)]

    # Lookups

    def _want(self, job: Job, now: float) -> list[Effect]:
        if job == JOIN and job not in self.running:
            self.waiting = {JOIN: None} | self.waiting  # who knows nobody finds nothing
        elif job not in self.running:
            self.waiting[job] = None
        return self._proceed(now)

    def _proceed(self, now: float) -> list[Effect]:
        """Begin what waits, if there is room for it."""
        effects: list[Effect] = []
        while self.waiting and len(self.running) < MOST_LOOKUPS and len(self.questions) < self.window:
            job = next(iter(self.waiting))
            del self.waiting[job]
            effects += self._begin(job, now)
        return effects

    def _ask_more(self) -> None:
        """Answers come in time: ours, as TCP does (RFC 5681), one question more for every so many as are open."""
        self.window = min(MOST_OPEN, self.window + 1 / self.window)

    def _ask_less(self, now: float) -> None:
        """One did not, of somebody who is known: half as many, but once for all that were asked at the same time.

        Where everybody has too much to do, asking the same again is what there is too much of.
        """
        if now - self.shrunk_at > self.settings.patience:
            self.window, self.shrunk_at = max(FEWEST_OPEN, self.window / 2), now

    def _begin(self, job: Job, now: float) -> list[Effect]:
        purpose, topic = job
        target = self._target(job)
        # where a contact is left the closest few count, and one to spare; whoever else answers would be asked for nothing
        width = min(self.settings.replicas + 1, self.settings.bucket) if purpose == "serve" else self.settings.bucket
        lookup = self.running[job] = Lookup(
            target, self.me.id, self.settings, purpose == "seek", width, thorough=topic in self.misled
        )
        if purpose == "serve" and self.served[topic].stays(self.settings.replicas):
            lookup.over = True
            return self._announce(job, lookup, list(self.served[topic].left_at.values()), now)
        known = self.routes.closest(target, self.settings.bucket)
        lookup.learn(known, self.me.id)
        if purpose == "join" or len(known) < self.settings.alpha:
            lookup.learn(self.seeds, self.me.id)
        if purpose == "seek":
            lookup.learn_members(self.leases.named(target, self.me.id, now), self.me.id)
        effects: list[Effect] = []
        for contact in self._checked() if purpose == "refresh" else ():
            if lookup.ask(contact):
                effects += self._ask(contact, job, lookup, now)
        return effects + self._go_on(job, lookup, now)

    def _target(self, job: Job) -> int:
        purpose, topic = job
        match purpose:
            case "join":
                return self.me.id
            case "refresh":
                return self.routes.somewhere(self.seed, self.questions.turn)
            case "seek":
                return tag(topic, self.secret)
            case "serve":
                return self.served[topic].tag

    def _go_on(self, job: Job, lookup: Lookup, now: float) -> list[Effect]:
        effects: list[Effect] = []
        for contact in lookup.next():
            effects += self._ask(contact, job, lookup, now)
        return effects + self._end(job, lookup, now) if lookup.over else effects

    def _end(self, job: Job, lookup: Lookup, now: float) -> list[Effect]:
        purpose, topic = job
        if purpose == "serve":
            return self._announce(job, lookup, lookup.closest(), now)
        del self.running[job]
        if purpose == "seek":
            self.found.append((topic, lookup.found()))
        return self._joined(lookup) if purpose == "join" else []

    # Being found

    def _announce(self, job: Job, lookup: Lookup, places: list[Contact], now: float) -> list[Effect]:
        """Leave our contact at the closest; here as well, if this node is one of them."""
        serving, here = self.served[job[1]], self.me.id ^ lookup.target
        serving.begin(places)
        if sum(contact.id ^ lookup.target < here for contact in places) < self.settings.replicas:
            self.leases.leave(lookup.target, self.me, now)
            serving.others.update(dict.fromkeys(self.leases.named(lookup.target, self.me.id, now)))
        return self._leave(job, lookup, now)

    def _leave(self, job: Job, lookup: Lookup, now: float) -> list[Effect]:
        serving = self.served[job[1]]
        effects: list[Effect] = []
        for contact in serving.next(self.settings.replicas):
            effects += self._ask(contact, job, lookup, now)
        if serving.asked:
            return effects
        del self.running[job]
        others = tuple(contact for contact in serving.others if contact.id != self.me.id)
        if others:
            self.found.append((job[1], others[:MOST_FOUND]))
        delay = serving.until_next(self.settings)
        share = unit(chance(self.seed, "announce", self.me.id, serving.era, serving.rounds))
        return [SetTimer((0.9 + 0.2 * share) * delay, Announce(job[1], serving.era))]  # ours: so that crowds spread

    # Staying in touch

    def _refresh(self, now: float) -> list[Effect]:
        self.leases.expire(now)
        effects: list[Effect] = [SetTimer(self.settings.refresh, Refresh())]
        if not len(self.routes) and not self.rejoining:
            effects += self._want(JOIN, now)
        return effects + self._want(REFRESH, now)

    def _joined(self, lookup: Lookup) -> list[Effect]:
        if lookup.closest() or not self.seeds:
            self.setbacks = 0
            return []
        self.setbacks += 1
        self.rejoining = True
        return [SetTimer(self.settings.backed_off(self.setbacks), Rejoin())]

    def _checked(self) -> list[Contact]:
        """Whom to ask once per refresh, wherever it is: the stalest contact, and one of the seeds."""
        stalest = self.routes.stalest()
        checked = [] if stalest is None else [stalest]
        if self.seeds:
            drawn = chance(self.seed, "seed", self.me.id, self.questions.turn)
            checked.append(self.seeds[pick(drawn, len(self.seeds))])
        return checked
