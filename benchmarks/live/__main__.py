"""How fast do events get from one process to others over live nodes, beside bare frames over TLS in the same run?

    .venv/bin/python benchmarks/live [--only one_to_one,bare,ropewalk] [--seconds 2] [--events 1000000] [--repeat 3]
                                     [--nodes 100] [--rounds 12] [--seed 1]

Beside them, brokers and zenoh, without TLS as they come. Then a network of so many nodes, counted for so many walks of each after as many, beside naive overlays.
`--only` names parts (one_to_one, one_to_twenty, network), systems, and variants of the network's nodes. A run takes about so many seconds, and has so many events at the most.
Progress goes to standard error; the last line on standard output is one JSON document. Exit code 1 if something is not reached that we set out to reach, or
cannot be told since what it is held against is missing; `--only` leaves that out.
"""

import argparse
import asyncio
import json
import signal
import sys
import time
from typing import Any

import fan
import network
import tables
import targets
from fan import Plan
from network import ALL, Size
from networks.world import NODES
from systems.catalogue import SYSTEMS
from systems.nodes import SIGNED

PARTS = {"one_to_one": 1, "one_to_twenty": 20, "network": 0}  # and how many subscribers
ROUNDS = 12  # of ten seconds each: as long as members take to announce themselves anew, which opens connections
FEWEST = 10  # nodes: fewer leave topics without two members
BEGUN = time.monotonic()


def say(what: str) -> None:
    """On standard error, with how long it has been going on."""
    print(f"[{time.monotonic() - BEGUN:5.0f} s] {what}", file=sys.stderr, flush=True)


async def main(parts: list[str], systems: list[str], variants: list[str], plan: Plan, size: Size) -> dict[str, Any]:
    """Every part that is wanted."""
    found: dict[str, Any] = {}
    for part in parts:
        if part == "network":
            found[part] = await network.networks(variants, size, say)
            continue
        wanted = [SYSTEMS[name] for name in systems if PARTS[part] == 1 or SYSTEMS[name] is not SIGNED]
        found[part] = await fan.measured(wanted, PARTS[part], plan, say)
    return found


def _told() -> tuple[list[str], list[str], list[str], Plan, Size]:
    names = list(dict.fromkeys([*PARTS, *SYSTEMS, *ALL]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help=f"of {', '.join(names)}; with commas")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seed", type=int, default=1, help="who follows what, and who publishes")
    told = parser.parse_args()
    only = [name.strip() for name in told.only.split(",") if name.strip()]
    if unknown := [name for name in only if name not in names]:
        parser.error(f"--only names {unknown[0]!r}, but must name some of: {', '.join(names)}")
    if told.events < 1 or told.repeat < 1 or told.seconds <= 0:
        parser.error("--events, --repeat and --seconds must be above 0")
    if told.nodes < FEWEST or told.rounds < 0:
        parser.error(f"--nodes must be {FEWEST} or more, --rounds 0 or more")
    parts = [name for name in PARTS if name in only] or list(PARTS)
    systems = [name for name in SYSTEMS if name in only] or list(SYSTEMS)
    variants = [name for name in ALL if name in only] or ALL
    size = Size(told.nodes, told.rounds, told.events, told.seed)
    return parts, systems, variants, Plan(told.events, told.seconds, told.repeat), size


if __name__ == "__main__":
    parts, systems, variants, plan, size = _told()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # brokers and ends are ended on the way out
    found = asyncio.run(main(parts, systems, variants, plan, size))
    for part, each in found.items():
        title = f"One publisher to {PARTS[part]}: the median of {plan.repeat} turns, and of the ratios to bare frames (least to most)"
        tables.show(tables.network(each) if part == "network" else tables.fan(title, each))
        if fan.OURS in each:
            tables.show(tables.times("The same as so many times what nodes do: the median over turns", each))
    reached = {part: network.targets(each) if part == "network" else fan.targets(each) for part, each in found.items()}
    tables.show(tables.reached(reached))
    held = targets.holds(reached)
    print(json.dumps(found | {"targets": reached, "holds": held}))
    sys.exit(0 if held else 1)
