"""`ropewalk universe DIR`: cut a self-contained universe out of a trace, as the papers did."""

from pathlib import Path

import click

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.talk import Talk, opening_line, show_json
from ropewalk.errors import UsageError
from ropewalk.experiments.universe import cut_universe, settings_of
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.store import Store
from ropewalk.universes.sample import ALL, Cut, Population, PruneCount, Rule


@click.command(
    epilog="Example: ropewalk universe trace --rule livejournal --seeds 1000 --out universe. wikipedia: everybody adds a"
    " random topic of theirs; livejournal: the topic of their own name; random-topics: nothing."
)
@click.argument("folder", metavar="DIR", type=options.FOLDER)
@click.option(
    "--rule",
    type=click.Choice(["wikipedia", "livejournal", "random-topics"]),
    required=True,
    help="What those who follow a seed add to the topics.",
)
@click.option("--seeds", required=True, metavar="K|all", help="Random topics to start from.")
@click.option(
    "--population",
    type=click.Choice(["seeds", "closed"]),
    default="seeds",
    show_default=True,
    help="The nodes: who follows a seed, or who follows any topic once users have added theirs.",
)
@click.option(
    "--prune-count",
    type=click.Choice(["inside", "trace"]),
    default="inside",
    show_default=True,
    help="The subscribers that count for pruning: those in the universe, or all in the trace.",
)
@click.option("--candidates", type=int, default=100, show_default=True, help="Universes to choose the median from.")
@click.option("--min-subscribers", type=int, help="Prune topics with fewer.  [default: 30; random-topics: 1]")
@options.seed
@click.option("--out", type=options.FOLDER, required=True, help="Folder to make.")
@options.overwrite
@options.common
def command(
    folder: Path,
    rule: Rule,
    seeds: str,
    population: Population,
    prune_count: PruneCount,
    candidates: int,
    min_subscribers: int | None,
    seed: int,
    out: Path,
    overwrite: bool,
    master: str | None,
    as_json: bool,
) -> None:
    """Cut a self-contained universe out of a trace, the store DIR: of many candidates, the median by topics per node."""
    trace = Store.open(folder)
    trace.folder_of(SUBSCRIPTIONS)
    cut = Cut(
        rule=rule,
        seeds=_seeds(seeds),
        population=population,
        prune_count=prune_count,
        candidates=candidates,
        min_subscribers=min_subscribers,
    )
    opening_line(seed, settings_of(trace, cut), out)
    talk = Talk()
    made = cut_universe(trace, cut, seed, out, overwrite=overwrite, session=spark_for(talk, master), phase=talk.phase)
    if as_json:
        show_json(made | {"seconds": talk.seconds})
        return
    ratios = sorted(each["ratio"] for each in made["candidates"])
    sizes = f"{made['nodes']} nodes, {made['topics']} topics, {made['subscriptions']} subscriptions"
    print(f"{out}: {made['universe']}, candidate {made['candidate']} of {candidates}, {sizes}")
    print(
        f"topics per node: {ratios[(len(ratios) - 1) // 2]:.4f}, of candidates from {ratios[0]:.4f} to {ratios[-1]:.4f}"
    )


def _seeds(said: str) -> int:
    if said == "all":
        return ALL
    if not said.isdigit() or int(said) < 1:
        raise UsageError(f"seeds is {said!r}, but must be a number of topics from 1, or `all`.")
    return int(said)
