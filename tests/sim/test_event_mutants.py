"""The invariants of events and discovery bite: each of these one-line bugs is put in, and a history with faults, in which
events are published by followers and by strangers, must break the named invariant."""

from dataclasses import replace
from types import ModuleType

import pytest

from mutants import Mutant
from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.invariants.watch import BrokenError, all_invariants
from ropewalk.engines.sim.liars import Pretender, lying
from ropewalk.engines.sim.network import Duplication, Latency, Loss, Partition, Reordering, Rule, Window
from ropewalk.engines.sim.population import Act
from ropewalk.engines.sim.swarm import Early
from ropewalk.protocols.contract import Event
from ropewalk.protocols.discovery import leases, proofs
from ropewalk.protocols.discovery import node as discovery
from ropewalk.protocols.discovery import settings as found
from ropewalk.protocols.discovery.leases import Leases
from ropewalk.protocols.discovery.proofs import Proofs
from ropewalk.protocols.discovery.routes import Routes
from ropewalk.protocols.dissemination import asking, injection
from ropewalk.protocols.dissemination import node as dissemination
from ropewalk.protocols.dissemination import settings as bounds
from ropewalk.protocols.dissemination.asking import Asking
from ropewalk.protocols.dissemination.injection import Injections
from ropewalk.protocols.dissemination.saying import Saying
from ropewalk.protocols.dissemination.trees import Trees
from ropewalk.protocols.remembered import Remembered
from ropewalk.protocols.stan import node as stan
from ropewalk.protocols.stan.finding import Finding
from ropewalk.protocols.stan.neighbours import Neighbours
from ropewalk.seeds import chance
from towns import PERIOD, TIMED, Town, members

