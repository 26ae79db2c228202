"""How a node finds others that want what it wants: by questions handed on from neighbour to neighbour, and by discovery.

Paper: Kato III-C. A question goes to whoever is nearer to what is asked for; the nearest answers with whom it links with; then the
node asks for what is still not covered, as long as that helps. Ours: that leads astray where few want a thing, so primaries are
also found as members of every cell that they want, and who has nobody for a cell looks for them there.
"""

from collections.abc import Iterator

from ropewalk.protocols.contract import Contact, Effect, Join, LinkDown
from ropewalk.protocols.discovery.messages import OfLookups
from ropewalk.protocols.discovery.node import Node as Discovery
from ropewalk.protocols.discovery.settings import MOST_SEEDS
from ropewalk.protocols.discovery.settings import Settings as DiscoverySettings
from ropewalk.protocols.kato.alike import Alike
from ropewalk.protocols.kato.messages import MOST_HOPS, MOST_WANTED, Joining, Told, bounded
from ropewalk.protocols.kato.neighbours import Neighbours, drawn
from ropewalk.protocols.kato.profiles import Profile
from ropewalk.protocols.kato.settings import Settings
from ropewalk.protocols.links import OF_STATES, Links

MET = 3  # ours: of those who are found for a cell, how many are asked who they are
RENDEZVOUS = 2  # ours: cells, the lowest, at which those meet first who want the same: then one of them stands for all
MOST_OPEN = 16  # ours: questions whose answers count
SELDOM = 16  # ours, periods: who comes new finds this node, and looks at once
SEEDS_ASKED = 2  # ours: where nobody is known, how many of those that are a way in


