"""Magnet, Figure 4: cost against how skewed popularity is (a), and how much nodes follow (b)."""

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import MAGNET, POWER_LAW, Case, both, costs, in_percent
from ropewalk.papers.statistics import rises
from ropewalk.workloads.multi_modal import MultiModal
from ropewalk.workloads.rates import Rates

PEERS: dict[Scale, int] = {"small": 1000, "paper": 5000}
EXPONENTS = (0.5, 1.0, 1.5, 2.0)  # ours: the range is not printed
SIZES = (10, 18, 25, 50, 100)
OF_SIZES = 0.75  # the exponent there
FOLLOWED = 18.0  # the figure's caption
LAWS = {"one rate": Rates(), "rates": POWER_LAW}


def measure_exponents(lab: Lab, scale: Scale) -> Measured:
    """One of five categories each, popularity more and more skewed."""
    cases = [
        Case(
            f"{exponent:g}",
            MultiModal(nodes=PEERS[scale], categories=5, subscriptions_per_node=FOLLOWED, exponent=exponent),
        )
        for exponent in EXPONENTS
    ]
    found = costs(lab, scale, "MULTI-MODAL, exponents", cases)
    return Measured({name: cost.numbers() for name, cost in found.items()})


def checks_exponents(numbers: Numbers) -> list[Check]:
    """The steeper the better."""
    savings = [numbers[f"{exponent:g}"]["saving"] for exponent in EXPONENTS]
    exponents = ", ".join(f"{each:g}" for each in EXPONENTS)
    return [Check(f"{in_percent(savings)} are saved at exponents {exponents}, rising", rises(savings))]


def draw_exponents(measured: Measured) -> list[Panel]:
    """Figure 4(a)."""
    numbers = measured.numbers
    return [
        Panel(
            title="How skewed popularity is",
            x="exponent of the popularity of topics",
            y="uninterested relays a message",
            reading="The steeper popularity falls, the more nodes follow the same few topics.",
            curves=both((each, numbers[f"{each:g}"]) for each in EXPONENTS),
        )
    ]


def measure_sizes(lab: Lab, scale: Scale) -> Measured:
    """Subscriptions of all sizes, with one rate and with many."""
    cases = [
        Case(
            f"{size} topics, {law}",
            MultiModal(nodes=PEERS[scale], categories=5, subscriptions_per_node=float(size), exponent=OF_SIZES),
            rates,
        )
        for law, rates in LAWS.items()
        for size in SIZES
    ]
    found = costs(lab, scale, "MULTI-MODAL, sizes", cases)
    return Measured({name: cost.numbers() for name, cost in found.items()})


def checks_sizes(numbers: Numbers) -> list[Check]:
    """Better at all of them."""
    return [Check(f"{name}: {100 * of['saving']:.0f} % are saved", of["saving"] > 0) for name, of in numbers.items()]


def draw_sizes(measured: Measured) -> list[Panel]:
    """Figure 4(b)."""
    numbers = measured.numbers
    return [
        Panel(
            title=f"How much nodes follow: {law}",
            x="topics that the average node follows",
            y="uninterested relays a message",
            reading="Below the strawman at every size.",
            curves=both((size, numbers[f"{size} topics, {law}"]) for size in SIZES),
        )
        for law in LAWS
    ]


EXPONENT = Claim(
    id="M-F4a",
    sentence="The steeper the popularity of topics, the more Magnet saves.",
    paper=MAGNET,
    place="Figure 4(a), section 4.2",
    published="better with higher alpha",
    tolerance="what is saved rises with the exponent",
    measure=measure_exponents,
    checks=checks_exponents,
    draw=draw_exponents,
)
SIZE = Claim(
    id="M-F4b",
    sentence="Magnet costs less than its strawman however much nodes follow, whatever the rates.",
    paper=MAGNET,
    place="Figure 4(b), section 4.2",
    published="consistently better on all subscription sizes",
    tolerance="Magnet below the strawman at every size, with one rate and with a power law of rates",
    measure=measure_sizes,
    checks=checks_sizes,
    draw=draw_sizes,
)
