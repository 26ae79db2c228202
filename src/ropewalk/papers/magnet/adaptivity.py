"""Magnet, sections 1, 2.2, 3.4 and 6: where there is nothing to gain it is no worse, small samples suffice, degrees do not depend on interests."""

from dataclasses import replace

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import MAGNET, NODES, Case, average, both, cost_of, costs, runs
from ropewalk.papers.statistics import falls
from ropewalk.protocols.magnet.settings import Settings
from ropewalk.workloads.contract import LocalModel
from ropewalk.workloads.multi_modal import MultiModal
from ropewalk.workloads.spatial import Spatial

NO_WORSE = 1.05
SAMPLES = (1, 3, 10, 30, 100)
USUAL_SAMPLES, NEAR = 10, 0.1
EVERYBODY = 1 << 20
DEGREES = (6.0, 8.0, 12.0, 16.0, 19.0)  # fingers are at most as many as partitions: 20 links with 1000 nodes
TOPICS = (250, 500, 1000, 2000)
FOLLOWED = (10, 25, 50, 100)
LEVEL = 0.01  # a slope of a degree that is none, as a share of it


def _correlated(scale: Scale) -> MultiModal:
    return MultiModal(nodes=NODES[scale], categories=20, categories_per_node=2)


def _uncorrelated(scale: Scale) -> MultiModal:
    """One category, and popularity alike: what two nodes have in common is chance."""
    return MultiModal(nodes=NODES[scale] // 2, categories=1, categories_per_node=1, exponent=0.0)


def measure_never_worse(lab: Lab, scale: Scale) -> Measured:
    """Interests without correlation, and correlated ones of which nothing is known."""
    blind = Settings(samples=0, choice="first")
    cases = [
        Case("no correlation", _uncorrelated(scale)),
        Case("no samples, no choices", _correlated(scale), settings=blind),
        Case("no samples", _correlated(scale), settings=Settings(samples=0)),
    ]
    return Measured({name: cost.numbers() for name, cost in costs(lab, scale, "nothing to gain", cases).items()})


def checks_never_worse(numbers: Numbers) -> list[Check]:
    """At most a little above the strawman."""
    return [
        Check(
            f"{name}: {of['magnet'] / of['strawman']:.3f} of the strawman's relays",
            of["magnet"] <= NO_WORSE * of["strawman"],
        )
        for name, of in numbers.items()
    ]


def draw_never_worse(measured: Measured) -> list[Panel]:
    """Both, case by case."""
    return [
        Panel(
            title="Where there is nothing to gain",
            x="case",
            y="uninterested relays a message",
            reading=", ".join(f"{at}: {name}" for at, name in enumerate(measured.numbers)) + ".",
            curves=both(enumerate(measured.numbers.values()), "points"),
        )
    ]


def measure_samples(lab: Lab, scale: Scale) -> Measured:
    """From one sample of a topic to all its followers."""
    models: dict[str, LocalModel] = {"MULTI-MODAL": _correlated(scale), "SPATIAL": Spatial(nodes=NODES[scale])}
    cases = [
        Case(f"{name}, {samples}", model, settings=Settings(samples=samples))
        for name, model in models.items()
        for samples in (*SAMPLES, EVERYBODY)
    ]
    return Measured({name: cost.numbers() for name, cost in costs(lab, scale, "samples", cases).items()})


def checks_samples(numbers: Numbers) -> list[Check]:
    """Ten are nearly as good as everybody."""
    found = []
    for name in ("MULTI-MODAL", "SPATIAL"):
        some, all_ = numbers[f"{name}, {USUAL_SAMPLES}"]["magnet"], numbers[f"{name}, {EVERYBODY}"]["magnet"]
        found.append(
            Check(
                f"{name}: {some:.1f} relays a message with {USUAL_SAMPLES} samples, {all_:.1f} with all",
                some <= (1 + NEAR) * all_,
            )
        )
    return found


def draw_samples(measured: Measured) -> list[Panel]:
    """Cost by samples."""
    return [
        Panel(
            title="How much nodes know of each other",
            x="samples of each topic",
            y="relays, of the strawman's",
            reading="Each line ends where everybody is known.",
            curves=[
                Curve(
                    name,
                    [
                        (min(samples, 1000), 1 - measured.numbers[f"{name}, {samples}"]["saving"])
                        for samples in (*SAMPLES, EVERYBODY)
                    ],
                    "line",
                    at,
                )
                for at, name in enumerate(("MULTI-MODAL", "SPATIAL"))
            ],
            log_x=True,
        )
    ]


def measure_degree(lab: Lab, scale: Scale) -> Measured:
    """Degrees from 6 to 20."""
    models: dict[str, LocalModel] = {"MULTI-MODAL": _correlated(scale), "SPATIAL": Spatial(nodes=NODES[scale])}
    cases = [
        Case(f"{name}, {degree:g}", model, settings=Settings(degree=degree))
        for name, model in models.items()
        for degree in DEGREES
    ]
    return Measured({name: cost.numbers() for name, cost in costs(lab, scale, "degrees", cases).items()})


def checks_degree(numbers: Numbers) -> list[Check]:
    """More links, fewer relays."""
    found = []
    for name in ("MULTI-MODAL", "SPATIAL"):
        relays = [numbers[f"{name}, {degree:g}"]["magnet"] for degree in DEGREES]
        said = ", ".join(f"{each:.1f}" for each in relays)
        found.append(
            Check(
                f"{name}: {said} relays a message with {', '.join(f'{each:g}' for each in DEGREES)} links, falling",
                falls(relays),
            )
        )
    return found


def draw_degree(measured: Measured) -> list[Panel]:
    """Cost by degree."""
    return [
        Panel(
            title=f"How many links nodes have: {name}",
            x="links of a node, at either end",
            y="uninterested relays a message",
            reading="More links join followers that sit apart; and make ways shorter, with or without Magnet.",
            curves=both((degree, measured.numbers[f"{name}, {degree:g}"]) for degree in DEGREES),
        )
        for name in ("MULTI-MODAL", "SPATIAL")
    ]


def measure_fixed(lab: Lab, scale: Scale) -> Measured:
    """Mean degrees for more and more topics, and larger and larger subscriptions."""
    usual = MultiModal(nodes=NODES[scale])
    cases = [Case(f"{topics} topics", replace(usual, topics=topics, subscriptions_per_node=20.0)) for topics in TOPICS]
    cases += [
        Case(f"{followed} followed", replace(usual, subscriptions_per_node=float(followed))) for followed in FOLLOWED
    ]
    found = runs(lab, scale, "fixed degree", cases, "views")
    return Measured({name: average(repeated, "connections.mean") for name, repeated in found.items()})


def checks_fixed(numbers: Numbers) -> list[Check]:
    """The same everywhere."""
    found = []
    for what, sizes in (("topics", TOPICS), ("followed", FOLLOWED)):
        degrees = [numbers[f"{size} {what}"] for size in sizes]
        said = ", ".join(f"{degree:.2f}" for degree in degrees)
        spread = (max(degrees) - min(degrees)) / degrees[0]
        found.append(Check(f"{said} links with {', '.join(map(str, sizes))} {what}", spread <= LEVEL))
    return found


def draw_fixed(measured: Measured) -> list[Panel]:
    """Two level lines."""
    return [
        Panel(
            title="Links do not depend on interests",
            x="topics in all, or followed by a node",
            y="links of a node, at either end",
            reading="Level: what nodes follow decides whom they are linked with, not with how many.",
            curves=[
                Curve(what, [(size, measured.numbers[f"{size} {what}"]) for size in sizes], "line", at)
                for at, (what, sizes) in enumerate((("topics", TOPICS), ("followed", FOLLOWED)))
            ],
            log_x=True,
        )
    ]


def measure_routing(lab: Lab, scale: Scale) -> Measured:
    """Links from a topic's home to its followers, along greedy ways."""
    sizes = {"small": (500, 1000, 2000), "paper": (1000, 3000, 10_000)}[scale]
    cases = [Case(str(size), Spatial(nodes=size), settings=Settings(grafting="strict")) for size in sizes]
    found = runs(lab, scale, "ways", cases)
    return Measured(
        {
            name: {
                "hops": average(repeated, "tree.hops"),
                "most": average(repeated, "tree.depth.p100"),
                "saving": cost_of(repeated).saving,
            }
            for name, repeated in found.items()
        }
    )


def _bound(size: int) -> float:
    return 1.5 * float(size.bit_length() - 1) ** 2 / Settings().degree


def checks_routing(numbers: Numbers) -> list[Check]:
    """Within the bound of a small world."""
    return [
        Check(
            f"{size} nodes: {of['hops']:.2f} links in the mean, the bound is {_bound(int(size)):.1f}",
            of["hops"] <= _bound(int(size)),
        )
        for size, of in numbers.items()
    ]


def draw_routing(measured: Measured) -> list[Panel]:
    """Ways and their bound."""
    sizes = [int(size) for size in measured.numbers]
    return [
        Panel(
            title="How long ways are",
            x="nodes",
            y="links from home to follower",
            reading="The dashed line is 1.5 log2(n)^2 / degree.",
            curves=[
                Curve("mean", [(size, measured.numbers[str(size)]["hops"]) for size in sizes], "line", 0),
                Curve("bound", [(size, _bound(size)) for size in sizes], "law", 3),
            ],
            log_x=True,
        )
    ]


NEVER_WORSE = Claim(
    id="M-C1",
    sentence="Where interests do not correlate, or nothing is known of them, Magnet is no worse than its strawman.",
    paper=MAGNET,
    place="sections 1 and 6",
    published="never worse",
    tolerance=f"at most {NO_WORSE} times the strawman's relays",
    measure=measure_never_worse,
    checks=checks_never_worse,
    draw=draw_never_worse,
)
SMALL_SAMPLES = Claim(
    id="M-C2",
    sentence="Small samples of each topic's followers suffice.",
    paper=MAGNET,
    place="sections 3.4 and 4.2",
    published="10 samples",
    tolerance=f"with {USUAL_SAMPLES} samples at most {100 * NEAR:.0f} % more relays than if everybody is known",
    measure=measure_samples,
    checks=checks_samples,
    draw=draw_samples,
)
DEGREE = Claim(
    id="M-C4",
    sentence="More links join followers of a topic that sit apart.",
    paper=MAGNET,
    place="section 2.2",
    published="the higher node degree is instrumental in improving connectivity among followers that sit apart",
    tolerance="relays a message fall with the degree",
    measure=measure_degree,
    checks=checks_degree,
    draw=draw_degree,
    caveat="Ways get shorter with more links whoever sits where: what Magnet saves against the strawman of the same degree is in the figure.",
)
FIXED_DEGREE = Claim(
    id="M-C6",
    sentence="How many links a node has does not depend on topics and subscriptions.",
    paper=MAGNET,
    place="section 6",
    published="fixed network degree",
    tolerance=f"mean degrees differ by at most {100 * LEVEL:.0f} % over eightfold topics and tenfold subscriptions",
    measure=measure_fixed,
    checks=checks_fixed,
    draw=draw_fixed,
)
ROUTING = Claim(
    id="M-C3",
    sentence="Ways have O(log^2 n / k) links.",
    paper=MAGNET,
    place="section 2.2",
    published="O(log^2 n / k)",
    tolerance="mean links from home to follower at most 1.5 (log2 n)^2 / degree",
    measure=measure_routing,
    checks=checks_routing,
    draw=draw_routing,
    caveat="The degree is counted at both ends, and ways go over one of them only.",
)
