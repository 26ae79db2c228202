"""The universes that claims of both papers are measured on, and the runs on them: asked for here, so that they are shared."""

from collections.abc import Iterable
from dataclasses import replace

from ropewalk.engines.contract import Keep, stage_after
from ropewalk.papers.contract import Scale
from ropewalk.papers.lab import Lab, Run, Universe
from ropewalk.workloads import grid, trace_like

STAN = "StaN (journal)"
WORKSHOP = "StAN (workshop)"

ROUNDS = 8  # StaN 3.3; StAN does not say, and its figure 2 goes no further
TTL = 5  # StAN 3; StaN says "on the order of the overlay diameter"
FITTED_ROUNDS = {"G": 5, "F": 7}  # StAN prints no number of rounds: it was fitted with the set (docs/papers/stan.md)

Cell = tuple[int, int]
FIRST_CELL: Cell = (1000, 100)
CORNERS: list[Cell] = [(1000, 100), (1000, 300), (3000, 100), (3000, 300)]  # the four of StAN's figure 2
CELLS: dict[Scale, list[Cell]] = {
    "small": CORNERS,
    "paper": [(nodes, topics) for nodes in (1000, 2000, 3000) for topics in (100, 200, 300)],
}
MILD, MEDIUM, STRONG = 0.1, 0.5, 0.95  # correlation of trace-like universes; StaN prints none, so it is swept


def grid_universe(lab: Lab, name: str, cell: Cell, seed: int) -> Universe:
    """A grid universe of a fitted set, of any size."""
    model = replace(grid.SETS[name], nodes=cell[0], topics=cell[1])
    return lab.made(f"set {name}, {cell[0]} x {cell[1]}", model, seed)


def workshop_run(lab: Lab, name: str, cell: Cell, seed: int) -> Run:
    """StAN on a grid universe, round by round; on the first cell with its physical graph."""
    keep: set[Keep] = {"rounds", "connections"} if cell == FIRST_CELL and name == "G" else {"rounds"}
    return lab.run(grid_universe(lab, name, cell, seed), seed, keep=keep, rounds=ROUNDS, ttl=TTL)


def stage_of(name: str) -> str:
    """The stage at which StAN's tables are compared, on this set."""
    return stage_after(FITTED_ROUNDS[name], ROUNDS)


def like_trace(lab: Lab, name: str, correlation: float, seed: int, **more: float) -> Universe:
    """A universe of the size of one of StaN's, as correlated as asked for."""
    usual = trace_like.SETS[name]
    model = replace(usual, correlation=correlation, **more)  # type: ignore[arg-type]
    # What is as usual goes unsaid: one universe has one title, whoever asks for it first.
    unusual = {what: value for what, value in more.items() if value != getattr(usual, what)}
    said = "".join(f", {what.replace('_', ' ')} {value:g}" for what, value in unusual.items())
    return lab.made(f"{name}-like, correlation {correlation:g}{said}", model, seed)


def journal_run(lab: Lab, universe: Universe, seed: int, keep: Iterable[Keep] = ()) -> Run:
    """StaN as the journal paper ran it, with the views of its 0.99 rule."""
    return lab.run(universe, seed, keep=keep, rounds=ROUNDS, ttl=TTL)


# Public traces that leave a universe large enough to decide, and how many seed topics it is cut from. StaN chose the
# median of 100 candidates; a few are enough where one run is.
DECIDING_TRACES = ("livejournal", "gowalla", "github", "youtube")
TRACE_SEEDS = 1000
CANDIDATES: dict[Scale, int] = {"small": 9, "paper": 100}


def cut_traces(lab: Lab, scale: Scale, seeds: int = TRACE_SEEDS) -> dict[str, Universe]:
    """A universe of each public trace that is there."""
    cut = {trace: lab.cut(trace, seeds, CANDIDATES[scale]) for trace in DECIDING_TRACES}
    return {trace: universe for trace, universe in cut.items() if universe is not None}
