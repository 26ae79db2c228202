"""StaN written out on dicts and lists, one plain function per rule: chance, weights, view sizes and initial overlays
here, walks and rounds in `stan_rounds`. Imports nothing of the package on purpose: what the kernel must equal is stated
here a second time, hash included."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

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


@dataclass(frozen=True, kw_only=True)
class Rules:
    """A seed and the settings of a run, by the names that `Settings` gives them."""

    seed: int
    rounds: int = 8
    ttl: int = 5
    overlay: str = "fixed"
    connectivity: float = 0.99
    schedule: str = "sync"
    fanout: str = "printed"
    weight: str = "printed"
    collect: str = "views"
    learn: bool = False
    snoop: bool = False
    adaptive: bool = False
    slowest: int = 8
    loss: float = 0.0
    churn: float = 0.0


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


@lru_cache
def named(seed: int, what: str) -> int:
    """Where the hash of every chance of this name goes on from."""
    return hashed_word(what, hashed(seed, 42))


def chance(seed: int, what: str, *labels: int) -> int:
    state = named(seed, what)
    for label in labels:
        state = hashed(label, state)
    return state >> 1


def happens(drawn: int, probability: float) -> bool:
    return drawn < int(probability * 2**63)


def pick(drawn: int, count: int) -> int:
    return (drawn >> 31) * count >> 32


@lru_cache(maxsize=1 << 16)  # ranking asks for the same few weights again and again
def weight(kind: str, seed: int, p: int, q: int) -> int:
    """How far down p's list q stands: lower is better."""
    match kind:
        case "printed":
            return hashed(q, hashed(p, 42)) >> 1
        case "keyed":
            return hashed(q, hashed(chance(seed, "key", p), 42)) >> 1
        case "pair":
            return hashed(max(p, q), hashed(min(p, q), 42)) >> 1
        case "target":
            return hashed(q, 42) >> 1
        case "ring":
            return (q - p) % 2**63
    raise ValueError(kind)


def ranked(rules: Rules, p: int, others: Iterable[int]) -> View:
    return sorted({*others} - {p}, key=lambda q: (weight(rules.weight, rules.seed, p, q), q))


def margin(rules: Rules) -> float:
    return -math.log(-math.log(rules.connectivity))


def fan_out(rules: Rules, members: int) -> int:
    x = math.log(members) + margin(rules)
    if rules.fanout == "two-way":
        x /= 2
    return max(0, min(members - 1, math.ceil(x)))


def sampled(rules: Rules, node: int, members: list[int], size: int, what: str, *labels: int) -> View:
    """A view of `size` distinct others among the members, each drawn by a chance of these labels and a count."""
    others = sorted(member for member in members if member != node)
    if size == len(others):
        return ranked(rules, node, others)
    found: set[int] = set()
    draw = 0
    while len(found) < size:
        found.add(others[pick(chance(rules.seed, what, *labels, draw), len(others))])
        draw += 1
    return ranked(rules, node, found)


def fixed_overlay(rules: Rules, topic: int, members: list[int]) -> Views:
    size = fan_out(rules, len(members))
    return {node: sampled(rules, node, members, size, "overlay", topic, node, 0) for node in members}


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


def drawn_digraph(rules: Rules, topic: int, members: list[int], attempt: int) -> Views:
    """One attempt at an Erdos-Renyi overlay."""
    others = len(members) - 1
    mean = max(0.0, min(others, math.log(len(members)) + margin(rules)))
    views = {}
    for node in members:
        size = out_degree(chance(rules.seed, "degree", topic, node, attempt), others, mean) if others else 0
        views[node] = sampled(rules, node, members, size, "overlay", topic, node, attempt)
    return views


def random_overlay(rules: Rules, topic: int, members: list[int]) -> Views:
    """The first strongly connected draw of eight, or the last with links added until it is."""
    for attempt in range(8):
        views = drawn_digraph(rules, topic, members, attempt)
        if is_strong(views):
            return views
    step = 0
    while not is_strong(views):
        reach = {node: reachable(views, node) for node in members}
        component = {p: [q for q in members if q in reach[p] and p in reach[q]] for p in members}
        end = next(p for p in members if set(component[p]) == reach[p])
        begin = next(
            q for q in members if q not in component[end] and all(p in component[q] for p in members if q in reach[p])
        )
        p, q = (
            component[of][pick(chance(rules.seed, "patch", topic, step, which), len(component[of]))]
            for which, of in enumerate((end, begin))
        )
        views[p] = ranked(rules, p, [*views[p], q])
        step += 1
    return views


def omniscient(rules: Rules, views: Views) -> Views:
    """Everybody holds as many as before, and the best there are."""
    return {node: ranked(rules, node, views)[: len(view)] for node, view in views.items()}


def digest(topic: int, views: Views) -> int:
    found = 0
    for node, view in views.items():
        for neighbour in view:
            found ^= hashed(neighbour, hashed(node, hashed(topic, 42)))
    return found
