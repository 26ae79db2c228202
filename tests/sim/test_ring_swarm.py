"""Histories of nodes on rings made up by chance, those that once failed, and bugs that they catch."""

import pytest

from mutants import Mutant
from portions import portions
from ropewalk.engines.sim.histories import play
from ropewalk.engines.sim.invariants.watch import BrokenError
from ropewalk.engines.sim.record import Trace
from ropewalk.engines.sim.ring_swarm import scenario
from ropewalk.protocols.dht.lookups import Lookups
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.magnet.downward import Downward
from ropewalk.protocols.scribe.node import Upward
from ropewalk.protocols.trees.branches import Trees
from ropewalk.protocols.trees.events import Events

MANY, AT_ONCE = 20, 10
FAILED_ONCE = {
    63: "a home crashed with an event that it had called safe, and was back before its successor took over",
    7: "who comes back and asks the same node for a place is not expected twice",
    16: "an event of several topics goes along all its trees where it is, whichever it came by",
    22: "who looks for the skewed ring is handed on by those who are not on it either",
    62: "a question that comes round to who asked is answered there",
    71: "what is taken to be a node's, and is not, goes back instead of round",
    313: "a branch that has just begun may have no child yet",
    730: "who is in a circle of parents looks for the home itself, not for another in the circle",
    327: "who cannot reach anybody for a while tries all of them again",
}
# With the first history that is tried: each is seen there, or in a later one where a change has shuffled them
MUTANTS = [
    (Mutant(Ring, "_followed", "former is None or known or", "former is None or", "ring order"), 2),
    (Mutant(Ring, "_in_order", "seat.contact.id == self.me.id or", "", "ring order"), 0),
    (Mutant(Lookups, "_send", 'question.purpose != "finger"', "False", "ring order"), 0),
    (Mutant(Trees, "_drop", "del self.by_topic[topic]", "pass", "one tree"), 0),
    (Mutant(Trees, "grafted", "branch.children[sender.id] = (sender, now)", "pass", "one tree"), 0),
    (Mutant(Trees, "adopt", "branch.children.pop(parent.id, None)", "pass", "one tree"), 0),
    (Mutant(Upward, "seek", "onward is not None", "False", "one tree"), 0),
    (Mutant(Downward, "reach", "effects += self.trees.adopt(topic, sender, now)", "pass", "one tree"), 0),
    (Mutant(Events, "_arrived", "any(map(self.follows, event.topics))", "True", "only followers"), 1),
    (Mutant(Events, "compare", "effects.append(Send(sender, Lack(topic, lacking)))", "pass", "everybody gets it"), 2),
    (Mutant(Events, "hand_in_again", "return self._hand_in(topic, submission.event, now)", "return []", "everybody gets it"), 3),
]  # fmt: skip


def play_from(first: int, count: int) -> None:
    for seed in range(first, first + count):
        play(scenario(seed))


@pytest.mark.parametrize("first", portions(range(0, MANY, AT_ONCE), 0, 1))
def test_histories(first: int) -> None:
    play_from(first, AT_ONCE)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", list(FAILED_ONCE))
def test_what_failed_once(seed: int) -> None:
    play(scenario(seed))


def test_one_seed_is_one_history() -> None:
    one, other = Trace(), Trace()
    play(scenario(1), observers=[one])
    play(scenario(1), observers=[other])
    assert one.digest == other.digest
    assert str(scenario(1)).startswith("seed 1: ")


@pytest.mark.parametrize(("mutant", "seed"), MUTANTS, ids=str)
def test_a_bug_is_caught(monkeypatch: pytest.MonkeyPatch, mutant: Mutant, seed: int) -> None:
    mutant.put_in(monkeypatch)
    with pytest.raises(BrokenError, match=f"^{mutant.caught_by}: "):
        play_from(seed, MANY)
