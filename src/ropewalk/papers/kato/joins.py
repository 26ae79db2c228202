"""Kato et al., section III-C and Proposition 2: how many steps a join takes, and how many messages."""

from functools import lru_cache
from math import log

from ropewalk.engines.batch.content_sweep import ContentPoint
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.growing import PRINTED, grown
from ropewalk.papers.kato.sweeps import KATO, quotes
from ropewalk.papers.lab import Lab
from ropewalk.papers.statistics import mean

BITS = 1024
SIZES: dict[Scale, tuple[int, ...]] = {"small": (32, 64, 128), "paper": (32, 64, 128, 256)}
FILTERS = 14  # of a node: ids are about half full
COMERS = 16  # the last that join are those that are looked at
HALF = (0.4, 0.6)  # ours: what "half full" may be
ABOUT = 0.5  # ours: a mean of steps below half as many as bits is not about as many


def measure(lab: Lab, scale: Scale) -> Measured:
    """Joins into networks of several sizes, of nodes with ids that are half full."""
    by_size: Numbers = {}
    for nodes in SIZES[scale]:
        with lab.phase(f"stock quotes, {nodes} nodes with half full ids join"):
            by_size[str(nodes)] = joined(nodes, lab.seed)
    return Measured({"by_size": by_size})


@lru_cache(maxsize=16)  # two claims look at the same
def joined(nodes: int, seed: int) -> dict[str, float]:
    """What the last joins into a network of so many took."""
    model = quotes(nodes, filters_per_node=FILTERS)
    found = grown(ContentPoint(name=f"{nodes} nodes", model=model, settings=PRINTED, seed=seed, events=0))
    last = found.comers[-COMERS:]
    steps, bits = ([node.finding.turn for node in last], [node.neighbours.looker.id.bit_count() for node in last])
    return {
        "bits": mean(bits),
        "steps": mean(steps),
        "most_steps": max(steps),
        "fewest_bits": min(bits),
        "messages": mean([found.asked[node.me.id] for node in last]),
        "printed": BITS / 2 * log(nodes),
    }


def checks_steps(numbers: Numbers) -> list[Check]:
    """At most as many as bits, and in the mean about as many."""
    sizes = numbers["by_size"]
    found = [
        Check(f"{nodes} nodes: {of['bits']:.0f} of {BITS} bits set", HALF[0] <= of["bits"] / BITS <= HALF[1])
        for nodes, of in sizes.items()
    ]
    most, fewest = max(of["most_steps"] for of in sizes.values()), min(of["fewest_bits"] for of in sizes.values())
    found.append(Check(f"at most {most} steps, of {fewest} bits or more", most <= fewest))
    steps, bits = sizes[max(sizes, key=int)]["steps"], sizes[max(sizes, key=int)]["bits"]
    found.append(Check(f"{steps:.1f} steps in the mean, for {bits:.0f} bits", steps >= ABOUT * bits))
    return found


def checks_messages(numbers: Numbers) -> list[Check]:
    """Within what the proposition says, with k = 1, at every size."""
    return [
        Check(
            f"{nodes} nodes: {of['messages']:.1f} messages a join, of {of['printed']:.0f}",
            of["messages"] <= of["printed"],
        )
        for nodes, of in numbers["by_size"].items()
    ]


def draw_steps(measured: Measured) -> list[Panel]:
    """Steps beside bits."""
    curves = [
        Curve(name, [(float(nodes), of[name]) for nodes, of in measured.numbers["by_size"].items()], "line", at)
        for at, name in enumerate(("bits", "steps"))
    ]
    reading = "Every answer covers many bits at once."
    return [Panel(title="Steps of a join", x="nodes", y="steps", reading=reading, curves=curves, log_x=True)]


def draw_messages(measured: Measured) -> list[Panel]:
    """Messages beside what the proposition says."""
    curves = [
        Curve(name, [(float(nodes), of[name]) for nodes, of in measured.numbers["by_size"].items()], "line", at)
        for at, name in enumerate(("printed", "messages"))
    ]
    reading = "Far fewer than said."
    return [Panel(title="Messages of a join", x="nodes", y="messages", reading=reading, curves=curves, log_x=True)]


EXPLANATION = "The paper counts a step for every bit. An answer brings a whole routing table, whose nodes have hundreds of bits each, so that a few cover all."
STEPS = Claim(
    id="K-P2",
    sentence="A join takes d / 2 = 512 steps in the mean, where ids are half full.",
    paper=KATO,
    place="section III-C",
    published={"steps": BITS / 2},
    tolerance="at most as many steps as bits that are set, and about as many in the mean",
    measure=measure,
    checks=checks_steps,
    draw=draw_steps,
    caveat="A step is a question for all that is not covered yet, put again as long as an answer has covered more.",
    explanation=EXPLANATION,
)
MESSAGES = Claim(
    id="K-P3",
    sentence="A join takes k d / 2 ln n messages.",
    paper=KATO,
    place="Proposition 2, section V",
    published={"messages": "k d / 2 ln n"},
    tolerance="measured messages at most as many, by n, with k = 1",
    measure=measure,
    checks=checks_messages,
    draw=draw_messages,
    caveat="Questions, from hop to hop, and answers; not those by which links are then made.",
    explanation=EXPLANATION,
)
