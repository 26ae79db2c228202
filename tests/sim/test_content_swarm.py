"""Histories of nodes that want cells made up by chance, those that once failed, and bugs that they catch."""

import pytest

from mutants import Mutant
from ropewalk.engines.sim.content_swarm import scenario
from ropewalk.engines.sim.histories import play
from ropewalk.engines.sim.invariants.watch import BrokenError
from ropewalk.engines.sim.record import Trace
from ropewalk.protocols.kato.alike import Alike

MANY, AT_ONCE = 20, 10
FAILED_ONCE = {
    529: "who changed its mind is not drawn back into its former group by what was on its way",
    21: "who was taken to be gone says itself that it is not, and is believed by all",
}
# With the history in which each is seen; others may see it, too
MUTANTS = [
    (Mutant(Alike, "merge", "known[1] < order", "False", "one group"), 1),
]  # fmt: skip


@pytest.mark.parametrize("first", range(0, MANY, AT_ONCE))
def test_histories(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        play(scenario(seed))


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
        play(scenario(seed))
