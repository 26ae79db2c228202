"""Whom one node links to, who links to it, and what becomes of links when somebody comes, changes or goes.

Links carry both ways (Kato III-A), so for events both kinds are the same. A node need not remember whom it does not link to: told of
all at once, or of one after the other while it keeps its links alone, it ends with the same. Ours: whoever is heard of is asked
who it is before it is a link, so that nobody is given up for who is gone, or wants something else by now.
"""

from collections.abc import Callable, Iterable

from ropewalk.ids import weight
from ropewalk.protocols.content.spaces import MOST_CELLS
from ropewalk.protocols.contract import Contact, Effect
from ropewalk.protocols.kato.departed import Departed
from ropewalk.protocols.kato.ids import covers, distance, event_id, merged, node_id
from ropewalk.protocols.kato.messages import Alive, Linking, bounded
from ropewalk.protocols.kato.profiles import Looker, Profile, Sight, is_alike
from ropewalk.protocols.kato.settings import Settings
from ropewalk.protocols.kato.tables import Table, chosen
from ropewalk.protocols.links import Links

SILENT = 3.5  # ours, periods: three heartbeats may be lost before somebody counts as gone
STANDING = 4.0  # ours, periods: for which who has a primary is not asked again
MOST_INCOMING = 4096  # ours: nodes that link to one
MOST_PASSED_OVER = 1024  # ours
MOST_TOLD_CELLS = 1 << 20  # ours: some 40 MB; a hundred neighbours that say all that fits into a message
MOST_ASKED = 1024  # ours: nodes that have been asked who they are, or are known to have a primary


class Around:
    """Somebody that this node links to, or that links to it."""

    __slots__ = ("heard", "known", "number", "sight", "told")

    def __init__(self, sight: Sight, now: float) -> None:
        self.sight = sight
        self.heard = now  # when it last said anything
        self.known: tuple[Profile, ...] = ()  # whom it links with, as it last said
        self.number = -1  # of what it last said of itself
        self.told = -1  # the number of what it was last told


