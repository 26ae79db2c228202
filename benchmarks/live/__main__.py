"""How fast do events get from one process to others over live nodes, beside bare frames over TLS in the same run?

    .venv/bin/python benchmarks/live [--only one_to_one,bare,ropewalk] [--seconds 2] [--events 200000] [--repeat 3]

`--only` names parts (one_to_one, one_to_twenty) and systems. A run takes about so many seconds, and has so many events at the most.
Progress goes to standard error; the last line on standard output is one JSON document.
"""

import argparse
import asyncio
import json
import sys
import time
from typing import Any

import tables
from fan import Plan, measured
from systems.catalogue import SYSTEMS
from systems.nodes import SIGNED

PARTS = {"one_to_one": 1, "one_to_twenty": 20}  # and how many subscribers
BEGUN = time.monotonic()


def say(what: str) -> None:
    """On standard error, with how long it has been going on."""
    print(f"[{time.monotonic() - BEGUN:5.0f} s] {what}", file=sys.stderr, flush=True)


async def main(parts: list[str], systems: list[str], plan: Plan) -> dict[str, Any]:
    """Every part that is wanted."""
    found = {}
    for part in parts:
        wanted = [SYSTEMS[name] for name in systems if PARTS[part] == 1 or SYSTEMS[name] is not SIGNED]
        found[part] = await measured(wanted, PARTS[part], plan, say)
    return found


def _told() -> tuple[list[str], list[str], Plan]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help=f"of {', '.join([*PARTS, *SYSTEMS])}; with commas")
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--repeat", type=int, default=3)
    told = parser.parse_args()
    only = [name.strip() for name in told.only.split(",") if name.strip()]
    if unknown := [name for name in only if name not in PARTS and name not in SYSTEMS]:
        parser.error(f"--only names {unknown[0]!r}, but must name some of: {', '.join([*PARTS, *SYSTEMS])}")
    if told.events < 1 or told.repeat < 1 or told.seconds <= 0:
        parser.error("--events, --repeat and --seconds must be above 0")
    parts = [name for name in PARTS if name in only] or list(PARTS)
    systems = [name for name in SYSTEMS if name in only] or list(SYSTEMS)
    return parts, systems, Plan(told.events, told.seconds, told.repeat)


if __name__ == "__main__":
    parts, systems, plan = _told()
    found = asyncio.run(main(parts, systems, plan))
    tables.show(
        *(
            tables.fan(f"One publisher to {PARTS[part]}: the best of {plan.repeat}, (of bare)", each)
            for part, each in found.items()
        )
    )
    print(json.dumps(found))
