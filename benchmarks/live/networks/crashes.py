"""What events still reach when a fifth of the nodes are gone, on links as they were recorded and before anybody has mended anything.

Nobody is crashed for real here: what nodes mend by themselves afterwards would count for one network and not for the other. An event
goes from a survivor along links of its topic in both directions, as far as survivors go. Reach is the share of all deliveries
that are owed among survivors, over events of all topics alike, whoever of a topic publishes.
"""

from random import Random

from networks.world import Links, World

SHARE = 0.2  # of the nodes
HARD = 0.4  # where a fifth tells nobody from another
SETS = 400  # of nodes that crash; each counts with every topic and every publisher


def reach(world: World, links: Links, share: float = SHARE, seed: int = 0, sets: int = SETS) -> float:
    """Deliveries made, of those owed."""
    random = Random(f"crash {seed}")  # noqa: S311
    nodes = len(world.followed)
    made = owed = 0.0
    for _ in range(sets):
        gone = set(random.sample(range(nodes), round(share * nodes)))
        for topic, members in enumerate(world.members):
            left = [node for node in members if node not in gone]
            if len(left) > 1:
                pairs = [pair for pair in links[topic] if not gone.intersection(pair)]
                # a topic counts as often as events are on it; a publisher's owed deliveries as many as there are others
                made += sum(size * (size - 1) for size in pieces(left, pairs)) / len(left)
                owed += len(left) - 1
    return made / owed if owed else 1.0


def pieces(nodes: list[int], pairs: list[tuple[int, int]]) -> list[int]:
    """How large the parts are that hang together."""
    root = {node: node for node in nodes}

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for a, b in pairs:
        root[find(a)] = find(b)
    sizes: dict[int, int] = {}
    for node in nodes:
        sizes[find(node)] = sizes.get(find(node), 0) + 1
    return list(sizes.values())


def is_whole(world: World, links: Links) -> bool:
    """Whether every topic's members hang together."""
    return all(len(pieces(members, list(links[topic]))) <= 1 for topic, members in enumerate(world.members))
