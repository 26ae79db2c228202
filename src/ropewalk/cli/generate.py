"""`ropewalk generate MODEL`: make a workload up and store it. The options of a model are its fields."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.talk import Talk, opening_line, show_json
from ropewalk.experiments.workload import make_workload, settings_of
from ropewalk.workloads.catalogue import MODELS, Entry
from ropewalk.workloads.contract import Model
from ropewalk.workloads.rates import LAWS, Law, Rates


def _command_of(entry: Entry) -> click.Command:
    usual = entry.usual

    @click.option("--rates", type=click.Choice(LAWS), default="uniform", show_default=True, help="Of publication.")
    @click.option("--rate-exponent", type=float, default=0.75, show_default=True, help="Of the power law of rates.")
    @options.seed
    @click.option("--out", type=options.FOLDER, required=True, help="Folder to make.")
    @options.overwrite
    @options.common
    def generate(
        rates: Law,
        rate_exponent: float,
        seed: int,
        out: Path,
        overwrite: bool,
        master: str | None,
        as_json: bool,
        set_name: str | None = None,
        **told: Any,
    ) -> None:
        start = usual if set_name is None else entry.sets[set_name]
        _generate(options.told(start, told), Rates(rates, rate_exponent), seed, out, overwrite, master, as_json)

    described: Callable[..., Any] = generate
    for option in reversed(options.of_fields(usual)):
        described = option(described)
    if entry.sets:
        described = click.option("--set", "set_name", type=click.Choice(list(entry.sets)), help=entry.sets_are)(
            described
        )
    return click.command(usual.name, help=usual.sentence)(described)


command = options.Choices(
    name="generate",
    what="model",
    names=MODELS,
    command_of=lambda name: _command_of(MODELS[name]),
    help="Make a workload up.",
    epilog="Example: ropewalk generate grid --set G --nodes 2000 --topics 200 --seed 7 --out universe",
)


def _generate(
    model: Model, rates: Rates, seed: int, out: Path, overwrite: bool, master: str | None, as_json: bool
) -> None:
    opening_line(seed, settings_of(model, rates), out)
    talk = Talk()
    session = spark_for(talk, master)
    made = make_workload(model, seed, out, rates=rates, overwrite=overwrite, session=session, phase=talk.phase)
    if as_json:
        show_json(made | {"seconds": talk.seconds})
    else:
        counts = f"{made['nodes']} nodes, {made['topics']} topics, {made['subscriptions']} subscriptions"
        print(f"{out}: {made['universe']}, {counts}")