BOUNDS = ("caches bounded", "every queue bounded")
MUTANTS = [
    # delivery
    Mutant(dissemination.Node, "_accept", "if not followed:", "if False:", "only followers"),
    Mutant(Neighbours, "around", "return None", "return {}", "only followers"),
    Mutant(dissemination.Node, "knows", "event in self.seen or event in self.kept", "False", "at most once"),
    Mutant(dissemination.Node, "_pushed", "if not self.knows(event.id):", "if True:", "at most once"),
    Mutant(dissemination.Node, "inject", "self.knows(inject.event.id) or", "", "at most once"),
    Mutant(dissemination.Node, "_around", "return found", "return {}", "everybody gets it"),
    Mutant(
        dissemination.Node,
        "_asked",
        "[topic for topic in topics if",
        "[topic for topic in topics[:1] if",
        "everybody gets it",
    ),
    Mutant(Asking, "_want", "return [self._wait(event, wanted, patience, now)]", "return []", "everybody gets it"),
    Mutant(Asking, "_ask", ", self._wait(event, wanted, self.settings.retry, now)]", "]", "everybody gets it"),
    Mutant(dissemination.Node, "_spread", "passed_on(kept, topics,", "passed_on(kept, event.topics,", "no disclosure"),
    Mutant(
        dissemination.Node,
        "_asked",
        "passed_on(kept, shared[topics],",
        "passed_on(kept, kept.event.topics,",
        "no disclosure",
    ),
    Mutant(
        dissemination.Node,
        "_asked",
        "self._catch_up(sender, grafted, ids, now) if grafted else []",
        "[each for event in want.ids if event in self.kept for each in showed(self.kept[event], sender)]",
        "recalled from owners",
    ),
    Mutant(dissemination.Node, "_make_room", "len(self.kept) > MOST_KEPT or", "", "caches bounded"),
    Mutant(Asking, "_add", "if len(wanted.advertisers) < MOST_ADVERTISERS:", "if True:", "caches bounded"),
    Mutant(Asking, "_want", "len(self.wanted) >= MOST_WANTED or", "", "caches bounded"),
    Mutant(Remembered, "add", "if len(self._at) > self.most else None", "if False else None", "caches bounded"),
    Mutant(
        Trees,
        "tidy",
        "self.missed.items() if self.neighbours(topic) is not None",
        "self.missed.items()",
        "caches bounded",
    ),
    Mutant(
        Trees,
        "_keep",
        "for node in self.eager[topic] if node in near",
        "for node in self.eager[topic]",
        "caches bounded",
    ),
    Mutant(
        dissemination.Node,
        "tidy",
        "for node in shown if node in near",
        "for node in shown",
        "caches bounded",
    ),
    # injection
    Mutant(Saying, "publish", "in event.topics:", "in event.topics[:1]:", "everybody gets it"),
    Mutant(Injections, "fire", "self._try(key, now)", "[]", "everybody gets it"),
    Mutant(
        Injections,
        "fire",
        "return self._report(injected.event, timer.topic, NOBODY)",
        "return []",
        "everybody gets it",
    ),
    Mutant(stan.Node, "_obey", "self.saying.hand_on(command.topic, now) +", "", "everybody gets it"),
    Mutant(Injections, "publish", "len(self.open) >= MOST_INJECTED or", "", "caches bounded"),
    Mutant(Injections, "_remember", "if len(self.entrances) > MOST_ENTRANCES:", "if False:", "caches bounded"),
    # discovery
    Mutant(
        Proofs,
        "_answered",
        "if answer.proof == proof(trial.topic, sender.id, self.me.id, self.secret):",
        "if True:",
        "no disclosure",
    ),
    Mutant(
        Finding,
        "check",
        "self.proofs.check(topic, contacts if seeks(topic) else self._of_use(topic, contacts), now)",
        "self.proofs.checked.append((topic, contacts)) or []",
        "no disclosure",
    ),
    Mutant(Proofs, "_doubt", "if len(self.doubted) > MOST_DOUBTED:", "if False:", "every queue bounded"),
    Mutant(Proofs, "check", "or len(trial.named) < MOST_TRIED:", "or True:", "every queue bounded"),
    Mutant(
        Proofs,
        "receive",
        "message.proof == proof(topic, sender.id, self.me.id, self.secret)",
        "True",
        "discovery leaks",
    ),
    Mutant(Proofs, "fire", "if timer.last or trial.sound:", "if False:", "quiescence"),
    Mutant(
        Proofs,
        "_ask",
        "shown = proof(trial.topic, self.me.id, node, self.secret)",
        "shown = trial.topic",
        "discovery leaks",
    ),
    Mutant(Proofs, "serve", "self.served[tag(topic, self.secret)] = topic", "pass", "no orphan"),
    Mutant(discovery.Node, "_sought", "self.leases.named(seek.tag, sender.id, now)", "closer", "discovery leaks"),
    Mutant(discovery.Node, "_target", "return tag(topic, self.secret)", "return topic", "discovery leaks"),
    Mutant(discovery.Node, "serve", "Serving(tag(topic, self.secret)", "Serving(topic", "discovery leaks"),
    Mutant(discovery.Node, "_receive", "self.leases.take_back(message.tag, sender.id)", "pass", "discovery leaks"),
    Mutant(discovery.Node, "_proceed", "len(self.running) < MOST_LOOKUPS and", "", "every queue bounded"),
    Mutant(Leases, "_has_room", "len(self.by_tag.get(tag, ())) < MOST_SERVING or", "True or", "every queue bounded"),
    Mutant(Routes, "heard", "len(bucket) >= self.bucket", "False", "every queue bounded"),
]

FAULTY, ROUNDS = 9, 21  # periods with loss, of all
EVENTS = 64
# Topics of two that follow nothing else; of one, and then of another; of two that begin while they are apart
LONE, MOVED, APART = 5, 6, 7
A, B, C = (chance(1, "lone", number) for number in range(3))


def crowd(followed: dict[int, list[int]]) -> list[int]:
    return sorted({node for held in followed.values() for node in held} - {A, B, C})


def publishing(number: int, at: float, publisher: int, *topics: int) -> Act:
    return Act(at, publisher, "publish", event=Event(chance(1, "event", number), publisher, topics, b"x" * number))


def events(followed: dict[int, list[int]]) -> list[Act]:
    """On one to three topics, some of which their publishers do not follow."""
    stranger, *nodes = crowd(followed)
    acts = [
        *(publishing(EVENTS + number, 40.5, stranger, LONE) for number in range(6)),  # cut off: it must be told
        publishing(EVENTS + 6, 95.0, stranger, MOVED),
        publishing(EVENTS + 7, 128.0, stranger, MOVED),
        publishing(EVENTS + 8, 130.0, stranger, 1, LONE),
        publishing(EVENTS + 9, 136.0, A, LONE),  # and follows it no longer
    ]
    for number in range(EVENTS):
        publisher = nodes[number % len(nodes)]
        mine = [topic for topic in followed if publisher in followed[topic]]
        others = [topic for topic in followed if topic not in (*mine, LONE, MOVED)]
        drawn = (mine[:1], others[:1] or mine, [*mine[:1], *others[:2]], mine[:2])[number % 4]
        acts.append(publishing(number, PERIOD * (3.5 + 10 * number / EVENTS), publisher, *drawn))
    return acts