class Neighbours:
    """The links of one node."""

    __slots__ = (
        "alike", "around", "asked", "departed", "incoming", "is_member", "links", "looker", "met", "near_by", "number",
        "passed_over", "primary", "settings", "standing", "table", "told_cells", "told_of",
    )  # fmt: skip

    def __init__(
        self, me: Contact, settings: Settings, links: Links, departed: Departed, is_member: Callable[[int], bool]
    ) -> None:
        self.settings, self.links, self.departed, self.is_member = settings, links, departed, is_member
        self.looker = Looker(Profile(me, ()), settings)
        self.table = Table()
        self.around: dict[int, Around] = {}  # all that this node links to, or that link to it
        self.told_cells = 0  # of whom these say that they link with; at most MOST_TOLD_CELLS
        self.incoming: dict[int, None] = {}  # of these, who links to it; at most MOST_INCOMING
        self.asked: dict[int, float] = {}  # when somebody was asked who it is; at most MOST_ASKED
        self.standing: dict[int, float] = {}  # until when somebody is taken to have a primary; at most MOST_ASKED
        # who was heard of, and would be no link as long as none is lost: what it wanted then; at most MOST_PASSED_OVER
        self.passed_over: dict[int, tuple[int, ...]] = {}
        self.near_by: dict[int, dict[int, Contact]] = {}  # by cell, at most MOST_CELLS; emptied by every change
        self.alike: dict[int, Contact] = {}  # who turned out to want the same; for the owner, who empties it
        self.met: list[Contact] = []  # who is a neighbour now and was not; likewise
        self.number = 0  # of what this node says of itself
        self.told_of: tuple[object, ...] = ()  # what that is
        self.primary: Contact | None = None  # who stands for this node, if it is another

    @property
    def profile(self) -> Profile:
        """What this node wants."""
        return self.looker.profile

    # Who is there

    def hear_of(self, profiles: Iterable[Profile], now: float) -> list[Effect]:
        """Others are told of: those that would be links, or want the same, are asked who they are."""
        if self.primary is not None:
            return []
        news = {
            each.contact.id: each
            for each in profiles
            if self.passed_over.get(each.contact.id) != each.cells and self._is_news(each.contact.id, now)
        }
        seen = {node: self.looker.sees(each) for node, each in news.items()}
        if not seen:
            return []
        known = [*(each.sight for each in self.around.values()), *map(_apart, seen.values())]
        best = chosen(self.looker, known).all()
        effects: list[Effect] = []
        for node, sight in seen.items():
            if node in best or self._wants_the_same(sight):
                effects += self.ask(sight.profile.contact, now)
            else:
                self.passed_over[node] = sight.profile.cells
        while len(self.passed_over) > MOST_PASSED_OVER:
            self.links.reached.note("nodes passed over")
            del self.passed_over[next(iter(self.passed_over))]
        return effects

    def ask(self, contact: Contact, now: float) -> list[Effect]:
        """Ask somebody who it is, unless it was asked lately."""
        if not self._is_news(contact.id, now):
            return []
        self.asked.pop(contact.id, None)
        self.asked[contact.id] = now
        if len(self.asked) > MOST_ASKED:
            self.links.reached.note("nodes asked who they are")
            del self.asked[next(iter(self.asked))]
        return self.links.answer(contact, self.state(held=False, answer=True), now)

    def _is_news(self, node: int, now: float) -> bool:
        strange = node != self.profile.contact.id and node not in self.around and not self.is_member(node)
        lately = self.asked.get(node, -1e9) > now - self.settings.period or self.standing.get(node, now) > now
        return strange and not lately and not self.departed.has(node, now)

    def _wants_the_same(self, sight: Sight) -> bool:
        return bool(self.profile.cells) and is_alike(sight)

    def _is_twin(self, sight: Sight) -> bool:
        """The same, of who is a link for the time being."""
        return bool(self.profile.cells) and sight.covered and sight.shared == self.looker.things and not sight.outside

    # What others say of themselves

    def linked(self, message: Linking, now: float) -> list[Effect]:
        """Somebody says who it is, whether it links to this node, and who is around it."""
        own, *others = message.profiles
        node = own.contact.id
        self.departed.back(node)
        self.asked.pop(node, None)
        if message.retired:
            self.let_go(node)
            self._has_primary(node, now)
        else:
            self.standing.pop(node, None)
        if self.primary is not None:
            return self.tell(own.contact, now, anew=True) if message.held or message.answer else []
        effects = [] if message.retired else self._take(message, now)
        effects += self.hear_of(others, now)
        return effects + self.tell(own.contact, now, anew=True) if message.answer else effects

    def _take(self, message: Linking, now: float) -> list[Effect]:
        own, *others = message.profiles
        node, sight = own.contact.id, self.looker.sees(own)
        if self._wants_the_same(sight):
            self.alike[node] = own.contact
        there = self.around.get(node) or Around(sight, now)
        there.sight, there.heard, there.number = _apart(sight), now, message.number
        there.known = self._within_bounds(there, tuple(others))
        was_there = node in self.around
        self.around[node] = there
        self._is_held_by(node, held=message.held)
        if not was_there and node in self.incoming:
            self.met.append(own.contact)
        return self._choose(now)

    def _within_bounds(self, there: Around, others: tuple[Profile, ...]) -> tuple[Profile, ...]:
        """What somebody says of those around it, if there is room: else others say it, or discovery finds them."""
        told = sum(len(each.cells) for each in others)
        before = sum(len(each.cells) for each in there.known)
        if self.told_cells + told - before > MOST_TOLD_CELLS:
            self.links.reached.note("cells of nodes around others")
            others, told = (), 0
        self.told_cells += told - before
        return others

    def alive(self, sender: Contact, message: Alive, now: float) -> list[Effect]:
        """A heartbeat; whoever is not known as it is now is asked."""
        there = self.around.get(sender.id)
        if self.primary is not None or (there is None and not message.held):
            return self.tell(sender, now, anew=True)  # it takes this node for somebody it is not
        if there is None or there.number != message.number:
            return self.links.post(sender, self.state(held=sender.id in self.table.all(), answer=True), now)
        there.heard = now
        self.departed.back(sender.id)
        self._is_held_by(sender.id, held=message.held)
        self._forget_strangers()
        return []

    def _is_held_by(self, node: int, *, held: bool) -> None:
        if not held:
            self.incoming.pop(node, None)
        elif node in self.incoming or len(self.incoming) < MOST_INCOMING:
            self.incoming[node] = None
        else:
            self.links.reached.note("nodes that link here")

    def _has_primary(self, node: int, now: float) -> None:
        self.standing.pop(node, None)
        self.standing[node] = now + STANDING * self.settings.period
        if len(self.standing) > MOST_ASKED:
            self.links.reached.note("nodes with a primary")
            del self.standing[next(iter(self.standing))]

    # Links

    def _choose(self, now: float, *, afresh: bool = False) -> list[Effect]:
        """Link to the best of those around."""
        self.near_by.clear()
        table = chosen(self.looker, (each.sight for each in self.around.values()))
        if self.settings.keeping == "all" and not afresh:
            table = self.table.joined(table)
        held, former = table.all(), self.table.all()
        self.table = table
        effects: list[Effect] = []
        for node, contact in held.items():
            if node not in former:
                self.met.append(contact)
                effects += self.tell(contact, now)
        for node, contact in former.items():
            if node not in held and node in self.around:
                effects += self.tell(contact, now)
        self._forget_strangers()
        return effects

    def _forget_strangers(self) -> None:
        held = self.table.all()
        for node in [node for node in self.around if node not in held and node not in self.incoming]:
            self.let_go(node)

    def let_go(self, node: int) -> tuple[Profile, ...]:
        """Somebody is no neighbour any more; who was around it."""
        there = self.around.pop(node, None)
        self.told_cells -= sum(len(each.cells) for each in there.known) if there is not None else 0
        self.incoming.pop(node, None)
        if node in self.table.all():
            self.table.strike(node)
            self.passed_over.clear()
        self.near_by.clear()
        return there.known if there is not None else ()

    def mend(self, now: float) -> list[Effect]:
        """Somebody is gone: others that were passed over for it may be links now."""
        effects = self._choose(now)
        for there in list(self.around.values()):
            effects += self.hear_of(there.known, now)
        return effects

    def become(self, cells: tuple[int, ...], now: float) -> list[Effect]:
        """This node wants something else from now on: everybody around is told, and links follow."""
        self.looker = Looker(Profile(self.profile.contact, cells), self.settings)
        self.passed_over.clear()
        self.number += 1
        self.alike.clear()
        for there in self.around.values():
            there.sight = self.looker.sees(there.sight.profile)
            if self._wants_the_same(there.sight):
                self.alike[there.sight.profile.contact.id] = there.sight.profile.contact
            there.sight = _apart(there.sight)
        told = [there.sight.profile.contact for there in self.around.values()]
        effects = self._choose(now, afresh=True)
        for contact in told:
            effects += self.tell(contact, now, anew=contact.id not in self.around)
        return effects

    def retire(self, primary: Contact, now: float) -> list[Effect]:
        """Another node stands for this one: it links to nobody any more, and who was around is told whom to link to."""
        if self.primary == primary:
            return []
        self.primary = primary
        self.number += 1
        told = [there.sight.profile.contact for there in self.around.values()]
        self.table = Table()
        self.passed_over.clear()
        self.around.clear()
        self.told_cells = 0
        self.incoming.clear()
        self.near_by.clear()
        effects: list[Effect] = []
        for contact in told:
            effects += self.tell(contact, now, anew=True)
        return effects

    def stand_up(self, known: Iterable[Profile], now: float) -> list[Effect]:
        """This node stands for itself, and maybe others, with what it has been told of."""
        self.primary = None
        self.number += 1
        return self.hear_of(known, now)

    # What this node says of itself

    def beat(self, now: float) -> list[Effect]:
        """Tell everybody around that this node is there, and who is around it if that has changed."""
        said = (self.profile.cells, *sorted((each.sight.profile for each in self.around.values()), key=_by_id))
        if said != self.told_of:
            self.told_of = said
            self.number += 1
        effects: list[Effect] = []
        for there in list(self.around.values()):
            effects += self.tell(there.sight.profile.contact, now)
            if self._is_twin(there.sight):  # what it was asked may have been lost
                self.alike[there.sight.profile.contact.id] = there.sight.profile.contact
        self.asked = {node: at for node, at in self.asked.items() if at > now - self.settings.period}
        self.standing = {node: until for node, until in self.standing.items() if until > now}
        return effects

    def tell(self, contact: Contact, now: float, *, anew: bool = False) -> list[Effect]:
        """Say how things are: all of it, or that nothing has changed since it was last said."""
        there = self.around.get(contact.id)
        held = contact.id in self.table.all()
        if there is None:
            return self.links.post(contact, self.state(held=held), now)
        fresh, there.told = anew or there.told != self.number, self.number
        return self.links.post(contact, self.state(held=held) if fresh else Alive(held, self.number, 0), now)

    def state(self, *, held: bool, answer: bool = False) -> Linking:
        """All that this node says of itself."""
        if self.primary is not None:
            stands = Profile(self.primary, self.profile.cells)
            return Linking((self.profile, stands), False, self.number, answer, True)
        known = self.known()
        first = self.number % len(known) if known else 0  # where not all have room, others the next time
        return Linking(bounded((self.profile, *known[first:], *known[:first])), held, self.number, answer, False)

    def known(self) -> list[Profile]:
        """Who is around this node."""
        return [there.sight.profile for there in self.around.values()]

    def silent(self, now: float) -> list[int]:
        """Who has not been heard of for too long."""
        since = now - SILENT * self.settings.period
        return [node for node, there in self.around.items() if there.heard < since]

    # Where something is

    def near(self, cell: int) -> dict[int, Contact]:
        """All around that want a cell, as far as the reading of ids tells, over links that are up."""
        found = self.near_by.get(cell)
        if found is None:
            if len(self.near_by) >= MOST_CELLS:
                self.near_by.clear()
            found = self.near_by[cell] = {
                node: there.sight.profile.contact for node, there in self.around.items() if self._has(there.sight, cell)
            }
        return {node: contact for node, contact in found.items() if self.links.is_up(node)}

    def _has(self, sight: Sight, cell: int) -> bool:
        if self.settings.cover == "bits":
            return covers(sight.id, event_id(cell, self.settings.bits, self.settings.hashes))
        place = self.looker.places.get(cell)
        return place is not None and bool(sight.shared >> place & 1)

    def lacking(self) -> tuple[int, ...]:
        """Cells of this node's that nobody around has, or (by bits) whose bits not all are anybody's around."""
        if self.settings.cover == "bits":
            there = merged(each.sight.id for each in self.around.values())
            bits, hashes = self.settings.bits, self.settings.hashes
            return tuple(cell for cell in self.profile.cells if not covers(there, event_id(cell, bits, hashes)))
        known = {cell for each in self.around.values() for cell in each.sight.profile.cells}
        return tuple(cell for cell in self.profile.cells if cell not in known)

    def nearest(self, cells: tuple[int, ...], besides: tuple[int, ...]) -> Contact | None:
        """Who is nearer to some cells than this node, and nearest of all around (Kato III-C)."""
        bits = self.settings.bits
        target, wanted = node_id(cells, bits, self.settings.hashes), frozenset(cells)
        others = [
            (distance(target, wanted, there.sight.id, there.sight.profile.cells, bits), node)
            for node, there in self.around.items()
            if node not in besides
        ]
        if not others or min(others)[0] >= distance(target, wanted, self.looker.id, self.profile.cells, bits):
            return None
        return self.around[min(others)[1]].sight.profile.contact


def _by_id(profile: Profile) -> int:
    return profile.contact.id


def _apart(sight: Sight) -> Sight:
    """Who wants the same, and is not in this node's group yet, or never will be: a link, as if it wanted less."""
    return sight._replace(covers=False) if is_alike(sight) else sight


def drawn(contacts: tuple[Contact, ...], me: int, count: int) -> list[Contact]:
    """Some of these, other ones for each who draws."""
    return sorted(contacts, key=lambda each: weight(me, each.id))[:count]
