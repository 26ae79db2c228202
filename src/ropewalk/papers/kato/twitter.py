"""Kato et al., section VI: subscriptions as skewed as friends on Twitter, and real follows with events played over them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.engines.batch.content import routing_columns, run_here
from ropewalk.engines.contents import contents_of_topics
from ropewalk.ids import identify
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel, thinned
from ropewalk.papers.kato.sweeps import KATO, Case, average, equally_popular, popular, runs
from ropewalk.papers.lab import Lab
from ropewalk.papers.statistics import spearman
from ropewalk.papers.traces import TRACES
from ropewalk.protocols.kato.settings import Settings
from ropewalk.workloads.trace_like import TraceLike

EXPONENT = 0.6719  # VI-B, of the number of friends
TABLE, POSITIVES = 15.357, 0.1454  # VI-B
TABLES, RATIOS = (10.0, 25.0), (0.10, 0.20)
FAR = 0.5  # ours: "far smaller" is at most half as much
SIMULATED = 2000  # ours: how many nodes is not printed
CORRELATED = 0.5
MADE_UP = "made up"
EVENTS: dict[Scale, int] = {"small": 500, "paper": 2000}
NODES: dict[Scale, int] = {"small": 1000, "paper": 10_927}  # VI-C
OUTLIERS = 95  # percentile of links above which a node with few friends is an exception
READINGS = {
    "table": "with the links of its ring alone",
    "copied": "with its primary's table copied",
}  # of who is no primary

Longs = NDArray[np.int64]


def measure_skewed(lab: Lab, scale: Scale) -> Measured:
    """Popularity as fitted to friends, beside the same subscriptions drawn alike often."""
    cases = [Case("uniform", equally_popular(SIMULATED)), Case("twitter", popular(SIMULATED, EXPONENT))]
    found = runs(lab, scale, "stock quotes, as on Twitter", cases)
    measures = {
        "table": "routing.table.mean",
        "copied": "routing.copied.mean",
        "false_positives": "spread.false_positives",
        "false_negatives": "spread.false_negatives",
        "depth": "spread.depth",
    }
    return Measured(
        {name: {each: average(of, measure) for each, measure in measures.items()} for name, of in found.items()}
    )


def checks_skewed(numbers: Numbers) -> list[Check]:
    """The order of magnitude of both numbers, and that both are far smaller than with uniform subscriptions."""
    own, uniform = numbers["twitter"], numbers["uniform"]
    found = [
        Check(f"a table, {words}, has {own[name]:.2f} links ({TABLE} printed)", TABLES[0] <= own[name] <= TABLES[1])
        for name, words in READINGS.items()
    ]
    found.append(
        Check(
            f"the ratio of false positives is {own['false_positives']:.4f} ({POSITIVES} printed)",
            RATIOS[0] <= own["false_positives"] <= RATIOS[1],
        )
    )
    names = READINGS | {"false_positives": "false positives"}
    return found + [
        Check(
            f"{words}: {own[name]:.4g} is {own[name] / uniform[name]:.0%} of the uniform {uniform[name]:.4g}",
            own[name] <= FAR * uniform[name],
        )
        for name, words in names.items()
    ]


def draw_skewed(measured: Measured) -> list[Panel]:
    """Both numbers, for both laws and both readings of what who is no primary has."""
    curves = [
        Curve(f"{name}, {words}", [(of[each], of["false_positives"])], "points", at)
        for at, (name, of) in enumerate(measured.numbers.items())
        for each, words in READINGS.items()
    ]
    curves.append(Curve("published", [(TABLE, POSITIVES)], "points", 3))
    reading = "Far apart are the two readings of a table, not the two laws."
    return [Panel(title="As on Twitter", x="links in a table", y="false positives", reading=reading, curves=curves)]


class Followed(NamedTuple):
    """Nodes of a network of followers, once events have gone over it."""

    friends: Longs
    connections: Longs  # links either way, and of its ring
    copied: Longs  # the same, where everybody has its primary's links besides those of its ring
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
            found = followed(nodes, topics, EVENTS[scale])
        numbers[name] = _said_of(found)
        order = np.argsort(found.friends, kind="stable")
        for what in ("connections", "received"):
            values = getattr(found, what)
            points = list(zip(found.friends[order].tolist(), values[order].tolist(), strict=True))
            curves[f"{name}, {what}"] = thinned(points)
    return Measured(numbers, curves, left_out=lab.lacking("twitter") if scale == "paper" else ())


def followed(nodes: Longs, topics: Longs, events: int) -> Followed:
    """Who follows whom, as index pairs: link the nodes and send events."""
    contents = contents_of_topics(_identified("node", nodes), _identified("topic", topics))
    overlay, heard = run_here(contents, Settings(), events, 1)
    columns = routing_columns(contents, overlay, heard)
    linked, ring = np.diff(overlay.mesh.starts), np.asarray(columns["ring"], np.int64)
    return Followed(
        friends=np.asarray(columns["cells"], np.int64),
        connections=linked + ring,
        copied=linked[overlay.profiles.primaries] + ring,
        received=heard.received,
        primary=np.asarray(columns["primary"], np.bool_),
    )


def _identified(what: str, indexes: Longs) -> Longs:
    """Ids as those of a stored universe: an index may be 0, which is the common cell."""
    known, places = np.unique(indexes, return_inverse=True)
    return np.array([identify(f"{what}-{index}") for index in known.tolist()], np.int64)[places]


def _said_of(found: Followed) -> dict[str, float]:
    few = found.friends <= np.median(found.friends)
    said = {
        "nodes": float(found.friends.size),
        "friends_and_messages": spearman(found.friends, found.received),
        "primaries_among_few": float(found.primary[few].mean()),
    }
    for name in ("connections", "copied"):
        links = getattr(found, name)
        exceptions = few & (links > np.percentile(links, OUTLIERS))
        said |= {
            f"friends_and_{name}": spearman(found.friends, links),
            f"exceptions_of_{name}": float(exceptions.sum()),
            f"primaries_among_exceptions_of_{name}": float(found.primary[exceptions].mean())
            if exceptions.any()
            else 1.0,
        }
    return said


def checks_friends(numbers: Numbers) -> list[Check]:
    """Correlated, and the exceptions are primaries: whichever table who is no primary has."""
    found = []
    for name, of in numbers.items():
        for each, words in (("connections", ""), ("copied", ", tables copied")):
            rank, share = of[f"friends_and_{each}"], of[f"primaries_among_exceptions_of_{each}"]
            exceptions, usual = of[f"exceptions_of_{each}"], of["primaries_among_few"]
            found += [
                Check(f"{name}{words}: Spearman {rank:.3f} of friends and table", rank > CORRELATED),
                Check(
                    f"{name}{words}: {share:.0%} of {exceptions:.0f} exceptions are primaries ({usual:.0%} of all with few friends)",
                    share > max(0.5, usual),
                ),
            ]
    return found


def draw_friends(measured: Measured) -> list[Panel]:
    """Figure 8."""
    return [_panel(measured, "connections", "links, either way")]


def checks_messages(numbers: Numbers) -> list[Check]:
    """Correlated."""
    return [
        Check(
            f"{name}: Spearman {of['friends_and_messages']:.3f} of friends and messages",
            of["friends_and_messages"] > CORRELATED,
        )
        for name, of in numbers.items()
    ]


def draw_messages(measured: Measured) -> list[Panel]:
    """Figure 9."""
    return [_panel(measured, "received", "messages that come in")]


def _panel(measured: Measured, what: str, words: str) -> Panel:
    curves = [
        Curve(name, list(measured.curves[f"{name}, {what}"]), "points", at) for at, name in enumerate(measured.numbers)
    ]
    reading = "Each point is a node: more friends, more of it."
    return Panel(title=words.capitalize(), x="friends", y=words, reading=reading, curves=curves, log_x=True, log_y=True)


SKEWED = Claim(
    id="K-TW1",
    sentence="With subscriptions as skewed as friends on Twitter a table has 15.357 entries, and 0.1454 of receipts are false.",
    paper=KATO,
    place="section VI-B",
    published={"table": TABLE, "false_positives": POSITIVES},
    tolerance=f"a table of 10 to 25, 0.10 to 0.20 false, and both at most {FAR:.0%} of those with uniform subscriptions",
    measure=measure_skewed,
    checks=checks_skewed,
    draw=draw_skewed,
    caveat="How many bits stand for a cell (k), how many cells there are and how many nodes was not printed: k = 2, 16 stocks by 64"
    " price cells and 2000 nodes were chosen because they fit both numbers, and k and the cells then used for all other figures. The"
    " uniform run has the same subscriptions, each drawn alike often, so that only the law differs.",
    explanation="A table is as small as printed if who has the id of another has the links of its ring alone, and not if it has copied its"
    " primary's. Neither number is far below that of uniform subscriptions: at a = 0.67 nearly as many different ones are left.",
)
FRIENDS = Claim(
    id="K-F8",
    sentence="The size of a node's table correlates with its friends; exceptions are likely to be primaries.",
    paper=KATO,
    place="Figure 8, section VI-C",
    published={"correlation": "overall"},
    tolerance="Spearman above 0.5; exceptions mostly primaries",
    measure=measure_follows,
    checks=checks_friends,
    draw=draw_friends,
    caveat="The crawl is not public: a made-up network of followers, and (at paper scale, where it is there) a real one of another year."
    " Links are counted at both ends: by its own picks alone no node has a large table with few friends. Since others link to primaries"
    " only, it is no finding that all exceptions are primaries; it could be otherwise only where tables are copied.",
    explanation="Nodes with few friends often want the same as many others. Where these copy their primary's table they have larger"
    " ones than nodes with many friends, who are alone with what they want.",
)
MESSAGES = Claim(
    id="K-F9",
    sentence="The messages that come to a node correlate with its friends.",
    paper=KATO,
    place="Figure 9, section VI-C",
    published={"correlation": "similar to Figure 8"},
    tolerance="Spearman above 0.5",
    measure=measure_follows,
    checks=checks_messages,
    draw=draw_messages,
    caveat="Events are drawn: somebody, and one of those whom it follows.",
)
