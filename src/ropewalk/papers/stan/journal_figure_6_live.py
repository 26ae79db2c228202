"""StaN, Figure 6: real nodes beside simulated ones, round by round (a) and as distributions (b)."""

from itertools import combinations

import numpy as np

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel, distribution
from ropewalk.papers.lab import Lab, Universe
from ropewalk.papers.nodes import NodesRun
from ropewalk.papers.stan.universes import ROUNDS, STAN, TTL, grid_universe
from ropewalk.papers.statistics import ks_distance, mean

BEFORE, BEFORE_WITHIN = 25.0, 1.0
HIGHEST = 17.0  # where real nodes may end
NEAR = 0.1  # Kolmogorov and Smirnov's distance
OF_PAIRS = 95  # the percentile of distances between simulations that is near enough, too
REPETITIONS: dict[Scale, int] = {"small": 2, "paper": 5}
SIMULATED: dict[Scale, int] = {"small": 6, "paper": 20}  # seeds, for what chance alone makes of it
PERIODS: dict[Scale, float] = {"small": 4.0, "paper": 10.0}  # seconds; the paper's are 30
EVENTS: dict[Scale, int] = {"small": 50, "paper": 200}
HELD = ("lvs", "pvs")


def _universe(lab: Lab, seed: int) -> Universe:
    return grid_universe(lab, "fig6", (100, 16), seed)


def _live(lab: Lab, scale: Scale) -> list[NodesRun]:
    told = {"rounds": ROUNDS, "ttl": TTL, "period": PERIODS[scale]}
    return [
        lab.nodes(_universe(lab, seed), seed, engine="live", events=EVENTS[scale], topics_per_event=2, **told)
        for seed in lab.seeds(REPETITIONS[scale])
    ]


def _simulated(lab: Lab, scale: Scale) -> list[NodesRun]:
    """On the universes of the real runs."""
    seeds = lab.seeds(REPETITIONS[scale])
    return [lab.nodes(_universe(lab, seed), seed, rounds=ROUNDS, ttl=TTL) for seed in seeds]


def measure_by_round(lab: Lab, scale: Scale) -> Measured:
    """Means over the nodes of all runs, and what became of events, and what was sent."""
    live, simulated = _live(lab, scale), _simulated(lab, scale)
    by_round = {
        name: {
            held: [mean([getattr(run.stages[turn], held) for run in runs]) for turn in range(ROUNDS + 1)]
            for held in HELD
        }
        for name, runs in (("live", live), ("simulated", simulated))
    }
    sent: dict[str, dict[str, float]] = {}
    for kind in sorted({kind for run in live for kind in run.sent}):
        counts = [run.sent.get(kind, (0, 0)) for run in live]
        turns = live[0].nodes * ROUNDS * len(live)
        sent[kind] = {
            "messages": sum(each[0] for each in counts) / turns,
            "bytes": sum(each[1] for each in counts) / turns,
        }
    events = {key: sum(run.events[key] for run in live) for key in ("events", "expected", "missed", "unwanted")}
    connections = [mean([run.stages[turn].connections for run in live]) for turn in range(ROUNDS + 1)]
    return Measured(
        {"by_round": by_round, "connections": connections, "events": events, "sent_per_node_and_round": sent}
    )


def checks_by_round(numbers: Numbers) -> list[Check]:
    """Where views begin and end, and that every event comes."""
    live, simulated = numbers["by_round"]["live"], numbers["by_round"]["simulated"]
    events = numbers["events"]
    lvs, pvs = live["lvs"], live["pvs"]
    return [
        Check(f"live LVS begins at {lvs[0]:.2f} and ends at {lvs[-1]:.2f}", abs(lvs[-1] - lvs[0]) <= 0.005 * lvs[0]),
        Check(f"live PVS begins at {pvs[0]:.1f}", abs(pvs[0] - BEFORE) <= BEFORE_WITHIN),
        Check(f"live PVS ends at {pvs[-1]:.2f}, not above {HIGHEST:.0f}", pvs[-1] <= HIGHEST),
        Check(f"it ends at {pvs[-1]:.2f}, simulated at {simulated['pvs'][-1]:.2f}", pvs[-1] >= simulated["pvs"][-1]),
        Check(
            f"{events['expected'] - events['missed']} of {events['expected']} deliveries that were owed",
            events["missed"] == 0 < events["expected"],
        ),
        Check(f"{events['unwanted']} to nodes that follow none of the topics", events["unwanted"] == 0),
    ]


