"""`ropewalk node`: a live node that runs until it is told to stop."""

import json
from typing import Any

import click

from ropewalk.cli.nodes import node_of, of_nodes, say_where, watch_of, watchable
from ropewalk.cli.talk import say
from ropewalk.engines.live.api import Node
from ropewalk.engines.live.loops import run
from ropewalk.engines.live.pipes import run_until_stopped


@click.command(
    epilog="Example: ropewalk node --listen 127.0.0.1:7000 --subscribe news. Ctrl-C or SIGTERM: it says good-bye, and leaves."
)
@click.option(
    "--subscribe", metavar="TOPIC", multiple=True, help="A topic to follow and pass on; may be given several times."
)
@click.option(
    "--where", metavar="FILTER", multiple=True, help="With kato: what to want and pass on; may be given several times."
)
@watchable
@of_nodes
def command(**told: Any) -> None:
    """Run a node until it is told to stop. Prints who and where it is, as one line of JSON."""
    node, said = node_of(told)
    for where in said.get("where", ()):
        node.check(where=where)

    def ready(node: Node) -> None:
        print(json.dumps({"id": node.id, "address": node.address, "public_key": node.public_key}), flush=True)
        for topic in said.get("subscribe", ()):
            node.subscribe(topic, when_full="discard")
        for where in said.get("where", ()):
            node.subscribe(where=where, when_full="discard")
        say_where(node)

    run(run_until_stopped(node, ready, watch_of(said), say))
    say("left.")
