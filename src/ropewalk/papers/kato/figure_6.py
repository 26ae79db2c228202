"""Kato et al., Figure 6: what joining costs here against what events cost in the rival scheme, by the paper's formulae.

The rival (Choi et al., reference 5) is not built by anybody here: as in the paper, both sides are formulae. Ours is
k_j d/2 ln n messages a join, theirs p ln n a publication, where p is the chance that an event passes a node that does not want it.
"""

from math import log

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.sweeps import KATO
from ropewalk.papers.lab import Lab

BITS = 1024
READINGS = {"printed": 1 / BITS, "half full": 0.5}  # the chance that a bit is set: Eq. 4, and Proposition 2's own
EXPECTED = {"printed": 810, "half full": 1301}  # times k_j
NODES = (10, 100, 1000, 10_000, 100_000)
RATIOS = (100, 300, 1000, 3000, 10_000)
MORE_THAN_JOINS = (2, 100)  # publications for each join: "larger", and much larger


def passed(bits: int, chance: float) -> float:
    """p, Equations 3 to 6, summed up: 1 - (b + (1 - b)(1 - 1/d))^d."""
    return 1 - (chance + (1 - chance) * (1 - 1 / bits)) ** bits


def crossing(bits: int, chance: float, sent: int = 1) -> float:
    """Publications for each join above which the paper's scheme costs less: k_j d / (2 p)."""
    return sent * bits / (2 * passed(bits, chance))


def ours(nodes: int, joins: float, sent: int = 1) -> float:
    """Proposition 2: join messages a second."""
    return sent * BITS / 2 * log(nodes) * joins


def theirs(nodes: int, publications: float, chance: float) -> float:
    """Proposition 3: messages a second to nodes that do not want them."""
    return passed(BITS, chance) * log(nodes) * publications


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001
    """Both panels, in both readings."""
    numbers = {
        reading: {
            "p": passed(BITS, chance),
            "crossing": crossing(BITS, chance),
            "ours_of_theirs": {str(ratio): ours(1000, 1.0) / theirs(1000, ratio, chance) for ratio in MORE_THAN_JOINS},
        }
        for reading, chance in READINGS.items()
    }
    curves = {"ours": [(float(nodes), ours(nodes, 1.0)) for nodes in NODES]}
    for reading, chance in READINGS.items():
        curves[f"theirs, {reading}"] = [(float(nodes), theirs(nodes, 1000.0, chance)) for nodes in NODES]
        curves[f"ratio, {reading}"] = [(float(ratio), theirs(1000, ratio, chance)) for ratio in RATIOS]
    curves["ratio, ours"] = [(float(ratio), ours(1000, 1.0)) for ratio in RATIOS]
    return Measured(numbers, curves)


def checks(numbers: Numbers) -> list[Check]:
    """Where the lines cross; and whether ours is the lower one wherever there are more publications than joins."""
    found = [
        Check(
            f"{reading}: p = {numbers[reading]['p']:.3f}, crossing at {numbers[reading]['crossing']:.0f} k_j",
            round(numbers[reading]["crossing"]) == expected,
        )
        for reading, expected in EXPECTED.items()
    ]
    for reading in READINGS:
        shares = numbers[reading]["ours_of_theirs"]
        said = " and ".join(f"{share:.3g} times at {ratio}" for ratio, share in shares.items())
        found.append(
            Check(f"{reading}: ours costs {said} publications for each join, k_j = 1", max(shares.values()) < 1)
        )
    return found


def draw(measured: Measured) -> list[Panel]:
    """Panels (a) and (b), with k_j = 1 and one join a second."""
    of = measured.curves
    by_nodes = ["ours", *(f"theirs, {reading}" for reading in READINGS)]
    by_ratio = {"ratio, ours": "ours"} | {f"ratio, {reading}": f"theirs, {reading}" for reading in READINGS}
    return [
        Panel(
            title="(a) Overhead by size, 1000 publications a join",
            x="nodes",
            y="messages a second",
            reading="All grow with ln n, so who is cheaper does not depend on the size.",
            curves=[Curve(name, list(of[name]), "line", at) for at, name in enumerate(by_nodes)],
            log_x=True,
        ),
        Panel(
            title="(b) Overhead by publications a join, 1000 nodes",
            x="publications for each join",
            y="messages a second",
            reading="The lines cross at 810 in the printed reading, at 1301 with half-full ids.",
            curves=[Curve(words, list(of[name]), "line", at) for at, (name, words) in enumerate(by_ratio.items())],
            log_x=True,
        ),
    ]


CLAIM = Claim(
    id="K-F6",
    sentence="Joining costs less than the rival's events once publications outnumber joins; Figure 6 has it from k d / (2 p) on.",
    paper=KATO,
    place="Figure 6, section V",
    published={
        "crossing": "k d / (2 p)",
        "in words": "if lambda_pub is larger than lambda_join, our scheme performs better",
    },
    tolerance="810 k_j with the printed Eq. 4, 1301 k_j with bits set with probability 1/2; cheaper wherever publications outnumber joins",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="Analytic on both sides, as in the paper: the rival is not run, and that the crossing lies where it does is arithmetic."
    " Equation 4 has a chance of 1/d that a bit is set, Proposition 2 has 1/2.",
    explanation="The paper says that its scheme performs better if publications outnumber joins at all; by its own formulae they must"
    " outnumber them by hundreds.",
)
