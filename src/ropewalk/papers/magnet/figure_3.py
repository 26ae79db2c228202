"""Magnet, Figure 3: cost against correlation, where all topics are published on alike (a) and where they are not (b)."""

from functools import partial

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import MAGNET, NODES, POWER_LAW, Case, both, costs, in_percent
from ropewalk.papers.statistics import falls
from ropewalk.workloads.multi_modal import MultiModal
from ropewalk.workloads.rates import Rates

RATIOS = (10, 5)  # b_n for each b_p: 0.1 and 0.2
CHOSEN = (1, 2, 3, 4, 5)  # b_p
LEAST_SAVED, MOST_SAVED = 0.2, 0.8


def measure(lab: Lab, scale: Scale, rates: Rates, title: str) -> Measured:
    """Every pair of b_p and b_n."""
    cases = [
        Case(
            f"{chosen} of {chosen * ratio}",
            MultiModal(nodes=NODES[scale], categories=chosen * ratio, categories_per_node=chosen),
            rates,
        )
        for ratio in RATIOS
        for chosen in CHOSEN
    ]
    return Measured({name: cost.numbers() for name, cost in costs(lab, scale, title, cases).items()})


def _savings(numbers: Numbers, ratio: int) -> list[float]:
    return [numbers[f"{chosen} of {chosen * ratio}"]["saving"] for chosen in CHOSEN]


def checks_uniform(numbers: Numbers) -> list[Check]:
    """Magnet is below the strawman everywhere, less so the less correlated interests are."""
    found = []
    for ratio in RATIOS:
        savings = _savings(numbers, ratio)
        found += [
            Check(f"1 of {ratio} and so on: {in_percent(savings)} are saved, all above 0", min(savings) > 0),
            Check("that falls with b_p", falls(savings)),
        ]
    every = [saving for ratio in RATIOS for saving in _savings(numbers, ratio)]
    said = f"from {100 * min(every):.0f} to {100 * max(every):.0f} % are saved in all, {100 * LEAST_SAVED:.0f} at least"
    return [*found, Check(said, min(every) >= LEAST_SAVED)]


def measure_both(lab: Lab, scale: Scale) -> Measured:
    """With and without different rates."""
    uniform = measure(lab, scale, Rates(), "MULTI-MODAL, one rate")
    weighted = measure(lab, scale, POWER_LAW, "MULTI-MODAL, rates")
    return Measured({"uniform": uniform.numbers, "rates": weighted.numbers})


def checks_rates(numbers: Numbers) -> list[Check]:
    """More is saved than with one rate for all."""
    return [
        Check(
            f"{name}: {100 * of['saving']:.0f} % for {100 * numbers['uniform'][name]['saving']:.0f} %",
            of["saving"] > numbers["uniform"][name]["saving"],
        )
        for name, of in numbers["rates"].items()
    ]


def _panels(numbers: Numbers, title: str) -> list[Panel]:
    return [
        Panel(
            title=f"{title}, b_p / b_n = {1 / ratio:.1f}",
            x="categories that a node chooses (b_p)",
            y="uninterested relays a message",
            reading="The more categories a node chooses, the less its interests have in common with anybody's, and the less is there to gain.",
            curves=both((chosen, numbers[f"{chosen} of {chosen * ratio}"]) for chosen in CHOSEN),
        )
        for ratio in RATIOS
    ]


def draw_uniform(measured: Measured) -> list[Panel]:
    """Figure 3(a)."""
    return _panels(measured.numbers, "One rate for all topics")


def draw_rates(measured: Measured) -> list[Panel]:
    """Figure 3(b)."""
    return _panels(measured.numbers["rates"], "Rates by a power law")


UNIFORM = Claim(
    id="M-F3a",
    sentence="Magnet costs less than its strawman at every correlation, and the more so the more interests correlate.",
    paper=MAGNET,
    place="Figure 3(a), section 4.2",
    published="between 20 and 80 % are saved over all workloads of this kind",
    tolerance="Magnet below the strawman everywhere; what is saved falls with b_p, and is at least 20 % throughout",
    measure=partial(measure, rates=Rates(), title="MULTI-MODAL, one rate"),
    checks=checks_uniform,
    draw=draw_uniform,
    caveat=f"More than {100 * MOST_SAVED:.0f} % may be saved at b_p = 1: the paper's range is of its own parameters, which are not all printed.",
)
RATES = Claim(
    id="M-F3b",
    sentence="Where topics are published on at different rates Magnet saves more.",
    paper=MAGNET,
    place="Figure 3(b), section 4.2",
    published="larger gains than in (a)",
    tolerance="more is saved than with one rate for all, at every b_p and b_n",
    measure=measure_both,
    checks=checks_rates,
    draw=draw_rates,
    caveat="Rates are a power law of exponent 0.75 over a ranking by chance; similarity is weighed by them.",
)
