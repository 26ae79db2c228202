"""Kato et al., section VI: subscriptions as skewed as friends on Twitter, and real follows with events played over them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.engines.batch.content import routing_columns, run_here
from ropewalk.engines.contents import contents_of_topics
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel, thinned
from ropewalk.papers.kato.sweeps import KATO, Case, average, popular, quotes, runs
from ropewalk.papers.lab import Lab
from ropewalk.papers.statistics import spearman
from ropewalk.papers.traces import TRACES
from ropewalk.protocols.kato.settings import Settings
from ropewalk.workloads.trace_like import TraceLike

EXPONENT = 0.6719  # VI-B, of the number of friends
TABLE, POSITIVES = 15.357, 0.1454  # VI-B
TABLES, RATIOS = (10.0, 25.0), (0.10, 0.20)
SIMULATED = 2000  # ours: how many nodes is not printed
CORRELATED = 0.5
MADE_UP = "made up"
EVENTS: dict[Scale, int] = {"small": 500, "paper": 2000}
NODES: dict[Scale, int] = {"small": 1000, "paper": 10_927}  # VI-C
OUTLIERS = 95  # percentile of connections above which a node with few friends is an exception

Longs = NDArray[np.int64]


def measure(lab: Lab, scale: Scale) -> Measured:
    """Popularity as fitted to friends, beside the uniform one."""
    cases = [Case("uniform", quotes(SIMULATED)), Case("twitter", popular(SIMULATED, EXPONENT))]
    found = runs(lab, scale, "stock quotes, as on Twitter", cases)
    measures = {
        "table": "routing.table.mean",
        "false_positives": "spread.false_positives",
        "false_negatives": "spread.false_negatives",
    }
    return Measured(
        {name: {each: average(of, measure) for each, measure in measures.items()} for name, of in found.items()}
    )


def checks(numbers: Numbers) -> list[Check]:
    """The order of magnitude of both numbers, and that uniform subscriptions cost more."""
    own, uniform = numbers["twitter"], numbers["uniform"]
    return [
        Check(f"a table has {own['table']:.2f} links ({TABLE} printed)", TABLES[0] <= own["table"] <= TABLES[1]),
        Check(
            f"the ratio of false positives is {own['false_positives']:.4f} ({POSITIVES} printed)",
            RATIOS[0] <= own["false_positives"] <= RATIOS[1],
        ),
        Check(f"uniform: {uniform['table']:.2f} links", uniform["table"] > own["table"]),
        Check(f"uniform: {uniform['false_positives']:.4f} false", uniform["false_positives"] > own["false_positives"]),
    ]


def draw(measured: Measured) -> list[Panel]:
    """Both numbers, for both laws."""
    curves = [
        Curve(name, [(of["table"], of["false_positives"])], "points", at)
        for at, (name, of) in enumerate(measured.numbers.items())
    ]
    curves.append(Curve("published", [(TABLE, POSITIVES)], "points", 3))
    reading = "Both numbers are lower where popularity is as skewed as on Twitter."
    return [Panel(title="As on Twitter", x="links in a table", y="false positives", reading=reading, curves=curves)]


class Followed(NamedTuple):
    """Nodes of a network of followers, once events have gone over it."""

    friends: Longs
    connections: Longs
    received: Longs
    primary: NDArray[np.bool_]


def measure_follows(lab: Lab, scale: Scale) -> Measured:
    """Real follows where they are there, and made-up ones."""
    numbers: Numbers = {}
    curves: dict[str, list[tuple[float, float]]] = {}
    model = TraceLike(
        nodes=NODES[scale], topics=NODES[scale] // 2, mean_subscriptions=5.3, popularity_exponent=1.7, interest_exponent=1.7,
        min_subscribers=1, correlation=0.5,
    )  # fmt: skip
    nodes, topics = model.all_pairs(1)
    pairs = {MADE_UP: (nodes, topics)}
    real = lab.pairs("twitter") if scale == "paper" else None
    if real is not None:
        pairs[TRACES["twitter"].title] = real
    for name, (nodes, topics) in pairs.items():
        with lab.phase(f"{name}: {EVENTS[scale]} events"):
            found = _followed(nodes, topics, EVENTS[scale])
        numbers[name] = _said_of(found)
        order = np.argsort(found.friends, kind="stable")
        for what in ("connections", "received"):
            values = getattr(found, what)
            points = list(zip(found.friends[order].tolist(), values[order].tolist(), strict=True))
            curves[f"{name}, {what}"] = thinned(points)
    return Measured(numbers, curves, left_out=lab.lacking("twitter") if scale == "paper" else ())


def _followed(nodes: Longs, topics: Longs, events: int) -> Followed:
    contents = contents_of_topics(nodes.astype(np.int64), topics.astype(np.int64))
    overlay, heard = run_here(contents, Settings(), events, 1)
    columns = routing_columns(contents, overlay, heard)
    connections = np.diff(overlay.mesh.starts) + columns["ring"]
    primary = np.asarray(columns["primary"], np.bool_)
    return Followed(np.asarray(columns["cells"], np.int64), connections, heard.received, primary)


def _said_of(found: Followed) -> dict[str, float]:
    few = found.friends <= np.median(found.friends)
    exceptions = few & (found.connections > np.percentile(found.connections, OUTLIERS))
    return {
        "nodes": float(found.friends.size),
        "friends_and_tables": spearman(found.friends, found.connections),
        "friends_and_messages": spearman(found.friends, found.received),
        "exceptions": float(exceptions.sum()),
        "primaries_among_exceptions": float(found.primary[exceptions].mean()) if exceptions.any() else 1.0,
        "primaries_among_few": float(found.primary[few].mean()),
    }


def table_checks(numbers: Numbers) -> list[Check]:
    """Correlated, and the exceptions are primaries."""
    found = []
    for name, of in numbers.items():
        rank = of["friends_and_tables"]
        share = of["primaries_among_exceptions"]
        found.append(Check(f"{name}: Spearman {rank:.3f} of friends and table", rank > CORRELATED))
        found.append(
            Check(
                f"{name}: {share:.0%} of {of['exceptions']:.0f} exceptions are primaries ({of['primaries_among_few']:.0%} of"
                " all with few friends)",
                share > max(0.5, of["primaries_among_few"]),
            )
        )
    return found


def message_checks(numbers: Numbers) -> list[Check]:
    """Correlated."""
    return [
        Check(
            f"{name}: Spearman {of['friends_and_messages']:.3f} of friends and messages",
            of["friends_and_messages"] > CORRELATED,
        )
        for name, of in numbers.items()
    ]


def _draw(measured: Measured, what: str, words: str) -> list[Panel]:
    curves = [
        Curve(name, list(measured.curves[f"{name}, {what}"]), "points", at) for at, name in enumerate(measured.numbers)
    ]
    reading = "Each point is a node: more friends, more of it."
    return [
        Panel(title=words.capitalize(), x="friends", y=words, reading=reading, curves=curves, log_x=True, log_y=True)
    ]


SKEWED = Claim(
    id="K-TW1",
    sentence="With subscriptions as skewed as friends on Twitter a table has 15.357 entries, and 0.1454 of receipts are false.",
    paper=KATO,
    place="section VI-B",
    published={"table": TABLE, "false_positives": POSITIVES},
    tolerance="a table of 10 to 25, 0.10 to 0.20 false, and both larger with uniform subscriptions",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="How many bits stand for a cell (k), how many cells there are and how many nodes was not printed: k = 2, 16 stocks by 64"
    " price cells and 2000 nodes were chosen because they fit both numbers, and k and the cells then used for all other figures.",
)
FRIENDS = Claim(
    id="K-F8",
    sentence="The size of a node's table correlates with its friends; exceptions are likely to be primaries.",
    paper=KATO,
    place="Figure 8, section VI-C",
    published={"correlation": "overall"},
    tolerance="Spearman above 0.5; exceptions mostly primaries",
    measure=measure_follows,
    checks=table_checks,
    draw=lambda measured: _draw(measured, "connections", "links, either way"),
    caveat="The crawl is not public: a made-up network of followers, and (at paper scale, where it is there) a real one of another year."
    " Links are counted at both ends: by its own picks alone no node has a large table with few friends.",
)
MESSAGES = Claim(
    id="K-F9",
    sentence="The messages that come to a node correlate with its friends.",
    paper=KATO,
    place="Figure 9, section VI-C",
    published={"correlation": "similar to Figure 8"},
    tolerance="Spearman above 0.5",
    measure=measure_follows,
    checks=message_checks,
    draw=lambda measured: _draw(measured, "received", "messages that come in"),
    caveat="Events are drawn: somebody, and one of those whom it follows.",
)
