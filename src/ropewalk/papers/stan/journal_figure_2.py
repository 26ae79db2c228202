"""StaN, Figure 2: five nodes, two topics, and a node whose four links come to lead to two nodes."""

import numpy as np

from ropewalk.ids import weight
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import ROUNDS, STAN, TTL
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import Settings
from ropewalk.seeds import chance, pick

EXAMPLES = 1000  # of the figure, each with five nodes of its own, and so with weights of its own
NODES, VIEW = 5, 2
LOGICAL, BEFORE, AFTER = 4, 4, 2


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001 (five nodes at any scale)
    """n0 begins with n1 and n2 in one topic and n3 and n4 in the other; what the others hold is up to chance."""
    settings = Settings(rounds=ROUNDS, ttl=TTL)
    groups = [_identities(lab.seed, example) for example in range(EXAMPLES)]
    members, overlays = _begun(lab.seed, groups)
    for stage in kernel.rounds(members, overlays, settings, lab.seed):
        overlays = stage.overlays
    physical: dict[int, int] = {}
    logical = set()
    for example, nodes in enumerate(groups):
        topics = (2 * example, 2 * example + 1)
        views = [_view_of(members, overlays, topic, nodes[0]) for topic in topics]
        logical.add(sum(len(view) for view in views))
        count = len(set().union(*views))
        physical[count] = physical.get(count, 0) + 1
    shares = {str(count): physical[count] / EXAMPLES for count in sorted(physical)}
    return Measured({"examples": EXAMPLES, "logical": sorted(logical), "physical": shares})


def _identities(seed: int, example: int) -> list[int]:
    """n0 to n4."""
    return [chance(seed, "figure 2 identity", example, node) for node in range(NODES)]


def _begun(seed: int, groups: list[list[int]]) -> tuple[kernel.Members, kernel.Overlays]:
    """Two topics for each group, with the views of the figure's upper half."""
    ids: list[int] = []
    links: list[int] = []
    for topic in range(2 * len(groups)):
        nodes = groups[topic // 2]
        inside = sorted(nodes)
        ids += inside
        for node in inside:
            first = 1 + VIEW * (topic % 2)
            view = nodes[first : first + VIEW] if node == nodes[0] else _any_two(seed, topic, node, inside)
            links += [inside.index(other) for other in sorted(view, key=lambda other: (weight(node, other), other))]
    topics = 2 * len(groups)
    members = kernel.Members(
        topics=np.arange(topics), offsets=np.arange(topics + 1) * NODES, ids=np.array(ids, np.int64)
    )
    return members, kernel.Overlays(np.arange(len(ids) + 1) * VIEW, np.array(links, np.int32))


def _any_two(seed: int, topic: int, node: int, inside: list[int]) -> list[int]:
    others = [other for other in inside if other != node]
    first = others.pop(pick(chance(seed, "figure 2 view", topic, node, 0), len(others)))
    return [first, others[pick(chance(seed, "figure 2 view", topic, node, 1), len(others))]]


def _view_of(members: kernel.Members, overlays: kernel.Overlays, topic: int, node: int) -> set[int]:
    inside = members.ids[NODES * topic : NODES * (topic + 1)]
    at = NODES * topic + int(np.searchsorted(inside, node))
    return {int(inside[link]) for link in overlays.links[overlays.starts[at] : overlays.starts[at + 1]]}


def checks(numbers: Numbers) -> list[Check]:
    """What the figure shows can happen, happens; and logical links never change."""
    shares = numbers["physical"]
    said = ", ".join(f"{count} in {share:.1%}" for count, share in shares.items())
    kept = numbers["logical"] == [LOGICAL]
    return [
        Check(
            f"n0 ends with {numbers['logical'][0]} logical links, as it began" if kept else "logical links change", kept
        ),
        Check(f"of its {BEFORE} physical links there remain {said} of the examples", shares.get(str(AFTER), 0.0) > 0),
    ]


def draw(measured: Measured) -> list[Panel]:
    """How often n0 ends with how many."""
    return [
        Panel(
            title=f"n0 in {EXAMPLES} examples of five nodes",
            x="physical links of n0 in the end",
            y="share of examples",
            reading="It begins with 4 in each; the figure shows an example that ends with 2, the least there can be.",
            curves=[
                Curve("measured", [(float(count), share) for count, share in measured.numbers["physical"].items()])
            ],
        )
    ]


CLAIM = Claim(
    id="B-F2",
    sentence="A node with four logical links to four nodes ends with four logical links to two.",
    paper=STAN,
    place="Figure 2, section 2.3",
    published={"logical": [LOGICAL, LOGICAL], "physical": [BEFORE, AFTER]},
    tolerance=f"in {EXAMPLES} examples of five nodes n0 keeps {LOGICAL} logical links; in some it goes from {BEFORE} physical links to {AFTER}",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The figure prints weights for n0 alone; here they are those of made-up identities, and the others' views are drawn by chance.",
)
