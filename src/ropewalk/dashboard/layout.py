"""Where nodes are drawn: those that share most topics near each other, nobody on top of another. No chance, no clock.

Springs and repulsion (Fruchterman and Reingold), in plain Python since the base install has no arrays; only the links that carry most
topics pull, so that a random overlay does not end as a ball.
"""

from collections.abc import Iterable, Mapping
from math import cos, hypot, pi, sin, sqrt

from ropewalk.seeds import chance, unit

SIZE = 1000  # ours: places are whole numbers from 0 to this, so that they are short on the way to the browser
ROUNDS = 60  # ours: when everybody is new
FEWER = 12  # ours: when most have their places already, or there are very many
MANY = 500  # ours: nodes, above which there are fewer rounds, so that it takes about a second
PARTING = 10  # ours: rounds at the end in which only those move who are too close to each other
ROOMY = 0.45  # ours: how close that is, where 1 is as far as they would be apart on a grid
TOUCHING = 1e-5  # ours: closer is the same place
PULLING = 4  # ours: links of a node that pull
Place = tuple[int, int]


def first_place(node: int) -> Place:
    """Where a node is drawn before anything is known of it: anywhere on the disc."""
    turn = 2 * pi * unit(chance(0, "turn", node))
    out = sqrt(unit(chance(0, "out", node)))
    return round(SIZE / 2 * (1 + 0.9 * out * cos(turn))), round(SIZE / 2 * (1 + 0.9 * out * sin(turn)))


def places(
    nodes: Iterable[int], links: Mapping[tuple[int, int], int], before: Mapping[int, Place] | None = None
) -> dict[int, Place]:
    """Places for nodes, with links by how many topics share them, starting from where they were."""
    ids = sorted(nodes)
    if not ids:
        return {}
    known = before or {}
    new = sum(node in known for node in ids) <= len(ids) / 2
    rounds = max(FEWER, ROUNDS * MANY // max(MANY, len(ids))) if new else FEWER
    at = {node: number for number, node in enumerate(ids)}
    start = [known.get(node) or first_place(node) for node in ids]
    xs, ys = [x / SIZE for x, _ in start], [y / SIZE for _, y in start]
    pulling = _pulling(at, links)
    apart = sqrt(0.7 / len(ids))
    for turn in range(rounds):
        heat = 0.12 * (1 - turn / rounds) * (1.0 if new else 0.25)
        _move(xs, ys, pulling, apart, heat)
    _stretch(xs)
    _stretch(ys)
    for _ in range(PARTING):
        _part(xs, ys, ROOMY / sqrt(len(ids)))
    return {node: (_whole(xs[number]), _whole(ys[number])) for node, number in at.items()}


def _pulling(at: Mapping[int, int], links: Mapping[tuple[int, int], int]) -> list[tuple[int, int, float]]:
    """The links of each node that carry most topics, with how much they pull."""
    around: dict[int, list[tuple[int, int, int]]] = {}
    for (a, b), weight in links.items():
        if a in at and b in at:
            around.setdefault(at[a], []).append((-weight, at[b], at[a]))
            around.setdefault(at[b], []).append((-weight, at[a], at[b]))
    chosen: dict[tuple[int, int], None] = {}
    for node in sorted(around):
        for _, other, me in sorted(around[node])[:PULLING]:
            chosen[min(me, other), max(me, other)] = None
    degrees: dict[int, int] = {}
    for pair in chosen:
        for end in pair:
            degrees[end] = degrees.get(end, 0) + 1
    return [(a, b, 2.0 / (degrees[a] + degrees[b])) for a, b in chosen]


def _move(xs: list[float], ys: list[float], pulling: list[tuple[int, int, float]], apart: float, heat: float) -> None:
    """One round: all are pushed by who is near and pulled by whom they are linked with, no further than `heat`."""
    count, reach = len(xs), 2 * apart
    dxs, dys = [(0.5 - x) * 0.2 for x in xs], [(0.5 - y) * 0.2 for y in ys]
    cells: dict[tuple[int, int], list[int]] = {}
    for node in range(count):
        cells.setdefault((int(xs[node] / reach), int(ys[node] / reach)), []).append(node)
    for (column, line), inside in cells.items():
        near = [
            other
            for more in (-1, 0, 1)
            for further in (-1, 0, 1)
            for other in cells.get((column + more, line + further), ())
        ]
        for node in inside:
            x, y = xs[node], ys[node]
            for other in near:
                away_x, away_y = x - xs[other], y - ys[other]
                square = away_x * away_x + away_y * away_y
                if other == node or square > reach * reach:
                    continue
                if square < TOUCHING * TOUCHING:  # on top of each other: the later one steps aside
                    away_x, away_y, square = (TOUCHING if node > other else -TOUCHING), 0.0, TOUCHING * TOUCHING
                push = apart * apart / square
                dxs[node] += away_x * push
                dys[node] += away_y * push
    for a, b, share in pulling:
        dx, dy = xs[b] - xs[a], ys[b] - ys[a]
        pull = hypot(dx, dy) / apart * share
        dxs[a] += dx * pull
        dys[a] += dy * pull
        dxs[b] -= dx * pull
        dys[b] -= dy * pull
    for node in range(count):
        length = hypot(dxs[node], dys[node])
        step = min(length, heat) / length if length > 0 else 0.0
        xs[node] += dxs[node] * step
        ys[node] += dys[node] * step


def _part(xs: list[float], ys: list[float], least: float) -> None:
    """Who is closer to another than that makes way, each by half."""
    cells: dict[tuple[int, int], list[int]] = {}
    for node in range(len(xs)):
        cells.setdefault((int(xs[node] / least), int(ys[node] / least)), []).append(node)
    for node in range(len(xs)):
        column, line = int(xs[node] / least), int(ys[node] / least)
        for across in (-1, 0, 1):
            for down in (-1, 0, 1):
                for other in cells.get((column + across, line + down), ()):
                    if other <= node:
                        continue
                    dx, dy = xs[other] - xs[node], ys[other] - ys[node]
                    far = hypot(dx, dy)
                    if far >= least:
                        continue
                    dx, dy, far = (dx, dy, far) if far > TOUCHING else (TOUCHING, 0.0, TOUCHING)
                    share = (least - far) / far / 2
                    xs[node], ys[node] = _inside(xs[node] - dx * share), _inside(ys[node] - dy * share)
                    xs[other], ys[other] = _inside(xs[other] + dx * share), _inside(ys[other] + dy * share)


def _stretch(values: list[float]) -> None:
    """Over the whole room."""
    low, width = min(values), max(values) - min(values)
    values[:] = [(value - low) / width if width > TOUCHING else 0.5 for value in values]


def _inside(value: float) -> float:
    return min(1.0, max(0.0, value))


def _whole(value: float) -> int:
    return round(SIZE * value)
