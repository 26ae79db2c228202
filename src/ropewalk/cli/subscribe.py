"""`ropewalk subscribe`: every event becomes a line on standard output."""

import sys
from typing import Any, get_args

import click

from ropewalk.cli.nodes import node_of, of_nodes, say_where, watch_of, watchable
from ropewalk.cli.talk import say
from ropewalk.engines.live.arrived import Event
from ropewalk.engines.live.loops import run
from ropewalk.engines.live.pipes import as_line, events, write_events
from ropewalk.engines.live.subscriptions import BUFFER, Subscription, WhenFull
from ropewalk.errors import UsageError


@click.command(epilog="Example: ropewalk subscribe news --listen 127.0.0.1:7000")
@click.argument("topics", nargs=-1, metavar="TOPIC...")
@click.option(
    "--where",
    metavar="FILTER",
    multiple=True,
    help="With kato, in place of topics; several are alternatives: 'stock == \"ACME\" and 10 <= price < 20'.",
)
@click.option("--count", type=click.IntRange(1), metavar="N", help="Leave after so many events.  [default: never]")
@click.option("--json-lines", is_flag=True, help="Write events as JSON: who published, on which topics, and what.")
@click.option("--signed", is_flag=True, help="Take signed events only.")
@click.option(
    "--buffer", type=click.IntRange(1), default=BUFFER, show_default=True, help="Events that may wait to be written."
)
@click.option(
    "--when-full",
    type=click.Choice([each for each in get_args(WhenFull) if each != "discard"]),
    default="wait",
    show_default=True,
    help="What to do about more.",
)
@watchable
@of_nodes
def command(
    topics: tuple[str, ...],
    where: tuple[str, ...],
    count: int | None,
    json_lines: bool,
    signed: bool,
    buffer: int,
    when_full: WhenFull,
    **told: Any,
) -> None:
    """Write every event to standard output that is on one of TOPICs, or that a filter wants, one a line, until told to stop."""
    node, said = node_of(told | {"where": where})
    filters = said.get("where", ())
    topics = topics or tuple(said.get("subscribe", ()))
    if not topics and not filters:
        raise UsageError("say which topics, or with --where what events must say.")
    for each in filters:
        node.check(where=each)
    any_of = " or ".join(f"({each})" for each in filters) if filters else None

    def subscribe() -> Subscription:
        say_where(node)
        return node.subscribe(*topics, where=any_of, buffer=buffer, when_full=when_full, signed=signed)

    def as_bytes(event: Event) -> bytes:
        return as_line(event) if json_lines else event.payload

    if sys.stdout is None:
        raise UsageError("standard output is closed, so events cannot be written; give it something to write to.")
    got, dropped, unwritten = run(write_events(node, subscribe, as_bytes, count, watch_of(said), say))
    lost = [f", {count} {what}" for count, what in ((dropped, "dropped"), (unwritten, "not written")) if count]
    say(f"{events(got)}{''.join(lost)}; left.")
