"""Magnet, Figure 2: how many links nodes have."""

from ropewalk.engines.contract import FINAL
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import MAGNET, NODES, Case, average, runs
from ropewalk.workloads.multi_modal import MultiModal

MEAN, MARGIN = 19.0, 0.5


def measure(lab: Lab, scale: Scale) -> Measured:
    """The links of nodes on the usual workload, at either end."""
    found = runs(lab, scale, "links of a node", [Case("usual", MultiModal(nodes=NODES[scale]))], "views")["usual"]
    spread = [average(found, f"connections.p{percentile}") for percentile in range(101)]
    numbers = {"mean": average(found, "connections.mean"), "least": spread[0], "most": spread[100]}
    return Measured(numbers, {"links": list(zip(spread, (float(share) / 100 for share in range(101)), strict=True))})


def checks(numbers: Numbers) -> list[Check]:
    """The one number printed."""
    return [Check(f"a node has {numbers['mean']:.2f} links in the mean", abs(numbers["mean"] - MEAN) <= MARGIN)]


def draw(measured: Measured) -> list[Panel]:
    """The distribution."""
    return [
        Panel(
            title="Links of a node",
            x="links, at either end",
            y="share of nodes with at most so many",
            reading="Some nodes are chosen by many: two choices by interest favour who has much in common with others.",
            curves=[Curve("Magnet", list(measured.curves["links"]), "steps", 0)],
        )
    ]


CLAIM = Claim(
    id="M-F2",
    sentence="A node has 19 links in the mean.",
    paper=MAGNET,
    place="Figure 2, section 4.2",
    published={"mean": MEAN},
    tolerance=f"{MEAN:.0f} +- {MARGIN}",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat=f"Links are counted at both ends, the successor's among them; stage {FINAL}. The mean is a setting, so it says only that fingers"
    " are found. The figure's caption speaks of categories, its text of links; the law of its curve is not printed.",
)
