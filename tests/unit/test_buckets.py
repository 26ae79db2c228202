"""Scattering into buckets and counting there, against the definitions of the three view sizes."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.engines.batch import buckets

Link = tuple[int, int]  # holder rank, held rank


@st.composite
def batches(draw: st.DrawFn) -> tuple[int, list[dict[int, list[int]]]]:
    """A population, and for each topic its members' views, all by rank."""
    population = draw(st.integers(1, 20))
    topics = []
    for _ in range(draw(st.integers(1, 4))):
        members = sorted(draw(st.sets(st.integers(0, population - 1), min_size=1)))
        topics.append(
            {m: draw(st.lists(st.sampled_from([o for o in members if o != m] or [m]), unique=True)) for m in members}
        )
        if len(members) == 1:
            topics[-1] = {members[0]: []}
    return population, topics


def scattered(population: int, topics: list[dict[int, list[int]]], size: int, splits: int):
    """All records of every bucket, from `splits` separate batches."""
    count = -(-population // size)
    heads: list[list[np.ndarray]] = [[] for _ in range(count)]
    others: list[list[np.ndarray]] = [[] for _ in range(count)]
    for part in range(splits):
        own = topics[part::splits]
        if not own:
            continue
        offsets = np.cumsum([0, *map(len, own)]).astype(np.int64)
        ranks = np.array([member for topic in own for member in topic], np.int32)
        views = [[list(topic).index(o) for o in view] for topic in own for view in topic.values()]
        starts = np.cumsum([0, *map(len, views)]).astype(np.int64)
        links = np.array([link for view in views for link in view], np.int32)
        head_at, head, other_at, other = buckets.scattered(offsets, ranks, starts, links, size, count)
        for bucket in range(count):
            heads[bucket].append(head[head_at[bucket] : head_at[bucket + 1]])
            others[bucket].append(other[other_at[bucket] : other_at[bucket + 1]])
    return [(np.concatenate(h), np.concatenate(o)) for h, o in zip(heads, others, strict=True)]


@given(batches(), st.integers(1, 7), st.integers(1, 3))
def test_counts_are_those_of_the_definitions(universe, size: int, splits: int) -> None:
    population, topics = universe
    links = [(p, q) for topic in topics for p, view in topic.items() for q in view]
    found, pairs = [], []
    for bucket, (heads, others) in enumerate(scattered(population, topics, size, splits)):
        first = bucket * size
        nodes = min(size, population - first)
        found += buckets.counted(heads, others, first, nodes, population).tolist()
        pairs += [tuple(row) for row in buckets.paired(heads, others, first, nodes, population).tolist()]
    for node in range(population):
        holds, held_by = {q for p, q in links if p == node}, {p for p, q in links if q == node}
        lvs = sum(p == node for p, _ in links)
        records = sum(node in topic for topic in topics)
        assert found[node] == [lvs, len(holds), len(holds | held_by), len(held_by), records]
    shared = Counter((min(link), max(link)) for link in links)
    assert sorted(pairs) == sorted((a, b, count) for (a, b), count in shared.items())
