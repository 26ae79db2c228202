"""A topic that a node serves: where it has left its contact, where else it could, and when to do so again."""

from dataclasses import dataclass, field

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.discovery.settings import RELOCATED, SLOWEST, YOUNG, Settings


@dataclass(slots=True)
class Serving:
    """What a node knows of one topic that it serves. An announcement is a round: from `begin` to `until_next`."""

    tag: int
    era: int  # tells it from the same topic served before
    rounds: int = 0  # so far
    setbacks: int = 0  # rounds in a row in which nobody was reached, or nobody had room
    left_at: dict[int, Contact] = field(default_factory=dict)  # who keeps it, at most `replicas`
    places: list[Contact] = field(default_factory=list)  # in this round: who can still be asked, the closest first
    asked: int = 0  # in this round: who has yet to answer
    full: int = 0  # in this round: who had no room
    others: dict[Contact, None] = field(
        default_factory=dict
    )  # in this round: who else serves it; some from each answer

    def stays(self, replicas: int) -> bool:
        """Whether to announce it where it was kept before, instead of looking for the closest anew."""
        return self.rounds >= YOUNG and self.rounds % RELOCATED != 0 and len(self.left_at) >= replicas

    def begin(self, places: list[Contact]) -> None:
        """Go by these."""
        self.places, self.left_at, self.asked, self.full, self.others = places, {}, 0, 0, {}

    def next(self, replicas: int) -> list[Contact]:
        """Whom to ask now, so that as many as there should be will have answered."""
        count = max(0, replicas - self.asked - self.full - len(self.left_at))
        asked, self.places = self.places[:count], self.places[count:]
        self.asked += len(asked)
        return asked

    def answered(self, contact: Contact, full: bool, others: tuple[Contact, ...]) -> None:
        """Somebody keeps it, or has no room."""
        self.asked -= 1
        self.others.update(dict.fromkeys(others))
        if full:
            self.full += 1
        else:
            self.left_at[contact.id] = contact

    def failed(self) -> None:
        """Somebody has not answered; the next in line takes its place."""
        self.asked -= 1

    def until_next(self, settings: Settings) -> float:
        """Seconds from this round to the next: longer each time, for those who find no room, or reach nobody.

        The first rounds follow soon: of those who begin at the same time few know of each other, and overlays that have
        begun apart grow together by what announcements bring.
        """
        self.rounds += 1
        self.setbacks = 0 if self.left_at else self.setbacks + 1
        if self.full:
            return settings.refresh * min(SLOWEST, 1 << self.setbacks)
        return settings.backed_off(self.setbacks or self.rounds + 1)