def draw_by_round(measured: Measured) -> list[Panel]:
    """Figure 6(a)."""
    by_round = measured.numbers["by_round"]
    return [
        Panel(
            title="100 nodes, 16 topics",
            x="round",
            y="mean per node",
            reading="LVS must not move; PVS falls alike where nodes are real and where they are simulated.",
            curves=[
                Curve(f"{held.upper()}, {name}", list(enumerate(by_round[name][held])), "law" if at else "line", place)
                for place, held in enumerate(HELD)
                for at, name in enumerate(by_round)
            ],
        )
    ]


def measure_distributions(lab: Lab, scale: Scale) -> Measured:
    """Distances of every real run from the simulation of its seed, and of simulations from each other."""
    live, simulated = _live(lab, scale), _simulated(lab, scale)
    of_one = [lab.nodes(_universe(lab, lab.seed), seed, rounds=ROUNDS, ttl=TTL) for seed in lab.seeds(SIMULATED[scale])]
    numbers: Numbers = {}
    curves = {}
    for held in HELD:
        apart = [ks_distance(real.held[held], played.held[held]) for real, played in zip(live, simulated, strict=True)]
        among = [ks_distance(a.held[held], b.held[held]) for a, b in combinations(of_one, 2)]
        numbers[held] = {"distance": mean(apart), "between_seeds": float(np.percentile(among, OF_PAIRS))}
        for name, runs in (("live", live), ("simulated", simulated)):
            curves[f"{held.upper()}, {name}"] = distribution([float(value) for run in runs for value in run.held[held]])
    return Measured(numbers, curves)


def checks_distributions(numbers: Numbers) -> list[Check]:
    """Near, or as near as chance lets simulations be."""
    return [
        Check(
            f"{held.upper()}: distance {of['distance']:.3f}, between seeds {of['between_seeds']:.3f}",
            of["distance"] <= max(NEAR, of["between_seeds"]),
        )
        for held, of in numbers.items()
    ]


def draw_distributions(measured: Measured) -> list[Panel]:
    """Figure 6(b)."""
    return [
        Panel(
            title="Distributions after 8 rounds",
            x="links",
            y="share of nodes with at most as many",
            reading="Real nodes hold what simulated ones hold.",
            curves=[Curve(name, points, "steps", at % 2) for at, (name, points) in enumerate(measured.curves.items())],
        )
    ]


BY_ROUND = Claim(
    id="B-F6a-live",
    sentence="Deployed, LVS stays constant while PVS drops from 25 to slightly above the simulation.",
    paper=STAN,
    place="Figure 6(a), section 3.4",
    published={"PVS before": BEFORE, "PVS after": "slightly above 15"},
    tolerance=f"real nodes over TLS, mean of {REPETITIONS['paper']} runs: LVS ends within 0.5 % of where it begins, PVS begins at"
    f" {BEFORE:.0f} +- {BEFORE_WITHIN:.0f}, ends at most at {HIGHEST:.0f} and not below the simulated one; every event reaches everybody"
    " who follows one of its topics, and nobody else",
    measure=measure_by_round,
    checks=checks_by_round,
    draw=draw_by_round,
    caveat="On one machine, not on PlanetLab: messages take a millisecond and none is lost. sent_per_node_and_round is what real nodes"
    " sent, by kind, in frames before TLS; ping is the transport's heartbeat.",
    explanation="Real or simulated, both have converged by round 8, and where views end around it is chance.",
)
DISTRIBUTIONS = Claim(
    id="B-F6b",
    sentence="The distributions of LVS and PVS are the same deployed and simulated.",
    paper=STAN,
    place="Figure 6(b), section 3.4",
    published="curves that lie on each other",
    tolerance=f"the distance of Kolmogorov and Smirnov between a real run and the simulation of its seed, in the mean of {REPETITIONS['paper']}, is"
    f" at most {NEAR}, or at most the {OF_PAIRS}th percentile between {SIMULATED['paper']} simulations of one universe",
    measure=measure_distributions,
    checks=checks_distributions,
    draw=draw_distributions,
)
