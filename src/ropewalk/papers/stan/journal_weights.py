"""StaN, sections 2.3 and 2.4: what a weight must be like, and what becomes of overlays when it is not."""

import numpy as np

from ropewalk.ids import weight
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import FIRST_CELL, ROUNDS, STAN, TTL, grid_universe
from ropewalk.papers.statistics import ks_distance
from ropewalk.seeds import chance

PAIRS = 20_000  # of nodes whose weights are compared
UNIFORM = 1.63  # over the root of the sample: the KS distance that chance exceeds once in a hundred
UNRELATED = 2.58  # likewise for a correlation
ABLATIONS = {"target": "one order for all", "ring": "distance of ids"}


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001 (one size, small)
    """The weight by itself, and StaN with three weights on set G, 1000 x 100."""
    ids = [(chance(lab.seed, "weighed", pair, 0), chance(lab.seed, "weighed", pair, 1)) for pair in range(PAIRS)]
    there, back = (np.array([weight(*ends) for ends in of]) / 2.0**63 for of in (ids, [pair[::-1] for pair in ids]))
    even = (np.arange(PAIRS) + 0.5) / PAIRS
    universe = grid_universe(lab, "G", FIRST_CELL, lab.seed)
    fitness = {}
    for name in ("printed", *ABLATIONS):
        run = lab.run(universe, lab.seed, rounds=ROUNDS, ttl=TTL, weight=name)
        fitness[name] = {"pvs": run.mean("pvs", "final")} | run.document["fitness"]["final"]
    return Measured(
        {
            "uniformity": ks_distance(there, even),
            "equal_both_ways": int((there == back).sum()),
            "correlation_both_ways": float(np.corrcoef(there, back)[0, 1]),
            "fitness": fitness,
        }
    )


def checks(numbers: Numbers) -> list[Check]:
    """Uniform, asymmetric; and both ablations are worse."""
    root = PAIRS**0.5
    apart, related = numbers["uniformity"], abs(numbers["correlation_both_ways"])
    printed = numbers["fitness"]["printed"]
    found = [
        Check(f"weights are uniform (KS distance {apart:.4f})", apart <= UNIFORM / root),
        Check(f"those of p for q and of q for p are unrelated (r = {related:.4f})", related <= UNRELATED / root),
        Check(
            f"{numbers['equal_both_ways']} of {PAIRS} pairs weigh the same both ways", numbers["equal_both_ways"] == 0
        ),
    ]
    for name, words in ABLATIONS.items():
        other = numbers["fitness"][name]
        worse = other["clustering"] > printed["clustering"] or other["diameter"] > printed["diameter"]
        said = (
            f"{words}: clustering {printed['clustering']:.3f} becomes {other['clustering']:.3f},"
            f" diameter {printed['diameter']:.2f} becomes {other['diameter']:.2f}"
        )
        found.append(Check(said, worse))
    return found


def draw(measured: Measured) -> list[Panel]:
    """Clustering and diameter by weight."""
    fitness = measured.numbers["fitness"]
    return [
        Panel(
            title=name.capitalize(),
            x=", ".join(f"{at}: {weight_}" for at, weight_ in enumerate(fitness)),
            y=f"mean {name} of overlays",
            reading="The paper warns that one order for all makes chains, and distances of ids make clusters.",
            curves=[Curve(name, [(float(at), of[name]) for at, of in enumerate(fitness.values())])],
        )
        for name in ("clustering", "diameter")
    ]


CLAIM = Claim(
    id="B-W1",
    sentence="A weight that is uniform and asymmetric keeps overlays fit; one order for all nodes or the distance of ids does not.",
    paper=STAN,
    place="sections 2.3 and 2.4",
    published="no numbers",
    tolerance="weights are uniform and those of both directions unrelated, at 99 % confidence; with a weight of the target alone, and"
    " with the distance of ids, clustering or diameter after 8 rounds are larger than with the printed one",
    measure=measure,
    checks=checks,
    draw=draw,
)
