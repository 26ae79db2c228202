"""`ropewalk dashboard FOLDER`: running nodes, or a recorded run, in the browser."""

import json
from pathlib import Path
from typing import Any

import click

from ropewalk.cli import options
from ropewalk.cli.nodes import node_of, of_nodes
from ropewalk.cli.talk import say
from ropewalk.dashboard.replay import FASTEST, SLOWEST
from ropewalk.dashboard.running import Place, Served, Shown, fresh_token, serve_until_stopped
from ropewalk.engines.live.options import is_here
from ropewalk.errors import InputError, UsageError


@click.command(
    epilog="Example: ropewalk node --telemetry live/a.jsonl --subscribe news, and in another terminal ropewalk dashboard live."
)
@click.argument("folder", metavar="FOLDER", type=options.FOLDER)
@click.option(
    "--replay", is_flag=True, help="Play a recorded folder by the times in it, from when the first page is there."
)
@click.option("--speed", type=click.FloatRange(SLOWEST, FASTEST), help="With --replay: how fast.  [default: 1]")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Where it is served; 0 is any that is free.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="At which address; others than this machine's let others look.",
)
@click.option(
    "--name",
    "names",
    metavar="HOST",
    multiple=True,
    help="Under which name a proxy with TLS has it, if one does; several are given one by one.",
)
@click.option("--token", help="What whoever looks must know.  [default: a new one every time]")
@click.option("--no-token", is_flag=True, help="Everybody on this machine may look.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON with the address.")
@of_nodes  # fmt: skip
def command(
    folder: Path,
    replay: bool,
    speed: float | None,
    port: int,
    host: str,
    names: tuple[str, ...],
    token: str | None,
    no_token: bool,
    as_json: bool,
    **told: Any,
) -> None:
    """Show running nodes, or a recorded run, in the browser: those that write their telemetry into FOLDER (*.jsonl), or have done so.

    With --bootstrap a node of its own publishes what is typed into the page. Ends with 0 at Ctrl-C.
    """
    if token is not None and no_token:
        raise UsageError("--token and --no-token exclude each other; drop one.")
    if speed is not None and not replay:
        raise UsageError("--speed plays no part without --replay; add it, or drop --speed.")
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give one into which nodes write (--telemetry {folder}/a.jsonl).")
    place = Place(host=host, port=port, token=None if no_token else token or fresh_token(), names=names)
    shown = _shown(folder, told, replay=replay, speed=speed or 1.0)
    served = Served(place)

    def ready() -> None:
        if as_json:
            print(json.dumps({"url": served.url}), flush=True)
        if not is_here(host):
            say(
                f"warning: {host} can be reached by others, and what they see is not encrypted; the token is all that keeps them out."
            )
        say(f"dashboard, until Ctrl-C: {served.url}")

    serve_until_stopped(served, shown, ready, say)


def _shown(folder: Path, told: dict[str, Any], *, replay: bool, speed: float) -> Shown:
    given = [name for name, value in told.items() if value not in (None, ())]
    if replay and given:
        raise UsageError(f"--{given[0].replace('_', '-')} plays no part with --replay: what is over is over; drop one.")
    if replay:
        return Shown(folder=folder, replay=True, speed=speed, why_not="this is a replay: what is over is over")
    if not given:
        return Shown(folder=folder)
    node, said = node_of(told)
    if not said.get("bootstrap"):
        raise UsageError(f"--{given[0].replace('_', '-')} plays no part without --bootstrap HOST:PORT; add it.")
    return Shown(folder=folder, make=lambda: node)
