"""`ropewalk generate MODEL`: make a workload up and store it."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.talk import Talk, opening_line, show_json
from ropewalk.errors import UsageError
from ropewalk.tables.store import Manifest, Store, digest_of, drafted
from ropewalk.workloads.catalogue import MODELS
from ropewalk.workloads.contract import Model
from ropewalk.workloads.grid import SETS
from ropewalk.workloads.write import write_workload


class Models(click.Group):
    """One subcommand per model."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of a model."""
        if cmd_name not in MODELS:
            raise UsageError(f"model {cmd_name!r} is not known; choose one of: {', '.join(sorted(MODELS))}.")
        return super().get_command(ctx, cmd_name)


@click.group(cls=Models)
def command() -> None:
    r"""Make a workload up.

    \b
    Example:  ropewalk generate grid --set G --nodes 2000 --topics 200 --seed 7 --out universe
    """


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
) -> None:  # fmt: skip
    """Nodes and topics on a plane: a node subscribes to what lies within its radius of interest."""
    chosen = SETS[set_name]
    model = replace(
        chosen,
        nodes=chosen.nodes if nodes is None else nodes,
        topics=chosen.topics if topics is None else topics,
    )
    talk = Talk()
    document = make(model, seed, out, overwrite=overwrite, master=master, talk=talk)
    if as_json:
        show_json(document)
    else:
        counts = f"{document['nodes']} nodes, {document['topics']} topics, {document['subscriptions']} subscriptions"
        print(f"{out}: {document['universe']}, {counts}")


def make(model: Model, seed: int, out: Path, *, overwrite: bool, master: str | None, talk: Talk) -> dict[str, Any]:
    """Generate a workload into a new store; the answer is what `--json` prints."""
    settings = {"model": model.name} | asdict(model)  # type: ignore[call-overload]  # a Model is a dataclass
    opening_line(seed, settings, out)
    manifest = Manifest(
        name=f"{model.name}-{digest_of([settings, seed])}",
        made_by=f"generate {model.name}",
        seed=seed,
        settings=settings,
        defaults={"overlay": model.overlay, "connectivity": model.connectivity},
    )
    with (
        drafted(out, manifest, overwrite=overwrite) as draft,
        spark_for(talk, master) as spark,
        talk.phase(f"generate {model.name}"),
    ):
        counts = write_workload(draft, model.subscriptions(spark, seed), source=model.name, rule="generated")
    return {
        "universe": manifest.name,
        "model": model.name,
        "seed": seed,
        **counts,
        "digest": Store.open(out).manifest.digest,
        "out": str(out),
        "seconds": talk.seconds,
    }
