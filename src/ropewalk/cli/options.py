"""Options that several verbs take, said once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

FOLDER = click.Path(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print exactly one JSON document on standard output.")
debug = click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
seed = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Same seed, same result."
)
overwrite = click.option("--overwrite", is_flag=True, help="Replace a store that is already there.")
master = click.option(
    "--master",
    metavar="URL",
    help="Where Spark runs: local[2], spark://host:7077, sc://host. [default: all cores here]",
)


def common(command: Command) -> Command:
    """--json, --debug, --master."""
    return as_json(master(debug(command)))
