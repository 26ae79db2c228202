"""What does an event on several topics cost, where overlays share links, beside publishing it once for each topic?

Set G, 1000 x 300, views of fixed size at 0.99, before and after 8 rounds in lock step. Two counts:

- At the relay: a node that has an event on m of its topics sends it to every neighbour on them. Saved is the share of
  messages that it need not send because a neighbour is one on several of them. Over full views, as the paper's flooding
  would; m topics are drawn for every node that follows as many.
- On the way: payload frames per delivery of events on m topics of their publisher, spread by trees on the aligned views,
  and as a share of the frames of the same events published once for each of their topics, in the same run.

    .venv/bin/python benchmarks/relay.py [--nodes 1000] [--topics 300] [--events 40]

The last line is one JSON document.
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass, replace

from universes import set_g

from ropewalk.engines.contract import Views
from ropewalk.engines.sim import timed
from ropewalk.engines.sim.deliveries import Deliveries
from ropewalk.engines.sim.network import Network, WideArea
from ropewalk.engines.sim.population import Act, Population
from ropewalk.engines.sim.simulator import Simulator
from ropewalk.engines.views import views_of
from ropewalk.protocols.contract import Contact, Event, Node
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.node import Node as StanNode
from ropewalk.protocols.stan.settings import Settings
from ropewalk.seeds import chance, pick

SEED = 1
COUNTS = (1, 2, 4, 8, 16)
ROUNDS = 8
SETTINGS = Settings(overlay="fixed", connectivity=0.99, rounds=ROUNDS)
GAP = 0.5  # seconds from one event to the next


@dataclass(frozen=True, slots=True)
class Measured:
    """For events on so many topics."""

    topics: int
    saved_before: float
    saved_after: float
    frames_per_delivery: float
    of_once_per_topic: float


def main() -> None:
    """Count both, and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, usual in (("nodes", 1000), ("topics", 300), ("events", 40)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    asked = parser.parse_args()
    members = set_g(asked.nodes, asked.topics, SEED)
    initial = kernel.initial(members, SETTINGS, SEED)
    before = views_of(members, initial)
    *_, last = kernel.rounds(members, initial, SETTINGS, SEED)
    after = views_of(members, last.overlays)
    rows = []
    for count in COUNTS:
        say(f"events on {count} topics")
        chosen = publications(after, asked.events, count)
        together, apart = spread(after, chosen), spread(after, once_per_topic(chosen))
        rows.append(
            Measured(
                topics=count,
                saved_before=round(saved(before, count), 3),
                saved_after=round(saved(after, count), 3),
                frames_per_delivery=round(together.frames / delivered(together), 3),
                of_once_per_topic=round(together.frames / apart.frames, 3),
            )
        )
    print("topics  saved before  saved after  frames per delivery  of those of once per topic")
    for row in rows:
        print(
            f"{row.topics:6}  {row.saved_before:11.1%}  {row.saved_after:11.1%}  {row.frames_per_delivery:19.3f}"
            f"  {row.of_once_per_topic:26.1%}"
        )
    print(json.dumps({"nodes": asked.nodes, "topics": asked.topics, "rows": [asdict(row) for row in rows]}))


def topics_of(views: Views) -> dict[int, list[int]]:
    """By node."""
    found: dict[int, list[int]] = {}
    for topic, held in views.items():
        for node in held:
            found.setdefault(node, []).append(topic)
    return found


def drawn(topics: list[int], count: int, *labels: int) -> list[int]:
    """So many of them, by chance."""
    return sorted(topics, key=lambda topic: chance(SEED, "drawn", count, *labels, topic))[:count]


def saved(views: Views, count: int) -> float:
    """The share of messages that all relays together need not send."""
    apart = together = 0
    for node, topics in topics_of(views).items():
        if len(topics) >= count:
            held = [views[topic][node] for topic in drawn(topics, count, node)]
            apart += sum(map(len, held))
            together += len({other for view in held for other in view})
    return 1 - together / apart


def publications(views: Views, events: int, count: int) -> list[Event]:
    """Each by a node that follows as many topics, on those."""
    followed = {node: topics for node, topics in sorted(topics_of(views).items()) if len(topics) >= count}
    nodes = list(followed)
    found = []
    for number in range(events):
        publisher = nodes[pick(chance(SEED, "publisher", count, number), len(nodes))]
        topics = tuple(drawn(followed[publisher], count, number))
        found.append(Event(chance(SEED, "event", count, number), publisher, topics, b""))
    return found


def once_per_topic(events: list[Event]) -> list[Event]:
    """As many events as each has topics."""
    return [
        Event(chance(SEED, "alone", event.id, topic), event.publisher, (topic,), b"")
        for event in events
        for topic in event.topics
    ]


def still(me: Contact, settings: Settings, seed: int, former: Node | None) -> Node:  # noqa: ARG001
    """A node whose views stay as they are."""
    return StanNode(me, settings, seed, chance(seed, "key", me.id), walking=False)


def spread(views: Views, events: list[Event]) -> Deliveries:
    """Publish them one after the other, after one event on every topic of theirs has left a tree; what the others cost."""
    settings = replace(SETTINGS, schedule="timed")
    deliveries = Deliveries()
    simulator = Simulator(Network([WideArea(SEED)]), [deliveries])
    population = Population(simulator, {topic: list(held) for topic, held in views.items()}, settings, SEED, {}, still)
    timed.begin(population, views)
    first = [
        Event(chance(SEED, "first", topic), next(iter(views[topic])), (topic,), b"")
        for topic in dict.fromkeys(topic for event in events for topic in event.topics)
    ]
    publish(population, first)
    deliveries.frames = 0
    deliveries.ledger.published.clear()
    publish(population, events)
    return deliveries


def publish(population: Population, events: list[Event]) -> None:
    """One after the other, and wait until all is quiet."""
    simulator = population.simulator
    for event in events:
        simulator.run(until=simulator.now + GAP)
        population.perform(Act(simulator.now, event.publisher, "publish", event=event))
    simulator.run(until=simulator.now + population.settings.period)


def delivered(deliveries: Deliveries) -> int:
    """How often any event reached anybody."""
    return sum(len(each.delivered) for each in deliveries.ledger.published.values())


def say(words: str) -> None:
    """Progress."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
