"""The invariants bite: each of these one-line bugs is put in, and a history with faults must break the named invariant."""

from dataclasses import replace

import pytest

from mutants import Mutant
from ropewalk.engines.sim.invariants import bounded
from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.invariants.watch import BrokenError
from ropewalk.engines.sim.network import Duplication, Latency, Loss, Rule
from ropewalk.engines.sim.population import Act, What
from ropewalk.protocols.links import Links
from ropewalk.protocols.sampling.contract import ManagerName
from ropewalk.protocols.sampling.cyclon import node as cyclon
from ropewalk.protocols.stan import following, shared, walks
from ropewalk.protocols.stan import node as stan
from ropewalk.protocols.stan.following import Following
from ropewalk.protocols.stan.neighbours import Neighbours
from ropewalk.protocols.stan.shared import Shared
from ropewalk.protocols.stan.walks import Walks
from ropewalk.protocols.view import View
from towns import PERIOD, TIMED, Town, members

MUTANTS = [
    Mutant(View, "adopt", "<= self.size:", "<= self.size + 1:", "view bounds"),
    Mutant(View, "adopt", "self.weights.pop()", "self.weights[-1]", "view bounds"),
    Mutant(View, "drop", "del self.ids[place], self.weights[place]", "del self.ids[place]", "view bounds"),
    Mutant(View, "newcomers", "node != me", "True", "no self link"),
    Mutant(Links, "release", "link.uses -= 1", "link.uses -= 0", "link counts"),
    Mutant(Links, "close_idle", "not link.uses and", "", "make before break"),
    Mutant(Links, "close_idle", "not link.uses and", "False and", "quiescence"),
    Mutant(Neighbours, "consider", "for contact in newcomers:", "for contact in ():", "strongly connected", "cyclon"),
    Mutant(Following, "believed", "gone.get(contact.id, now) <= now", "True", "view bounds"),
    Mutant(Neighbours, "_take_in", "self.links.use(contact.id)", "pass", "link counts"),
    Mutant(Neighbours, "_take_in", "Announce(overlay.topic)", "Announce(min(self.topics))", "no disclosure"),
    Mutant(
        Neighbours,
        "_take_in",
        "return self.links.seek(",
        "return [*map(overlay.view.drop, [c.id for c in overlay.view.contacts[-1:]])][:0] + self.links.seek(",
        "make before break",
        manager="given",
    ),
    Mutant(Neighbours, "link_down", "overlay.view.drop(node)", "pass", "link counts"),
    Mutant(Walks, "_remember", "if len(self.ways) > MOST_WAYS:", "if False:", "every queue bounded"),
    Mutant(
        Neighbours, "link_up", "self.awaited.pop(contact.id, ())", "self.awaited.get(contact.id, ())", "link counts"
    ),
    Mutant(Neighbours, "keep_alive", "tuple(held_for.get(node, ()))", "tuple(self.topics)", "no disclosure"),
    Mutant(Neighbours, "let_all_go", "self.links.let_go(holder, now)", "pass", "link counts"),
    Mutant(Links, "held", "self.by_id[node].held_on += 1", "pass", "link counts"),
    Mutant(Neighbours, "_grow", "view.size += 1", "view.size += 0", "connected"),
    Mutant(Walks, "open", "or timer.era not in (following.era, None)", "", "one timer each"),
    Mutant(
        Walks,
        "open",
        "effects.append(SetTimer(self.neighbours.period(following), timer))",
        "pass",
        "one timer each",
    ),
    Mutant(stan.Node, "_begin_to_tidy", "if self.tidying or", "if", "one timer each"),
    Mutant(Neighbours, "_rank_anew", "following.overlay.view.rank_anew()", "pass", "view bounds"),
    Mutant(Neighbours, "unlearn", "self._rank_anew(", "(", "view bounds"),
    Mutant(View, "rank_anew", "self.weights = [", "_ = [", "view bounds"),
    Mutant(Shared, "learn", "if self.pairs > MOST_SHARED", "if False", "every queue bounded"),
    Mutant(Following, "bury", "if len(self.gone) > MOST_GONE:", "if False:", "every queue bounded"),
]


def history(manager: ManagerName, invariants: list[Invariant] | None = None) -> None:
    """Some periods with loss, doubled messages, crashes, departures and changes of mind, then some without."""
    followed = members(16, 4, 1)
    nodes = sorted({node for held in followed.values() for node in held})
    acts = []
    for place, node in enumerate(nodes):
        topic = next(topic for topic in followed if node in followed[topic])
        what: What = ("crash", "leave", "unsubscribe")[place % 3]
        begin = PERIOD * (1 + place / 4)
        acts.append(Act(begin, node, what, topic))
        if place % 2:
            soon = what == "unsubscribe"  # before the timer of the old subscription has fired
            acts.append(Act(begin + PERIOD / (8 if soon else 1), node, "subscribe" if soon else "restart", topic))

    class Early:
        def judge(self, sender, receiver, message, now, delays):
            if now > 6 * PERIOD:
                return delays
            kept = Loss(1, 0.05).judge(sender, receiver, message, now, delays)
            return Duplication(1, 0.1).judge(sender, receiver, message, now, kept) if kept else kept

    shares = 0 if manager == "cyclon" else 2  # with Cyclon more is promised where shared topics do not count
    settings = replace(TIMED, manager=manager, rounds=20, learn=True, shared=shares)
    rules: list[Rule] = [Early(), Latency(1, 0.05)]
    Town(settings=settings, rules=rules, acts=acts, followed=followed, invariants=invariants).play().at_rest()


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that a small history reaches them."""
    for module in (walks, bounded):
        monkeypatch.setattr(module, "MOST_WAYS", 4)
    for module in (following, bounded):
        monkeypatch.setattr(module, "MOST_GONE", 3)
    for module in (shared, bounded):
        monkeypatch.setattr(module, "MOST_SHARED", 12)
    monkeypatch.setattr(shared, "KEPT", 9)
    monkeypatch.setattr(cyclon.Settings, "__init__", lambda _self: None)
    monkeypatch.setattr(cyclon.Settings, "table_size", 4, raising=False)
    monkeypatch.setattr(cyclon.Settings, "swap_length", 3, raising=False)


@pytest.mark.parametrize("manager", ["given", "scamp", "cyclon"])
def test_without_a_bug_nothing_is_broken(manager: ManagerName) -> None:
    history(manager)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_bug_is_caught(monkeypatch: pytest.MonkeyPatch, mutant: Mutant) -> None:
    mutant.put_in(monkeypatch)
    with pytest.raises(BrokenError, match=f"^{mutant.caught_by}: "):
        history(mutant.manager, [mutant.catcher()])
