"""StaN written out on dicts and lists, one plain function per rule. Imports nothing of the package on purpose:
what the kernel must equal is stated here a second time, hash included."""

import math

MASK = 2**64 - 1
P1, P2, P3, P4, P5 = (
    11400714785074694791,
    14029467366897019727,
    1609587929392839161,
    9650029242287828579,
    2870177450012600261,
)

View = list[int]
Views = dict[int, View]  # node id -> its view for one topic, ordered


def rotated(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & MASK


def hashed(value: int, seed: int) -> int:
    h = (seed + P5 + 8) & MASK
    h ^= rotated(value * P2 & MASK, 31) * P1 & MASK
    h = (rotated(h, 27) * P1 + P4) & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def hashed_word(word: str, seed: int) -> int:
    """Of fewer than 32 bytes."""
    data = word.encode()
    h = (seed + P5 + len(data)) & MASK
    while len(data) >= 8:
        h ^= rotated(int.from_bytes(data[:8], "little") * P2 & MASK, 31) * P1 & MASK
        h = (rotated(h, 27) * P1 + P4) & MASK
        data = data[8:]
    if len(data) >= 4:
        h = (rotated(h ^ (int.from_bytes(data[:4], "little") * P1 & MASK), 23) * P2 + P3) & MASK
        data = data[4:]
    for byte in data:
        h = rotated(h ^ (byte * P5 & MASK), 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def chance(seed: int, what: str, *labels: int) -> int:
    state = hashed_word(what, hashed(seed, 42))
    for label in labels:
        state = hashed(label, state)
    return state >> 1


def pick(drawn: int, count: int) -> int:
    return (drawn >> 31) * count >> 32


def weight(p: int, q: int) -> int:
    return hashed(q, hashed(p, 42)) >> 1


def ranked(p: int, others: set[int]) -> View:
    return sorted(others - {p}, key=lambda q: (weight(p, q), q))


def sampled(seed: int, topic: int, node: int, attempt: int, members: list[int], size: int) -> View:
    others = [member for member in members if member != node]
    if size == len(others):
        return ranked(node, set(others))
    found: set[int] = set()
    draw = 0
    while len(found) < size:
        found.add(others[pick(chance(seed, "overlay", topic, node, attempt, draw), len(others))])
        draw += 1
    return ranked(node, found)


def fixed_overlay(seed: int, topic: int, members: list[int], margin: float) -> Views:
    size = min(len(members) - 1, math.ceil(math.log(len(members)) + margin))
    return {node: sampled(seed, topic, node, 0, members, max(0, size)) for node in members}


def out_degree(drawn: int, others: int, mean: float) -> int:
    """The binomial quantile of a chance, found by adding up probabilities."""
    share = mean / others
    if share >= 1:
        return others
    probability = math.exp(others * math.log1p(-share))
    cumulative = probability
    degree = 0
    while degree < others and cumulative < 1 - 1e-15 and drawn >= int(cumulative * 2.0**63):
        probability *= (others - degree) / (degree + 1) * share / (1 - share)
        cumulative += probability
        degree += 1
    return degree


def reachable(views: Views, start: int) -> set[int]:
    seen, edge = {start}, [start]
    while edge:
        edge = [q for q in {q for p in edge for q in views[p]} if q not in seen]
        seen.update(edge)
    return seen


def is_strong(views: Views) -> bool:
    return all(len(reachable(views, node)) == len(views) for node in views)


def drawn_digraph(seed: int, topic: int, members: list[int], margin: float, attempt: int) -> Views:
    others = len(members) - 1
    mean = max(0.0, min(others, math.log(len(members)) + margin))
    views = {}
    for node in members:
        size = out_degree(chance(seed, "degree", topic, node, attempt), others, mean) if others else 0
        views[node] = sampled(seed, topic, node, attempt, members, size)
    return views


def walk(seed: int, topic: int, source: int, turn: int, ttl: int, views: Views) -> set[int]:
    """What a walk of `source` collects; empty if it knows nobody."""
    collected: set[int] = set()
    at, hop = source, 0
    while views[at] and hop <= ttl:
        at = views[at][pick(chance(seed, "walk", topic, source, turn, hop), len(views[at]))]
        collected |= {at, *views[at]}
        hop += 1
    return collected


def lock_step_round(seed: int, topic: int, turn: int, ttl: int, views: Views) -> Views:
    return {
        node: ranked(node, walk(seed, topic, node, turn, ttl, views) | set(view))[: len(view)]
        for node, view in views.items()
    }


def digest(topic: int, views: Views) -> int:
    found = 0
    for node, view in views.items():
        for neighbour in view:
            found ^= hashed(neighbour, hashed(node, hashed(topic, 42)))
    return found