class Finding:
    """What one node looks for."""

    __slots__ = (
        "alike", "discovery", "links", "me", "neighbours", "of_discovery", "open", "seed", "seeds", "settings", "sought", "turn",
        "wanted",
    )  # fmt: skip

    def __init__(
        self,
        me: Contact,
        settings: Settings,
        seed: int,
        links: Links,
        neighbours: Neighbours,
        alike: Alike,
        of_discovery: DiscoverySettings | None,
    ) -> None:
        self.me, self.settings, self.seed = me, settings, seed
        self.links, self.neighbours, self.alike = links, neighbours, alike
        self.of_discovery = of_discovery or DiscoverySettings()
        self.discovery: Discovery | None = None  # once it has joined
        self.seeds: tuple[Contact, ...] = ()  # at most MOST_SEEDS
        self.turn = 0  # questions so far
        self.open: dict[int, None] = {}  # of these, those that are not answered; the latest, at most MOST_OPEN
        self.sought: dict[int, tuple[float, float]] = {}  # cells that nobody around has: when again, and the next gap
        self.wanted: tuple[int, ...] = ()  # what it had no links for when it last asked

    # Getting in

    def know(self, contacts: tuple[Contact, ...]) -> None:
        """These are a way in."""
        others = dict.fromkeys(each for each in (*self.seeds, *contacts) if each.id != self.me.id)
        self.seeds = tuple(others)[-MOST_SEEDS:]

    def join(self, command: Join, now: float) -> list[Effect]:
        """Enter a network."""
        self.know(command.seeds)
        if self.discovery is not None:
            return self.discovery.know(command.seeds, now)
        self.discovery = Discovery(self.me, self.of_discovery, self.seed, self.links, self.seeds, command.secret)
        return self.discovery.start(now)

    # Questions (Kato III-C)

    def look(self, now: float, *, first: bool = False) -> list[Effect]:
        """Ask for those who want what nobody around does; `first`: where those are found who want the same."""
        if not self.alike.is_alone:
            return []
        wanted = self.neighbours.lacking()
        if not wanted and self.neighbours.around:
            return []
        effects = self._ask(wanted, now)
        if first:
            for cell in self.neighbours.profile.cells[:RENDEZVOUS]:
                effects += self.seek(cell, now)
            return effects
        for cell in self._due(wanted, now):
            effects += self.seek(cell, now)
        return effects

    def _due(self, wanted: tuple[int, ...], now: float) -> list[int]:
        """Of cells that nobody around has, those to look for again: the longer in vain, the more seldom."""
        known, period = self.sought, self.settings.period
        self.sought = {cell: known[cell] for cell in wanted if cell in known}
        due = [cell for cell in wanted if self.sought.get(cell, (now, period))[0] <= now]
        for cell in due:
            gap = self.sought.get(cell, (now, period))[1]
            self.sought[cell] = (now + gap, min(2 * gap, SELDOM * period))
        return due

    def _ask(self, wanted: tuple[int, ...], now: float) -> list[Effect]:
        nearest = self.neighbours.nearest(wanted, ())
        known = [there.sight.profile.contact for there in self.neighbours.around.values()]
        to = [nearest] if nearest is not None else known[:1] or list(self.seeds[-SEEDS_ASKED:])
        self.wanted = wanted
        effects: list[Effect] = []
        for contact in to:
            self.turn += 1
            self.open[self.turn] = None
            if len(self.open) > MOST_OPEN:
                del self.open[next(iter(self.open))]
            message = Joining((self.neighbours.profile,), wanted[:MOST_WANTED], self.turn, 0)
            effects += self.links.post(contact, message, now)
        return effects

    def go_on(self, now: float) -> list[Effect]:
        """Somebody is a link: ask for what is still not covered, as long as every answer covers more."""
        wanted = self.neighbours.lacking() if self.wanted and self.alike.is_alone else ()
        return self._ask(wanted, now) if wanted and len(wanted) < len(self.wanted) else []

    def asked(self, sender: Contact, message: Joining, now: float) -> list[Effect]:
        """Somebody asks: hand it on to who is nearer, or answer; either way it may be a link of this node's."""
        (asker,) = message.profiles
        if asker.contact.id == self.me.id:
            return []
        effects = self.neighbours.hear_of((asker,), now)
        nearer = self.neighbours.nearest(message.wanted, (asker.contact.id, sender.id))
        if nearer is not None and message.hops < MOST_HOPS:
            further = Joining(message.profiles, message.wanted, message.turn, message.hops + 1)
            return effects + self.links.pass_on(nearer, further, now, OF_STATES)
        own = self.neighbours.profile
        primary = own if self.alike.is_primary else Profile(self.alike.primary, own.cells)
        known = self.neighbours.known() if self.alike.is_primary else self.alike.known
        return effects + self.links.answer(
            asker.contact, Told(bounded((primary, *known)), message.turn), now, OF_STATES
        )

    def told(self, message: Told, now: float) -> list[Effect]:
        """An answer: whoever would be a link is asked, and what is then still wanted is asked for once it is one."""
        if message.turn not in self.open:
            return []
        del self.open[message.turn]
        return self.neighbours.hear_of(message.profiles, now)

    # Discovery

    def seek(self, cell: int, now: float) -> list[Effect]:
        """Look for those who want a cell."""
        return self.discovery.seek(cell, now) if self.discovery is not None else []

    def serve(self, now: float, *, first: bool = False) -> list[Effect]:
        """Be found as who wants these cells, as long as this node stands for itself; `first`: by who wants the same."""
        if self.discovery is None:
            return []
        wanted = self.neighbours.profile.cells[: RENDEZVOUS if first else None]
        cells = dict.fromkeys(wanted if self.alike.is_primary else ())
        effects: list[Effect] = []
        for cell in [cell for cell in self.discovery.served if cell not in cells]:
            effects += self.discovery.serve_no_more(cell, now)
        for cell in cells:
            effects += self.discovery.serve(cell, now)
        return effects

    def leave(self, now: float) -> list[Effect]:
        """Be found no longer."""
        finder, effects = self.discovery, list[Effect]()
        for cell in list(finder.served) if finder is not None else ():
            effects += finder.serve_no_more(cell, now) if finder is not None else []
        return effects

    def found(self) -> Iterator[tuple[int, tuple[Contact, ...]]]:
        """Members of cells that were found since this was last asked."""
        while self.discovery is not None and self.discovery.found:
            yield self.discovery.found.pop(0)

    def meet(self, cell: int, contacts: tuple[Contact, ...], now: float) -> list[Effect]:
        """Ask some of those who were found who they are."""
        if self.discovery is not None:
            self.discovery.proven(cell, len(contacts))
        if cell not in self.neighbours.looker.cells or not self.alike.is_primary:
            return []
        effects: list[Effect] = []
        for contact in drawn(contacts, self.me.id, MET):
            effects += self.neighbours.ask(contact, now)
        return effects

    def receive(self, sender: Contact, message: OfLookups, now: float) -> list[Effect]:
        """Take in what another node's discovery says."""
        return self.discovery.receive(sender, message, now) if self.discovery is not None else []

    def fire(self, timer: object, now: float) -> list[Effect]:
        """A timer is due that may be discovery's."""
        return self.discovery.fire(timer, now) if self.discovery is not None else []

    def link_down(self, down: LinkDown, now: float) -> list[Effect]:
        """A link is gone."""
        return self.discovery.link_down(down.contact, down.cause, now) if self.discovery is not None else []
