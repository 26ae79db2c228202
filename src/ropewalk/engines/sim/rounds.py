"""Rounds from outside: in lock step, or one node after the other. Nothing takes time then; the batch engine does the same.

A round opens on every topic of every node, everything it brings about happens, and it closes. Between rounds nodes come
and go. Round r is played at r seconds, and who crashed before it is missed half a second later.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ropewalk.engines.contract import Views
from ropewalk.engines.sim.network import Delays
from ropewalk.engines.sim.population import Population
from ropewalk.protocols.contract import Message, TimerFired
from ropewalk.protocols.stan.node import Tidy
from ropewalk.protocols.stan.settings import RETURN
from ropewalk.protocols.stan.walks import Close, Open
from ropewalk.seeds import chance

MISSED = 0.5  # seconds
UNANSWERED = 0.25  # seconds: whoever does not answer in a round is known to be gone before the next


@dataclass(frozen=True, slots=True)
class WalkLoss:
    """As the batch engine loses messages: every step of a walk by one draw, a reply by one for all its way, nothing else."""

    seed: int
    probability: float

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:  # noqa: ARG002
        """See `network.Rule`."""
        match message.kind:
            case "walk":
                drawn = chance(self.seed, "drop", *message.labels())
            case "reply" | "relay":
                drawn = chance(self.seed, "reply", *message.labels()[:3])
            case _:
                return delays
        return [] if drawn < int(self.probability * 2**63) else delays


def begin(population: Population, initial: Views) -> None:
    """Have everybody subscribe, with the view that is given."""
    population.simulator.unanswered = UNANSWERED
    population.start(population.contacts)
    for node, topics in population.follows.items():
        for topic in topics:
            population.subscribe(node, topic, initial[topic][node])
    population.settle()


def play(population: Population) -> Iterator[int]:
    """Play round after round; the number of those that are over."""
    settings, simulator = population.settings, population.simulator
    for turn in range(settings.rounds):
        simulator.run(until=float(turn))
        if settings.churn and turn:
            _come_and_go(population, turn)
        if settings.schedule == "sequential":
            _one_after_the_other(population, turn)
        else:
            _in_lock_step(population)
        simulator.run(until=turn + MISSED)
        for node in simulator.processes:
            simulator.tell(node, TimerFired(Tidy()))
        population.settle()
        yield turn + 1


def _in_lock_step(population: Population) -> None:
    for timer in (Open, Close):
        for node in population.simulator.processes:
            for topic in population.follows[node]:
                population.simulator.tell(node, TimerFired(timer(topic)))
        population.settle()


def _one_after_the_other(population: Population, turn: int) -> None:
    for topic in population.members:
        order = {node: chance(population.seed, "turn", topic, node, turn) for node in population.there(topic)}
        for node in sorted(order, key=lambda node: (order[node], node)):
            population.simulator.tell(node, TimerFired(Open(topic)))
            population.settle()


def _come_and_go(population: Population, turn: int) -> None:
    """By one chance per node and round, whatever its topics: half of those who go crash, half leave."""
    churn, joining = population.settings.churn, []
    for node in population.contacts:
        drawn = chance(population.seed, "churn", node, turn)
        if not population.is_there(node):
            if drawn < int(RETURN * 2**63):
                joining.append(node)
        elif drawn < int(churn * 2**63):
            population.take_away(node, crash=drawn < int(churn / 2 * 2**63), noticed=MISSED)
    population.start(joining)
    for node in joining:
        for topic in population.follows[node]:
            population.subscribe(node, topic, population.drawn_view(node, topic, turn))
    population.settle()
