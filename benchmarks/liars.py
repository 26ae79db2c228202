"""How far does a given share of liars get, by what nodes rank others?

In a town where every node follows half of the topics, links carry events both ways and nodes on a walk's way learn of its
source, some nodes are liars that work together:

- poison: whatever they say in a walk or a reply names liars that follow the topic, and nobody else
- absorb: and walks end with them
- grind: as poison, and their ids are the best of a thousand for being the favourite of one victim for each team
- silent: as grind, and they neither send, offer nor ask for events
- tease: as grind, and they ask for events and offer them, but never hand one over
- siege: as silent, and walks end with them

Printed are, as mean and worst of all seeds, in per cent: the places of honest nodes' views that liars hold, what views drawn
from all followers would hold of them (fair), pairs of an honest node and a topic whose view is all liars (taken), which
have no honest neighbour in either direction (eclipsed), and that are not connected to most others but through liars (cut
off); places, taken and eclipsed of victims alone; deliveries owed to honest nodes that did not come in two periods
(missed), and those of them whose publisher was connected with the node without liars in the end (starved: too
late, or kept from it). At last frames for each delivery, and connections of an honest node. The last line is one JSON document.

    .venv/bin/python benchmarks/liars.py [--nodes 200] [--topics 10] [--seeds 3] [--rounds 8] [--manager given] [--shared 0] [--everywhere]
"""

import argparse
import json
import statistics
import sys
import time
from dataclasses import asdict
from typing import Any, get_args

from ropewalk.engines.sim.plots import ATTACKS, Attack, play, plotted
from ropewalk.protocols.sampling.contract import ManagerName
from ropewalk.protocols.stan.settings import FanOut, Settings, Weight

WEIGHTS: tuple[Weight, ...] = ("printed", "pair", "keyed")
SHARES = (0, 5, 10, 20, 30)  # per cent
HONEST = ("places", "fair", "taken", "eclipsed", "cut_off")
VICTIMS = ("victims_places", "victims_fair", "victims_mostly", "victims_taken", "victims_eclipsed")
SHOWN = (*HONEST, *VICTIMS, "missed", "starved", "frames", "connections")
PLAIN = ("frames", "connections")  # all others are shares


def measure(attack: Attack, share: int, settings: Settings, asked: argparse.Namespace) -> dict[str, Any]:
    """Mean and worst of all seeds."""
    runs = [flat(attack, share, settings, asked, seed) for seed in range(1, asked.seeds + 1)]
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {
        "weight": settings.weight,
        "attack": attack,
        "share": share,
        "mean": {name: round(statistics.mean(run[name] for run in runs), 5) for name in names},
        "worst": {name: round(max(run[name] for run in runs), 5) for name in names},
    }


def flat(attack: Attack, share: int, settings: Settings, asked: argparse.Namespace, seed: int) -> dict[str, float]:
    """What one run came to, each number by one name."""
    started = time.monotonic()
    town = (asked.nodes, asked.topics, settings, seed)
    found = asdict(play(plotted(attack, share / 100, *town, everywhere=asked.everywhere), asked.events))
    honest, victims = found.pop("honest"), found.pop("victims") or {}
    print(f"{settings.weight} {attack} {share} % seed {seed}: {time.monotonic() - started:.1f} s", file=sys.stderr)
    return honest | {f"victims_{name}": value for name, value in victims.items()} | found


def line(cells: list[str]) -> str:
    """A row of a table."""
    return " | ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))


WIDTHS = [8, 7, 5, *(len(name) + 4 for name in SHOWN)]


def row(measured: dict[str, Any]) -> str:
    """One weight, attack and share: mean/worst."""
    cells = [measured["attack"] if measured["share"] else "-", measured["weight"], f"{measured['share']}"]
    for name in SHOWN:
        mean, worst = measured["mean"].get(name), measured["worst"].get(name)
        scale = 1 if name in PLAIN else 100
        cells.append("-" if mean is None else f"{mean * scale:.1f}/{worst * scale:.1f}")
    return line(cells)


def main() -> None:
    """All weights, attacks and shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--events", type=int, default=40)
    parser.add_argument("--manager", choices=get_args(ManagerName), default="given")
    parser.add_argument("--fanout", choices=get_args(FanOut), default="two-way")
    parser.add_argument("--shared", type=int, default=0, help="as in the settings of StaN")
    parser.add_argument("--everywhere", action="store_true", help="liars follow all topics")
    parser.add_argument("--attacks", nargs="+", choices=ATTACKS, default=ATTACKS)
    parser.add_argument("--weights", nargs="+", choices=WEIGHTS, default=WEIGHTS)
    parser.add_argument("--shares", nargs="+", type=int, default=SHARES, help="of liars among all nodes, in per cent")
    asked = parser.parse_args()
    print(line(["attack", "weight", "%", *SHOWN]))
    rows = []
    for number, attack in enumerate(asked.attacks):
        for weight in asked.weights:
            settings = Settings(
                schedule="timed",
                rounds=asked.rounds,
                connectivity=0.99,
                learn=True,
                weight=weight,
                manager=asked.manager,
                fanout=asked.fanout,
                shared=asked.shared,
            )
            for share in asked.shares if not number else [share for share in asked.shares if share]:
                rows.append(measure(attack, share, settings, asked))
                print(row(rows[-1]), flush=True)
    print(json.dumps({"asked": vars(asked), "python": sys.version.split()[0], "rows": rows}))


if __name__ == "__main__":
    main()
