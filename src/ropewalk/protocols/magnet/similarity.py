"""How much two subscriptions have in common (Magnet 2.1), for one node; `dht.kernel.similarity` has the same on arrays."""

from collections.abc import Iterable, Mapping


def similarity(mine: Iterable[int], theirs: Iterable[int], rates: Mapping[int, float]) -> float:
    """What both follow, of what either follows; a topic counts as what is published on it, and one beside that.

    Sums are made in the order of topics, as the arrays make them.
    """
    own = set(mine)
    total = 0.0
    for topic in sorted(own):
        total += 1.0 + rates.get(topic, 0.0)
    shared = alone = 0.0
    for topic in sorted(theirs):
        if topic in own:
            shared += 1.0 + rates.get(topic, 0.0)
        else:
            alone += 1.0 + rates.get(topic, 0.0)
    return shared / (total + alone) if total + alone else 0.0
