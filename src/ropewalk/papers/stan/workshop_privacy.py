"""StAN, its title and section 2: interests are shared, and not disclosed to who does not share them."""

from dataclasses import replace
from typing import Any

import numpy as np

from ropewalk.engines.job import Job
from ropewalk.engines.sim.record import Trace
from ropewalk.engines.sim.run import begin, play, population_of
from ropewalk.engines.sim.simulator import Observer, Process
from ropewalk.engines.views import views_of
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import TTL, WORKSHOP, grid_universe
from ropewalk.protocols.contract import Send
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import Settings

CELL = (200, 20)
ROUNDS: dict[Scale, int] = {"small": 4, "paper": 8}
PRINTED = Settings(schedule="timed", ttl=TTL, connectivity=0.9)
CASES = {
    "in lock step": replace(PRINTED, schedule="sync"),
    "with timers": PRINTED,
    "with timers, SCAMP, loss and churn": replace(
        PRINTED, manager="scamp", loss=0.05, churn=0.05, learn=True, snoop=True
    ),
}
OBSERVED = 5  # topics whose traces are compared


class Disclosures(Observer):
    """Counts messages, and those that tell a node about a topic which it never followed."""

    def __init__(self, members: kernel.Members) -> None:
        ids, offsets = members.ids.tolist(), members.offsets.tolist()
        self.followers = {
            topic: set(ids[offsets[place] : offsets[place + 1]]) for place, topic in enumerate(members.topics.tolist())
        }
        self.messages = self.disclosures = 0

    def sent(self, sender: Process, send: Send, now: float, copies: int) -> None:  # noqa: ARG002
        """See `Observer`."""
        message = send.message
        for topic in message.topics:
            self.messages += 1
            self.disclosures += send.to.id not in self.followers[topic]


def measure_disclosure(lab: Lab, scale: Scale) -> Measured:
    """Every message of three histories."""
    members = lab.members(grid_universe(lab, "G", CELL, lab.seed))
    numbers: dict[str, Any] = {}
    for name, settings in CASES.items():
        with lab.phase(f"{CELL[0]} x {CELL[1]}: {name}"):
            found = Disclosures(members)
            _played(members, replace(settings, rounds=ROUNDS[scale]), lab.seed, [found])
            numbers[name] = {"messages": found.messages, "disclosures": found.disclosures}
    return Measured(numbers)


def check_disclosure(numbers: Numbers) -> list[Check]:
    """None is none."""
    return [
        Check(f"{name}: {of['disclosures']} of {of['messages']} messages disclose something", of["disclosures"] == 0)
        for name, of in numbers.items()
    ]


def measure_independence(lab: Lab, scale: Scale) -> Measured:
    """For some topics the trace of every member: in the whole universe, and where the topic is the only one."""
    members = lab.members(grid_universe(lab, "G", CELL, lab.seed))
    numbers: dict[str, Any] = {}
    for name, settings in CASES.items():
        if settings.churn:
            continue  # who follows nothing else then comes and goes alone
        with lab.phase(f"{CELL[0]} x {CELL[1]}: {name}"):
            chosen = replace(settings, rounds=ROUNDS[scale])
            topics = members.topics.tolist()[:OBSERVED]
            traces = {topic: _traces(members, topic) for topic in topics}
            _played(members, chosen, lab.seed, [trace for each in traces.values() for trace in each], timeless=True)
            same = compared = 0
            for topic in topics:
                alone = _traces(members, topic)
                _played(_only(members, topic), chosen, lab.seed, alone, timeless=True)
                compared += len(alone)
                same += sum(a.digest == b.digest for a, b in zip(alone, traces[topic], strict=True))
            numbers[name] = {"compared": compared, "identical": same}
    return Measured(numbers)


def check_independence(numbers: Numbers) -> list[Check]:
    """To the bit."""
    return [
        Check(
            f"{name}: {of['identical']} of {of['compared']} traces of a node on a topic are the same without its other topics",
            of["identical"] == of["compared"] > 0,
        )
        for name, of in numbers.items()
    ]


def _played(
    members: kernel.Members, settings: Settings, seed: int, observers: list[Any], *, timeless: bool = False
) -> None:
    population = population_of(members, Job(settings=settings, seed=seed), observers)
    if timeless:  # how long a link takes to open tells whether it was open already
        population.simulator.network.rules = ()
    begin(population, views_of(members, kernel.initial(members, settings, seed)))
    for _ in play(population):
        pass


def _members_of(members: kernel.Members, topic: int) -> Any:
    place = members.topics.tolist().index(topic)
    return members.ids[members.offsets[place] : members.offsets[place + 1]]


def _only(members: kernel.Members, topic: int) -> kernel.Members:
    ids = _members_of(members, topic)
    return kernel.Members(members.topics[members.topics == topic], np.array([0, ids.size], np.int64), ids)


def _traces(members: kernel.Members, topic: int) -> list[Trace]:
    return [Trace(node, topic) for node in _members_of(members, topic).tolist()]


def draw(measured: Measured) -> list[Panel]:
    """How many were looked at, and how many were as claimed."""
    names = (
        ("messages", "disclosures")
        if "messages" in next(iter(measured.numbers.values()))
        else ("compared", "identical")
    )
    return [
        Panel(
            title="What was looked at",
            x="history: " + ", ".join(f"{at}: {name}" for at, name in enumerate(measured.numbers)),
            y="count",
            reading="Disclosures must be none; identical traces must be all.",
            curves=[
                Curve(
                    name,
                    [(float(at), float(of[name])) for at, of in enumerate(measured.numbers.values())],
                    "line",
                    shade,
                )
                for shade, name in enumerate(names)
            ],
        )
    ]


DISCLOSURE = Claim(
    id="A-P1",
    sentence="A node learns of another's interest in a topic only if it shares it.",
    paper=WORKSHOP,
    place="section 2; the title",
    published={"disclosures": 0},
    tolerance="no message tells a node about a topic that it never followed, in lock step, with timers, and with SCAMP under loss and churn",
    measure=measure_disclosure,
    checks=check_disclosure,
    draw=draw,
    caveat="What discovery of a topic's first contact would disclose is not part of the protocol, and not counted.",
)
INDEPENDENCE = Claim(
    id="A-P2",
    sentence="What a node does on a topic does not depend on the other topics it follows.",
    paper=WORKSHOP,
    place="section 2",
    published="every node's choices are local to a topic",
    tolerance="the trace of every member on a topic is the same to the bit when its other topics are taken away",
    measure=measure_independence,
    checks=check_independence,
    draw=draw,
    caveat="Messages take no time here: how long it takes to take in a neighbour can tell that a link to it was there already.",
)
