"""Histories of nodes that want cells made up by chance, those that once failed, and bugs that they catch."""

import pytest

from mutants import Mutant
from portions import portions
from ropewalk.engines.sim.content_swarm import scenario
from ropewalk.engines.sim.histories import play
from ropewalk.engines.sim.invariants.watch import BrokenError
from ropewalk.engines.sim.record import Trace
from ropewalk.protocols.kato.alike import Alike
from ropewalk.protocols.kato.finding import Finding
from ropewalk.protocols.kato.groups import Groups
from ropewalk.protocols.kato.neighbours import Neighbours
from ropewalk.protocols.kato.node import Node

MANY, AT_ONCE = 20, 10
FAILED_ONCE = {
    529: "who changed its mind is not drawn back into its former group by what was on its way",
    21: "who was taken to be gone says itself that it is not, and is believed by all",
    58: "an event is gone with the only member in reach that it was handed to, and that crashed before it had told anybody",
}
# With the first history that is tried: each is seen there, or in a later one where a change has shuffled them
MUTANTS = [
    (Mutant(Alike, "merge", "known[1] < order", "False", "one group"), 1),
    (Mutant(Alike, "ring", "(at + 1) % len(self.ranked)", "at - 1", "one group"), 1),
    (Mutant(Groups, "circle", "changed += self.alike.come_last(order)", "pass", "one group"), 3),
    (Mutant(Groups, "heard", "self.alike.heard[sender.id] = now", "pass", "one group"), 0),
    (Mutant(Groups, "_changed", "self.neighbours.let_go(contact.id)", "pass", "interests bounded"), 0),
    (Mutant(Neighbours, "_forget_strangers", "self.let_go(node)", "pass", "interests bounded"), 0),
    (Mutant(Neighbours, "_is_held_by", "self.incoming.pop(node, None)", "pass", "one group"), 4),
    (Mutant(Finding, "meet", "effects += self.neighbours.ask(contact, now)", "pass", "one group"), 0),
    (Mutant(Node, "_wants", "any(is_wanted(content, filters) for filters in mine)", "bool(mine)", "what is wanted"), 0),
    (Mutant(Node, "near", "return ring | self.neighbours.near(cell)", "return self.neighbours.near(cell)", "connected"), 0),
    (Mutant(Node, "_of_links", "if message.digest:", "if False:", "one group"), 21),
]  # fmt: skip


def play_from(first: int, count: int) -> None:
    for seed in range(first, first + count):
        play(scenario(seed))


@pytest.mark.parametrize("first", portions(range(0, MANY, AT_ONCE), 1, 2))
def test_histories(first: int) -> None:
    play_from(first, AT_ONCE)


@pytest.mark.parametrize("seed", list(FAILED_ONCE))
def test_what_failed_once(seed: int) -> None:
    play(scenario(seed))


def test_one_seed_is_one_history() -> None:
    one, other = Trace(), Trace()
    play(scenario(3), observers=[one])
    play(scenario(3), observers=[other])
    assert one.digest == other.digest
    assert str(scenario(3)).startswith("seed 3: ")


@pytest.mark.parametrize(("mutant", "seed"), MUTANTS, ids=str)
def test_a_bug_is_caught(monkeypatch: pytest.MonkeyPatch, mutant: Mutant, seed: int) -> None:
    mutant.put_in(monkeypatch)
    with pytest.raises(BrokenError, match=f"^{mutant.caught_by}: "):
        play_from(seed, MANY)
