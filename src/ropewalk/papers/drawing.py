"""Figures as plain data: panels of curves with named axes. Whoever writes a report draws them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]
Kind = Literal["line", "points", "steps", "law"]
"""line: joined points; points: a cloud; steps: a distribution; law: what was expected or published, dashed."""

MOST_POINTS = 400  # of a curve that are drawn: more make pages large and figures no clearer


@dataclass(frozen=True, slots=True)
class Curve:
    """Points with a name. `shade` tells curves that belong together."""

    label: str
    points: Sequence[Point]
    kind: Kind = "line"
    shade: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One pair of axes, and how to read it."""

    title: str
    x: str
    y: str
    reading: str
    curves: Sequence[Curve]
    log_x: bool = False
    log_y: bool = False


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """At most about so many of the points, evenly spaced, the first and the last among them."""
    step = max(1, -(-len(points) // most))
    kept = list(points[::step])
    if points and kept[-1] != points[-1]:
        kept.append(points[-1])
    return kept


def distribution(values: Sequence[float]) -> list[Point]:
    """(x, share of the values that are at most x), for the figure of a distribution."""
    ordered = sorted(values)
    return thinned([(value, (at + 1) / len(ordered)) for at, value in enumerate(ordered)])
