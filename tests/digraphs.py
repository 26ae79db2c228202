"""Small digraphs as lists of views, and what breadth-first search says of them, written out on sets."""

import numpy as np
from hypothesis import strategies as st

Digraph = list[list[int]]


@st.composite
def digraphs(draw: st.DrawFn) -> Digraph:
    nodes = draw(st.integers(1, 12))
    others = [[other for other in range(nodes) if other != node] for node in range(nodes)]
    return [draw(st.lists(st.sampled_from(o), unique=True)) if o else [] for o in others]


def random_digraph(nodes: int, degree: int, seed: int, *, unheld: int = 0) -> Digraph:
    """Every node holds `degree` others; nobody holds the last `unheld`."""
    draw = np.random.default_rng(seed)
    views = (draw.choice(nodes - unheld, degree + 1, replace=False).tolist() for _ in range(nodes))
    return [[other for other in view if other != node][:degree] for node, view in enumerate(views)]


def flat(digraph: Digraph, offset: int = 0) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *map(len, digraph)]) + offset
    links = [0] * offset + [link for view in digraph for link in view]
    return starts.astype(np.int64), np.array(links, np.int32)


def batch_of(digraphs: list[Digraph]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, digraphs)]).astype(np.int64), *flat([view for one in digraphs for view in one])


def distances(digraph: Digraph) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for source in range(len(digraph)):
        seen, edge, steps = {source}, {source}, 0
        while edge:
            found |= {(source, node): steps for node in edge}
            edge = {link for node in edge for link in digraph[node]} - seen
            seen |= edge
            steps += 1
    return found


def both_ways(digraph: Digraph) -> Digraph:
    linked = {(a, b) for a, view in enumerate(digraph) for b in view}
    return [[b for b in range(len(digraph)) if (a, b) in linked or (b, a) in linked] for a in range(len(digraph))]
