"""StaN, section 2.4: nodes may walk less often once walks gain little."""

from itertools import accumulate
from typing import Any

import numpy as np

from ropewalk.engines.contract import INITIAL, stage_after
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import FIRST_CELL, STAN, TTL, Cell, grid_universe

TIMED_CELL: Cell = (300, 30)
ROUNDS = 16  # twice as many as usual: there is nothing to save while everything still improves


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001 (one size, small)
    """Set G, 1000 x 100 in lock step and 300 x 30 with timers."""
    whole, part = (grid_universe(lab, "G", cell, lab.seed) for cell in (FIRST_CELL, TIMED_CELL))
    stages = [INITIAL, *(stage_after(turn, ROUNDS) for turn in range(1, ROUNDS + 1))]
    conducted, timed = {}, {}
    for name, adaptive in (("adaptive", True), ("fixed", False)):
        run = lab.run(whole, lab.seed, keep={"rounds"}, rounds=ROUNDS, ttl=TTL, adaptive=adaptive)
        sent = [run.values.get(("traffic.messages", stage), 0.0) for stage in stages]
        conducted[name] = {"pvs": [run.mean("pvs", stage) for stage in stages], "messages": list(accumulate(sent))}
        of = lab.nodes(part, lab.seed, rounds=ROUNDS, ttl=TTL, adaptive=adaptive).stages
        sent = [float(stage.messages) for stage in of]
        timed[name] = {"pvs": [stage.pvs for stage in of], "messages": list(accumulate(sent))}
    return Measured({"lock step": _compared(conducted), "with timers": _compared(timed)})


def _compared(found: dict[str, Any]) -> dict[str, Any]:
    """Messages sent until PVS is as low as the adaptive run gets it."""
    reached = found["adaptive"]["pvs"][-1]
    # Between two rounds in proportion: whole rounds would flatter whoever is compared with them.
    spent = float(np.interp(-reached, [-pvs for pvs in found["fixed"]["pvs"]], found["fixed"]["messages"]))
    saved = 1 - found["adaptive"]["messages"][-1] / spent
    return found | {"pvs_reached": reached, "fixed_messages_to_there": spent, "saved": saved}


def checks(numbers: Numbers) -> list[Check]:
    """Fewer messages to the same place."""
    return [
        Check(
            f"{name}: to reach PVS {of['pvs_reached']:.1f}, adaptive periods save {of['saved']:.1%} of the messages",
            of["saved"] > 0,
        )
        for name, of in numbers.items()
    ]


def draw(measured: Measured) -> list[Panel]:
    """What messages buy."""
    return [
        Panel(
            title=f"What messages buy, {where}",
            x="messages so far",
            y="mean PVS",
            reading="The lower line gets further for the same messages.",
            curves=[
                Curve(name, list(zip(of["messages"], of["pvs"], strict=True)), "line", shade)
                for shade, (name, of) in enumerate((name, both[name]) for name in ("adaptive", "fixed"))
            ],
        )
        for where, both in measured.numbers.items()
    ]


CLAIM = Claim(
    id="B-D3",
    sentence="Nodes can control the period of their walks by the expected improvement: often at first, less as it becomes marginal.",
    paper=STAN,
    place="section 2.4",
    published="no numbers",
    tolerance=f"set G, {ROUNDS} rounds: the adaptive run sends fewer messages than the fixed one needs for the same PVS",
    measure=measure,
    checks=checks,
    draw=draw,
)
