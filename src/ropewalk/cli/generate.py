"""`ropewalk generate MODEL`: make a workload up and store it."""

from dataclasses import replace
from pathlib import Path

import click

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.talk import Talk, opening_line, show_json
from ropewalk.errors import UsageError
from ropewalk.experiments.workload import make_workload, settings_of
from ropewalk.workloads.catalogue import MODELS
from ropewalk.workloads.grid import SETS


class Models(click.Group):
    """One subcommand per model."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of a model."""
        if cmd_name not in MODELS:
            raise UsageError(f"model {cmd_name!r} is not known; choose one of: {', '.join(sorted(MODELS))}.")
        return super().get_command(ctx, cmd_name)


@click.group(
    cls=Models, epilog="Example: ropewalk generate grid --set G --nodes 2000 --topics 200 --seed 7 --out universe"
)
def command() -> None:
    """Make a workload up."""


@command.command("grid")
@click.option(
    "--set",
    "set_name",
    type=click.Choice(sorted(SETS)),
    default="G",
    show_default=True,
    help="Fitted parameters: G (StAN Table 2), F (also Table 1), E (no torus), fig6 (StaN Figure 6).",
)
@click.option("--nodes", type=int, help="How many nodes.  [default: as the set]")
@click.option("--topics", type=int, help="How many topics.  [default: as the set]")
@options.seed
@click.option("--out", type=options.FOLDER, required=True, help="Folder to make.")
@options.overwrite
@options.common
def grid(
    set_name: str,
    nodes: int | None,
    topics: int | None,
    seed: int,
    out: Path,
    overwrite: bool,
    master: str | None,
    as_json: bool,
) -> None:
    """Nodes and topics on a plane: a node subscribes to what lies within its radius of interest."""
    fitted = SETS[set_name]
    model = replace(
        fitted,
        nodes=fitted.nodes if nodes is None else nodes,
        topics=fitted.topics if topics is None else topics,
    )
    opening_line(seed, settings_of(model), out)
    talk = Talk()
    made = make_workload(model, seed, out, overwrite=overwrite, session=spark_for(talk, master), phase=talk.phase)
    if as_json:
        show_json(made | {"seconds": talk.seconds})
    else:
        counts = f"{made['nodes']} nodes, {made['topics']} topics, {made['subscriptions']} subscriptions"
        print(f"{out}: {made['universe']}, {counts}")
