"""Telemetry that is made up, in the form that nodes write it."""

import json
import random
import time
from pathlib import Path
from typing import Any


class Written:
    """Nodes by number, each with its file."""

    def __init__(self, folder: Path, nodes: int = 0) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.ids = [2**50 + number * 7919 for number in range(nodes)]
        for number in range(nodes):
            self.say(number, "nodes", up=True, address=f"127.0.0.1:{7000 + number}", protocol="stan")

    def say(self, number: int, table: str, **about: Any) -> None:
        """One row."""
        row = {"table": table, "life": 0, "at": time.time(), "node": self.ids[number]} | about
        with (self.folder / f"n{number}.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")

    def follow(self, number: int, topic: int, name: str = "") -> None:
        self.say(number, "subscriptions", topic=topic, follows=True, name=name)

    def hold(self, number: int, topic: int, others: list[int]) -> None:
        self.say(number, "held", topic=topic, neighbours=[self.ids[other] for other in others])

    def link(self, number: int, others: list[int]) -> None:
        self.say(number, "linked", up=[self.ids[other] for other in others], down=[])

    def event(self, event: int, topic: int, way: list[tuple[int, int]]) -> None:
        """It goes from the first of `way` on, over these pairs."""
        begun, hops = time.time(), {way[0][0]: 0}
        self.say(
            way[0][0], "publications", event=event, publisher=self.ids[way[0][0]], topics=[topic], size=5, at=begun
        )
        for turn, (source, to) in enumerate(way, 1):
            hops[to] = hops[source] + 1
            about = {"from": self.ids[source], "hops": hops[to], "at": begun + turn / 1000}
            self.say(to, "deliveries", event=event, **about)


def ring(folder: Path, nodes: int = 12) -> Written:
    """All follow one topic and hold the next two; the first three also follow another one."""
    town = Written(folder, nodes)
    for number in range(nodes):
        others = [(number + 1) % nodes, (number + 2) % nodes]
        town.follow(number, 11, "news")
        town.hold(number, 11, others)
        town.link(number, [*others, (number - 1) % nodes, (number - 2) % nodes])
        if number < 3:
            town.follow(number, 12, "sport")
            town.hold(number, 12, [other for other in range(3) if other != number])
    return town


def crowd(folder: Path, nodes: int = 500, links: int = 5000, topics: int = 20) -> Written:
    """Many nodes, with so many connections; every topic has some of them."""
    chances = random.Random(5)
    town = Written(folder, nodes)
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < links:
        a, b = sorted(chances.sample(range(nodes), 2))
        pairs.add((a, b))
    around: dict[int, list[int]] = {}
    for a, b in sorted(pairs):
        around.setdefault(a, []).append(b)
    for number, others in around.items():
        town.link(number, others)
        for topic in chances.sample(range(topics), 3):
            town.follow(number, 100 + topic, f"topic-{topic}")
            town.hold(number, 100 + topic, chances.sample(others, min(5, len(others))))
    return town
