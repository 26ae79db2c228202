"""What nodes of the overlay by interests tell each other. Everybody says what it wants: that is what links are chosen by."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import lt
from typing import ClassVar

from ropewalk.protocols.content.spaces import MOST_CELLS
from ropewalk.protocols.contract import Contact, Topic
from ropewalk.protocols.kato.profiles import Profile

MOST_PROFILES = 128  # ours: in one message
MOST_TOLD = MOST_CELLS + 1904  # ours: cells in one message, which may be as many as fit into a frame
MOST_BYTES = 60_000  # ours: of one message, as far as it is counted here; a frame has room for some more
MOST_WANTED = 2048  # ours: cells that are asked for at once
MOST_ALIKE = 1024  # ours: nodes in one group; who comes then begins another
MOST_ORDER = 2**62  # ours: how often somebody can come last
MOST_STRUCK = 256  # ours: of those, who is remembered to be gone
MOST_HOPS = 64  # ours: of a question on its way

CELL_BYTES, NODE_BYTES = 9, 16  # at the most, on the wire; of a node, besides its address

Member = tuple[Contact, int]
"""Who is in a group, and its place in the order in which they came."""
Struck = tuple[int, int]
"""Who is not any more, and the place that it had: who is there after all takes another."""


@dataclass(frozen=True, slots=True)
class OfNodes:
    """A message that tells of no topic."""

    topics: ClassVar[tuple[int, ...]] = ()

    def contacts(self) -> int:
        """Nobody."""
        return 0

    def labels(self) -> tuple[int, ...]:
        """One between two nodes at a moment."""
        return ()


@dataclass(frozen=True, slots=True)
class OfProfiles(OfNodes):
    """A message that tells what some nodes want."""

    profiles: tuple[Profile, ...]

    def contacts(self) -> int:
        """A cell takes as much as a node."""
        return sum(1 + len(each.cells) for each in self.profiles)


@dataclass(frozen=True, slots=True)
class Joining(OfProfiles):
    """The only one of the profiles asks for nodes that want some cells; whoever knows somebody nearer hands it on (Kato III-C)."""

    kind: ClassVar[str] = "joining"
    wanted: tuple[Topic, ...]  # what it has no links for yet
    turn: int  # how many it had sent before
    hops: int  # how often it has been handed on

    def contacts(self) -> int:
        """What is wanted besides."""
        return sum(1 + len(each.cells) for each in self.profiles) + len(self.wanted)

    def labels(self) -> tuple[int, ...]:
        """One a turn and hop."""
        return (self.turn, self.hops)


@dataclass(frozen=True, slots=True)
class Told(OfProfiles):
    """The answer: who has answered, and whom it links with."""

    kind: ClassVar[str] = "told"
    turn: int

    def labels(self) -> tuple[int, ...]:
        """One a turn."""
        return (self.turn,)


@dataclass(frozen=True, slots=True)
class Linking(OfProfiles):
    """The first of the profiles is the sender; the others are around it, or (`retired`) the second stands for it."""

    kind: ClassVar[str] = "linking"
    held: bool  # whether it links to the receiver
    number: int  # of what it says here: the next is about something else
    answer: bool  # whether the receiver is to say the same of itself
    retired: bool

    def labels(self) -> tuple[int, ...]:
        """One a state."""
        return (self.number, int(self.held), int(self.answer), int(self.retired))


@dataclass(frozen=True, slots=True)
class Alive(OfNodes):
    """The heartbeat: nothing has changed since the sender last said how things are."""

    kind: ClassVar[str] = "alive"
    held: bool
    number: int  # as in the last Linking
    digest: int  # of those who want the same, between two of them; else 0

    def labels(self) -> tuple[int, ...]:
        """One a state."""
        return (self.number, int(self.held), self.digest)


@dataclass(frozen=True, slots=True)
class Fallen(OfNodes):
    """A node is gone, says who noticed (Kato III-C)."""

    kind: ClassVar[str] = "fallen"
    node: int

    def contacts(self) -> int:
        """One."""
        return 1

    def labels(self) -> tuple[int, ...]:
        """One a node."""
        return (self.node,)


@dataclass(frozen=True, slots=True)
class OfMembers(OfNodes):
    """A message that tells of those who want the same."""

    name: int  # of what they want: see `profiles.Looker`
    members: tuple[Member, ...]

    def contacts(self) -> int:
        """Of each, its place as well."""
        return 1 + 2 * len(self.members)

    def labels(self) -> tuple[int, ...]:
        """Whom it names."""
        return (self.name, *(number for contact, order in self.members for number in (contact.id, order)))


@dataclass(frozen=True, slots=True)
class Enrol(OfMembers):
    """The sender, which is the only one named, wants the same as the receiver: make one group of us."""

    kind: ClassVar[str] = "enrol"
    alone: bool  # whether nobody else is in the sender's group
    age: float  # seconds for which the sender has wanted that: of two that are alone the older one came first


@dataclass(frozen=True, slots=True)
class Circle(OfMembers):
    """Of those who want the same: who they are, or who has come, and who is gone."""

    kind: ClassVar[str] = "circle"
    gone: tuple[Struck, ...]

    def contacts(self) -> int:
        """Those who are gone, too."""
        return 1 + 2 * len(self.members) + 2 * len(self.gone)

    def labels(self) -> tuple[int, ...]:
        """Whom it names, and who is gone."""
        named = [(contact.id, order) for contact, order in self.members]
        return (self.name, *(number for each in (*named, *self.gone) for number in each))


Message = Joining | Told | Linking | Alive | Fallen | Enrol | Circle


def is_sound(message: Message) -> bool:
    """Whether nobody breaks a rule with it."""
    match message:
        case Alive() | Fallen():
            return True
        case Enrol():
            return len(message.members) == 1 and _are_members(message.members)
        case Circle():
            return _are_members(message.members) and len(message.gone) <= MOST_STRUCK
        case Joining():
            fits = len(message.profiles) == 1 and 0 <= message.hops <= MOST_HOPS and _are_cells(message.wanted)
            return fits and _are_profiles(message.profiles)
        case _:
            return bool(message.profiles) and _are_profiles(message.profiles)


def _are_members(members: tuple[Member, ...]) -> bool:
    return len(members) <= MOST_ALIKE and all(0 <= order <= MOST_ORDER for _, order in members)


def _are_profiles(profiles: tuple[Profile, ...]) -> bool:
    if len(profiles) > MOST_PROFILES or sum(len(each.cells) for each in profiles) > MOST_TOLD:
        return False
    return all(_are_cells(each.cells) for each in profiles)


def _are_cells(cells: tuple[Topic, ...]) -> bool:
    return len(cells) <= MOST_CELLS and all(map(lt, cells, cells[1:]))


def bounded(profiles: Iterable[Profile]) -> tuple[Profile, ...]:
    """Of these, in their order, as many as fit: who wants too much for what room is left is passed over."""
    found: list[Profile] = []
    cells = size = 0
    for each in profiles:
        more = NODE_BYTES + len(each.contact.address.encode()) + CELL_BYTES * len(each.cells)
        if cells + len(each.cells) <= MOST_TOLD and size + more <= MOST_BYTES:
            found.append(each)
            cells, size = cells + len(each.cells), size + more
        if len(found) == MOST_PROFILES:
            break
    return tuple(found)


def in_messages(members: Iterable[Member]) -> list[tuple[Member, ...]]:
    """These, as many messages as they take."""
    found: list[list[Member]] = [[]]
    size = 0
    for each in members:
        more = NODE_BYTES + len(each[0].address.encode()) + CELL_BYTES
        if size + more > MOST_BYTES:
            found.append([])
            size = 0
        found[-1].append(each)
        size += more
    return [tuple(each) for each in found]
