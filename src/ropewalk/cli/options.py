"""Options that several verbs take, said once."""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import click

from ropewalk.errors import UsageError
from ropewalk.parameters import HELP

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])

FOLDER = click.Path(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print exactly one JSON document on standard output.")
debug = click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")


def seeded(about: str) -> Callable[[Command], Command]:
    """--seed, and what is the same where that is."""
    return click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help=about)


seed = seeded("Same seed, same result.")
overwrite = click.option("--overwrite", is_flag=True, help="Replace what is already there.")
master = click.option(
    "--master",
    metavar="URL",
    help="Where Spark runs: local[2], spark://host:7077, sc://host. [default: all cores here]",
)


def common(command: Command) -> Command:
    """--json, --debug, --master."""
    return as_json(master(debug(command)))


def of_fields(
    parameters: object, usually: dict[str, str] | None = None, without: Iterable[str] = ()
) -> list[Callable[[Command], Command]]:
    """An option for each field of a dataclass that has a sentence to say for itself; None where it is not given.

    `usually` says what happens then to those fields for which it is not the field's own default; `without` leaves some out.
    """
    types = get_type_hints(type(parameters))
    found: list[Callable[[Command], Command]] = []
    for each in fields(cast("Any", parameters)):
        if HELP not in each.metadata or each.name in without:
            continue
        name, type_, usual = f"--{each.name.replace('_', '-')}", types[each.name], getattr(parameters, each.name)
        usual = (usually or {}).get(each.name, usual)
        said = each.metadata[HELP] + ("" if usual in (None, "") else f"  [default: {_shown(usual)}]")
        if isinstance(type_, UnionType):  # of a type and None
            type_ = get_args(type_)[0]
        if type_ is bool:
            found.append(click.option(f"{name}/--no-{name[2:]}", each.name, default=None, help=said))
        elif get_origin(type_) is Literal:
            found.append(click.option(name, each.name, type=click.Choice(get_args(type_)), help=said))
        else:
            found.append(click.option(name, each.name, type=type_, help=said))
    return found


def each(found: list[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """Several options as one decorator, listed in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed(found):
            command = option(command)
        return command

    return decorate


def _shown(usual: object) -> str:
    return {True: "on", False: "off"}.get(usual, str(usual)) if isinstance(usual, bool) else str(usual)


def told(parameters: T, given: dict[str, Any]) -> T:
    """The parameters with what was given in place of what is usual."""
    return cast(
        "T", replace(cast("Any", parameters), **{name: value for name, value in given.items() if value is not None})
    )


class Choices(click.Group):
    """A subcommand for each entry of a catalogue, made when it is asked for."""

    def __init__(
        self, *, what: str, names: Iterable[str], command_of: Callable[[str], click.Command], **more: Any
    ) -> None:
        super().__init__(**more)
        self._what, self._names, self._command_of = what, sorted(names), command_of

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 (click's signature)
        """The subcommand of an entry."""
        if cmd_name not in self._names:
            raise UsageError(f"{self._what} {cmd_name!r} is not known; choose one of: {', '.join(self._names)}.")
        return self._command_of(cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All entries."""
        return self._names