def troubles(followed: dict[int, list[int]], events: list[Act]) -> list[Act]:
    """Crashes, newcomers, and changes of mind while an event is on its way."""
    acts = []
    for place, node in enumerate(crowd(followed)[6:]):
        topic = next(topic for topic in followed if node in followed[topic])
        begin = PERIOD * (2 + place / 2)
        match place % 3:
            case 0:
                acts += [Act(begin, node, "crash"), Act(begin + PERIOD / 2, node, "restart")]
            case 1:
                others = [each for each in events if each.event and each.event.topics == (topic,) and each.node != node]
                soon = min(each.at for each in others if each.at > begin) + 0.01 * place
                acts += [Act(soon, node, "unsubscribe", topic), Act(soon + 2 * PERIOD, node, "subscribe", topic)]
            case _:
                acts += [Act(1.0, node, "leave"), Act(begin, node, "join")]
    # Whoever let the stranger's first event in follows the topic no longer when the next comes, but somebody else does.
    acts += [Act(96.0, B, "subscribe", MOVED), Act(110.0, C, "unsubscribe", MOVED)]
    acts.append(Act(136.02, A, "unsubscribe", LONE))
    return [*acts, *(Act(145.0, node, "subscribe", APART) for node in crowd(followed)[2:4])]


def history(invariants: list[Invariant] | None = None) -> None:
    """Some sixteen periods with all that can go wrong, then some without; two nodes pretend to serve whatever is sought."""
    followed = members(18, 4, 1) | {LONE: [A, B], MOVED: [C]}
    faults: list[Rule] = [Loss(1, 0.1), Duplication(1, 0.1), Reordering(1, 0.1, 3.0)]
    apart = [
        Partition(Window(50.0, 70.0), frozenset(crowd(followed)[::2])),
        Partition(Window(40.0, 125.0), frozenset((A, B))),
        Partition(Window(140.0, 155.0), frozenset(crowd(followed)[::2])),
    ]
    rules: list[Rule] = [*(Early(rule, FAULTY * PERIOD) for rule in faults), *apart, Latency(1, 0.05)]
    published = events(followed)
    acts = [*troubles(followed, published), *published]
    settings = replace(TIMED, manager="scamp", learn=True, discover=True, rounds=ROUNDS)
    make = lying(crowd(followed)[1:3], None, Pretender)
    town = Town(settings=settings, rules=rules, acts=acts, followed=followed, invariants=invariants, make=make)
    town.play().at_rest()


def shrink_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small history reaches them. Then not everybody gets everything any more, nor once."""
    of_events = {"MOST_KEPT": 24, "MOST_SEEN": 48}
    of_wanted = {"MOST_WANTED": 4, "MOST_ADVERTISERS": 2}
    of_strangers = {"MOST_INJECTED": 4, "MOST_ENTRANCES": 1}
    places: list[tuple[dict[str, int], ModuleType, ModuleType]] = [
        (of_events, bounds, dissemination),
        (of_wanted, bounds, asking),
        (of_strangers, bounds, injection),
        ({"MOST_LOOKUPS": 2}, found, discovery),
        ({"MOST_SERVING": 4}, found, leases),
        ({"MOST_DOUBTED": 2, "MOST_TRIED": 2}, found, proofs),
    ]
    for small, *modules in places:
        for name, most in small.items():
            for module in modules:
                monkeypatch.setattr(module, name, most)


def test_without_a_bug_nothing_is_broken() -> None:
    history()


def test_without_a_bug_no_bound_is_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink_bounds(monkeypatch)
    history([each for each in all_invariants() if each.name in BOUNDS])


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_bug_is_caught(monkeypatch: pytest.MonkeyPatch, mutant: Mutant) -> None:
    if mutant.caught_by in BOUNDS:
        shrink_bounds(monkeypatch)
    mutant.put_in(monkeypatch)
    with pytest.raises(BrokenError, match=f"^{mutant.caught_by}: "):
        history([mutant.catcher()])
