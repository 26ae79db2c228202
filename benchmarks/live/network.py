"""A hundred nodes: ours beside the naive overlay that reaches as many after a crash, and what we set out to reach.

Every network runs in a process of its own, one after the other. The naive overlay is built at degree 6, and at the smallest degree at which
it reaches at least as many as ours after a fifth of the nodes crashed (`networks/crashes.py`: on recorded links, the same for both). Counted but not
built are those that do so after two fifths, where reach tells overlays apart better, and naive overlays in which all have as many neighbours.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from networks.crashes import HARD, SHARE, reach
from networks.ours import VARIANTS
from networks.world import SINGLE, TRIPLE, Links, World, connections_of, even_links, random_links
from targets import Reached, at_most

NET = Path(__file__).with_name("net.py")
DEGREE = 6  # of the naive overlay that was measured before
GRAPHS = 5  # random overlays over which reach at a degree is taken
MOST_DEGREE = 40
PATIENCE = 900.0  # seconds: a network that has not ended by then never will
USUAL, SPARSE = "ropewalk", "ropewalk-sparse"
FRAMES, FRAMES_OF_THREE = 1.2, 1.3  # what we set out to reach, at the most
LinksOf = Callable[[World, int, int], Links]
KINDS: dict[str, LinksOf] = {"naive": random_links, "even": even_links}  # overlays that ours is held against
PARTS = ("one_topic", "three_topics", "three_topics_unhurried")


@dataclass(frozen=True, slots=True)
class Size:
    """How large, and for how long."""

    nodes: int
    rounds: int  # walks of every node before anything is counted
    events: int  # at the most
    seed: int = 1


async def networks(variants: list[str], size: Size, say: Callable[[str], None]) -> dict[str, Any]:
    """What was found of each, and how it stands with what we set out to reach."""
    found: dict[str, dict[str, Any]] = {}
    for variant in variants:
        say(f"network: {variant}")
        found[variant] = await _measured({"network": variant}, size)
    world = World(size.seed, size.nodes)
    whole = {name: each for name, each in found.items() if "failed" not in each}
    for each in whole.values():
        for name, links_of in KINDS.items():
            each[f"{name}_of_equal_reach"] = _equal(world, links_of, SHARE, each["reach_after_crash"])
            each[f"{name}_of_equal_reach_after_hard_crash"] = _equal(
                world, links_of, HARD, each["reach_after_hard_crash"]
            )
    equal = {each["naive_of_equal_reach"]["degree"] for name, each in whole.items() if name in {USUAL, variants[0]}}
    for degree in sorted(equal | {DEGREE}):
        say(f"network: naive, degree {degree}")
        found[f"naive, degree {degree}"] = await _measured({"network": "naive", "degree": degree}, size)
    return {"nodes": size.nodes, "rounds": size.rounds, "networks": found}


async def _measured(told: dict[str, Any], size: Size) -> dict[str, Any]:
    told |= {
        "seed": size.seed, "nodes": size.nodes, "rounds": size.rounds,
        "single": min(SINGLE, size.events), "triple": min(TRIPLE, size.events),
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(NET), json.dumps(told), stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(PATIENCE):
            said, _ = await process.communicate()
    except TimeoutError:
        return {"failed": f"it had not ended after {PATIENCE:g} s"}
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        return {"failed": f"it ended with {process.returncode}"}
    measured: dict[str, Any] = json.loads(said.splitlines()[-1])
    return measured


def _equal(world: World, links_of: LinksOf, share: float, wanted: float) -> dict[str, Any]:
    """The smallest degree at which random overlays reach as many, and how many connections a node has there."""
    for degree in range(2, MOST_DEGREE + 1):
        graphs = [links_of(world, degree, seed) for seed in range(GRAPHS)]
        found = median(reach(world, links, share) for links in graphs)  # of one, as ours is
        if found >= wanted:
            counted = mean(mean(connections_of(links, len(world.followed))) for links in graphs)
            return {"degree": degree, "reach": found, "connections_mean": counted}
    raise ValueError(f"no random overlay of degree {MOST_DEGREE} or less reaches {wanted}")


def targets(found: dict[str, Any]) -> Reached:
    """How the usual nodes stand with what we set out to reach."""
    if USUAL not in found["networks"]:
        return {}
    each = found["networks"][USUAL]
    held = each.get("connections_mean")
    reached: Reached = {}
    for name in KINDS:
        for equal, after in (("", SHARE), ("_after_hard_crash", HARD)):
            theirs = each.get(f"{name}_of_equal_reach{equal}", {}).get("connections_mean", 0.0)
            reached[f"connections of {name} overlays of equal reach, {after:.0%} crashed / ours"] = at_most(
                held, theirs
            )
    if SPARSE in found["networks"]:
        few = f"connections of the naive of degree {DEGREE} / those of {SPARSE}, which reaches as many"
        reached[few] = _fewer(found["networks"][SPARSE], found["networks"].get(f"naive, degree {DEGREE}", {}))
    parts = {part: each.get(part, {}) for part in PARTS}
    frames = {part: told.get("frames_per_delivery") for part, told in parts.items()}
    return reached | {
        f"{FRAMES} / frames per delivery": at_most(frames["one_topic"], FRAMES),
        f"{FRAMES_OF_THREE} / frames per node of a three-topic event": at_most(frames["three_topics"], FRAMES_OF_THREE),
        "delivered / owed": mean(1 - told.get("missed", 1) / max(1, told.get("owed", 1)) for told in parts.values()),
    }


def _fewer(ours: dict[str, Any], naive: dict[str, Any]) -> float | None:
    """How many times as many connections the other has; nothing to speak of if it reaches more after a crash."""
    if "connections_mean" not in naive:
        return None
    reaches = ("reach_after_crash", "reach_after_hard_crash")
    if any(ours.get(reach, 0.0) < naive[reach] for reach in reaches):
        return 0.0
    return at_most(ours.get("connections_mean"), naive["connections_mean"])


ALL = list(VARIANTS)
