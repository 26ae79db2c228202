"""Who serves which tag, as far as it has said so here: contacts that members have left with this node, for a while.

Everything is bounded, so somebody may try to use it up. Three rules keep what is there useful:

- A tag that is full refuses newcomers, but for one in `LUCKY`, which takes the place of one of the younger half. The
  older half loses its places only by not renewing them. So ids made up today drive nobody out who was there before, and
  trying again within a lease draws the same lot.
- No node is kept under more than MOST_PER_CONTACT tags.
- When no tag more fits in, the node under most tags makes room for one under fewer.
"""

from dataclasses import dataclass

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.discovery.settings import MOST_NAMED, MOST_PER_CONTACT, MOST_SERVING, MOST_TAGS
from ropewalk.seeds import chance, pick

LUCKY = 16  # ours: one newcomer in so many; a full tag of many members changes by some a lease, and is not frozen


@dataclass(slots=True)
class Lease:
    """A contact that is named until some moment."""

    contact: Contact
    until: float


class Leases:
    """All that members have left at one node."""

    __slots__ = ("answers", "by_tag", "lease", "me", "seed", "tags_of")

    def __init__(self, me: int, seed: int, lease: float) -> None:
        self.me, self.seed, self.lease = me, seed, lease
        self.by_tag: dict[
            int, dict[int, Lease]
        ] = {}  # at most MOST_TAGS of MOST_SERVING; the eldest first, renewed or not
        self.tags_of: dict[int, dict[int, None]] = {}  # the same by node, at most MOST_PER_CONTACT each
        self.answers = 0  # labels whom is named

    def leave(self, tag: int, contact: Contact, now: float) -> bool:
        """Keep a contact, or keep it for longer; whether there was room."""
        kept = self.by_tag.get(tag, {})
        if contact.id not in kept and not self._has_room(tag, contact, now):
            return False
        self.by_tag.setdefault(tag, {})[contact.id] = Lease(contact, now + self.lease)
        self.tags_of.setdefault(contact.id, {})[tag] = None
        return True

    def take_back(self, tag: int, node: int) -> None:
        """Keep it no more."""
        kept = self.by_tag.get(tag, {})
        if kept.pop(node, None) is None:
            return
        if not kept:
            del self.by_tag[tag]
        del self.tags_of[node][tag]
        if not self.tags_of[node]:
            del self.tags_of[node]

    def forget(self, node: int) -> None:
        """It has said good-bye: keep it under no tag."""
        for tag in list(self.tags_of.get(node, ())):
            self.take_back(tag, node)

    def named(self, tag: int, asker: int, now: float) -> tuple[Contact, ...]:
        """Some that serve a tag, by chance, and never who asks."""
        there = [
            lease.contact for node, lease in self.by_tag.get(tag, {}).items() if node != asker and lease.until > now
        ]
        if len(there) <= MOST_NAMED:
            return tuple(there)
        self.answers += 1
        drawn = {contact: chance(self.seed, "named", self.me, self.answers, contact.id) for contact in there}
        return tuple(sorted(there, key=drawn.__getitem__)[:MOST_NAMED])

    def expire(self, now: float) -> None:
        """Drop what was not renewed in time."""
        for tag in list(self.by_tag):
            self._expire(tag, now)

    def _expire(self, tag: int, now: float) -> None:
        for node in [node for node, lease in self.by_tag.get(tag, {}).items() if lease.until <= now]:
            self.take_back(tag, node)

    def _has_room(self, tag: int, contact: Contact, now: float) -> bool:
        """Whether a newcomer can be kept under a tag, after making room where the rules allow it."""
        if len(self.tags_of.get(contact.id, ())) >= MOST_PER_CONTACT and contact.id != self.me:
            return False
        if tag not in self.by_tag:
            return len(self.by_tag) < MOST_TAGS or self._make_room_for_tag(contact.id)
        if len(self.by_tag[tag]) >= MOST_SERVING:
            self._expire(tag, now)
        return len(self.by_tag.get(tag, ())) < MOST_SERVING or self._make_room(tag, contact.id, now)

    def _make_room(self, tag: int, node: int, now: float) -> bool:
        """One newcomer in LUCKY takes the place of one of the younger half."""
        lot = chance(self.seed, "lucky", self.me, tag, node, int(now / self.lease))
        if pick(lot, LUCKY):
            return False
        younger = list(self.by_tag[tag])[MOST_SERVING // 2 :]
        self.take_back(tag, younger[pick(chance(lot, "replaced"), len(younger))])
        return True

    def _make_room_for_tag(self, node: int) -> bool:
        """Whoever is under most tags gives up one that only it serves, if it is still under no fewer than the newcomer."""
        greediest = max(self.tags_of, key=lambda other: len(self.tags_of[other]))
        alone = next((tag for tag in self.tags_of[greediest] if len(self.by_tag[tag]) == 1), None)
        if alone is None or len(self.tags_of[greediest]) <= len(self.tags_of.get(node, ())) + 1:
            return False
        self.take_back(alone, greediest)
        return True
