"""Every workload model by name: its usual parameters, and named sets of them where a paper or a trace suggests some."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ropewalk.workloads import trace_like
from ropewalk.workloads.contract import Model
from ropewalk.workloads.grid import SETS, Grid
from ropewalk.workloads.trace_like import TraceLike


@dataclass(frozen=True, slots=True)
class Entry:
    """A model with its usual parameters, and the sets it can be told to start from instead."""

    usual: Model
    sets: Mapping[str, Model] = field(default_factory=dict)
    sets_are: str = ""  # completes "--set ...": what the names stand for


MODELS: dict[str, Entry] = {
    Grid.name: Entry(
        SETS["G"], SETS, "Fitted parameters: G (StAN Table 2), F (also Table 1), E (no torus), fig6 (StaN Figure 6)."
    ),
    TraceLike.name: Entry(
        trace_like.USUAL,
        trace_like.SETS,
        "As large as StaN's universes from LiveJournal (L0-L8) and Wikipedia (W0-W8).",
    ),
}
