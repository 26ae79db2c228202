"""A hundred nodes: ours beside the naive overlay that reaches as many after a crash, and what we set out to reach.

Every network runs in a process of its own, one after the other. The naive overlay is built at degree 6, and at the smallest degree at which
it reaches at least as many as ours after a fifth of the nodes crashed (`networks/crashes.py`: on recorded links, the same for both), and after two fifths.
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
from networks.world import SINGLE, TRIPLE, World, connections_of, random_links

NET = Path(__file__).with_name("net.py")
DEGREE = 6  # of the naive overlay that was measured before
GRAPHS = 5  # random overlays over which reach at a degree is taken
MOST_DEGREE = 40
PATIENCE = 900.0  # seconds: a network that has not ended by then never will
USUAL = "ropewalk"
FRAMES, FRAMES_OF_THREE = 1.2, 1.3  # what we set out to reach, at the most
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
        each["naive_of_equal_reach"] = _equal(world, SHARE, each["reach_after_crash"])
        each["naive_of_equal_reach_after_hard_crash"] = _equal(world, HARD, each["reach_after_hard_crash"])
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


def _equal(world: World, share: float, wanted: float) -> dict[str, Any]:
    """The smallest degree at which random overlays reach as many, and how many connections a node has there."""
    for degree in range(2, MOST_DEGREE + 1):
        graphs = [random_links(world, degree, seed) for seed in range(GRAPHS)]
        found = median(reach(world, links, share) for links in graphs)  # of one, as ours is
        if found >= wanted:
            counted = mean(mean(connections_of(links, len(world.followed))) for links in graphs)
            return {"degree": degree, "reach": found, "connections_mean": counted}
    raise ValueError(f"no random overlay of degree {MOST_DEGREE} or less reaches {wanted}")


def targets(found: dict[str, Any]) -> dict[str, float]:
    """How the usual nodes stand with what we set out to reach, as ratios: 1 and above is reached."""
    each = found["networks"].get(USUAL, {})
    if "one_topic" not in each:
        return {}
    held = each["connections_mean"]
    return {
        "connections of the naive of equal reach / ours": each["naive_of_equal_reach"]["connections_mean"] / held,
        f"likewise after {HARD:.0%} crashed": each["naive_of_equal_reach_after_hard_crash"]["connections_mean"] / held,
        f"{FRAMES} / frames per delivery": FRAMES / each["one_topic"]["frames_per_delivery"],
        f"{FRAMES_OF_THREE} / frames per node of a three-topic event": FRAMES_OF_THREE
        / each["three_topics"]["frames_per_delivery"],
        "delivered / owed": mean(1 - each[part]["missed"] / max(1, each[part]["owed"]) for part in PARTS),
    }


ALL = list(VARIANTS)
