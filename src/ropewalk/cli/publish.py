"""`ropewalk publish`: every line on standard input becomes an event."""

import io
import json
import os
import sys
from functools import partial
from typing import Any

import click

from ropewalk.cli.nodes import node_of, of_nodes, watch_of, watchable
from ropewalk.cli.talk import say
from ropewalk.engines.live.loops import run
from ropewalk.engines.live.pipes import About, events, publish_lines
from ropewalk.errors import RunError, UsageError

LOT = 65_536  # bytes


@click.command(epilog="Example: echo hello | ropewalk publish news --bootstrap 127.0.0.1:7000")
@click.argument("topics", nargs=-1, metavar="TOPIC...")
@click.option(
    "--content", metavar="JSON", help='With kato, in place of topics: what events say, {"stock": "ACME", "price": 12}.'
)
@click.option("--message", metavar="TEXT", help="Publish this instead of what is on standard input.")
@click.option(
    "--json-lines",
    is_flag=True,
    help='Lines are JSON: {"payload": "..."} or {"payload64": "..."}, and "topics" or "content" if they differ.',
)
@watchable
@of_nodes
def command(topics: tuple[str, ...], content: str | None, message: str | None, json_lines: bool, **told: Any) -> None:
    """Publish every line of standard input as an event, on all TOPICs, or with what it says by name; then leave.

    Exit code 4 if an event did not get into one of its topics: nobody there could be reached.
    """
    if message is not None and json_lines:
        raise UsageError("--message and --json-lines exclude each other; drop one.")
    if bool(topics) == (content is not None) and not (json_lines and not topics):
        raise UsageError("say the topics of events, or with --content what they say; one of them.")
    about = About(topics, _content(content) if content is not None else None)
    node, said = node_of(told)
    node.check(content=about.content)
    if not said.get("bootstrap"):
        raise UsageError("nobody would hear it: add --bootstrap HOST:PORT of a node that is there.")
    if message is None and sys.stdin is None:
        raise UsageError("standard input is closed, so there is nothing to publish; say it with --message.")
    said_so = io.BytesIO(
        (message or "").encode(errors="surrogateescape")
    )  # the bytes that were typed, whatever they are
    whole = message is not None
    read = partial(said_so.read, LOT) if whole else partial(os.read, sys.stdin.fileno(), LOT)
    publishing = publish_lines(node, read, about, as_json=json_lines, whole=whole, failed=say, watch=watch_of(said))
    published, lost, stopped = run(publishing)
    if stopped:
        say(f"interrupted after {events(published)}: what came after that was not published.")
        raise click.exceptions.Exit(128 + stopped)
    if lost:
        one = published == 1
        raise RunError(
            f"{'the event' if one else f'{lost} of {published} events'} did not get into all {'its' if one else 'their'} topics."
        )
    unwanted = node.counts["unwanted"]
    known = f"; {unwanted} of them nobody was found to want" if unwanted else ""
    say(f"published {events(published)}{known}.")


def _content(said: str) -> dict[str, Any]:
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UsageError(f"--content is {said!r}, but must be JSON: attributes by name.")
    return found
