"""Options of the verbs that run a live node, and the node that they describe."""

import os
import stat
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from ropewalk.cli import options
from ropewalk.cli.talk import say
from ropewalk.engines.live.addresses import MOST_PORT, place
from ropewalk.engines.live.api import Node
from ropewalk.engines.live.identity import ClusterCertificate
from ropewalk.engines.live.options import LIVE, Options, is_here, is_public_key
from ropewalk.engines.live.watched import Watch
from ropewalk.errors import InputError, UsageError
from ropewalk.protocols.catalogue import ON_SOCKETS
from ropewalk.protocols.stan.settings import NAME

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)
KNOWN = {  # what a configuration may say, and what kind of thing that is
    "listen": str, "bootstrap": list, "subscribe": list, "advertise": str, "identity": str, "secret_file": str, "allow_file": str,
    "authority": str, "certificate": str, "key": str, "sign": bool, "heartbeat": float, "period": float, "metrics": int,
    "telemetry": str, "protocol": str, "space": str, "where": list,
}  # fmt: skip
PATHS = ("identity", "secret_file", "allow_file", "authority", "certificate", "key", "telemetry")


def of_nodes(command: Command) -> Command:
    """Where a node is, whom it knows, who it is, and whom it lets in."""
    return options.each(
        [
            click.option("--listen", metavar="HOST:PORT|none", help="Where others can call; port 0 is any that is free; none: it only calls.  [default: 127.0.0.1:0]"),
            click.option("--bootstrap", metavar="HOST:PORT", multiple=True, help="A node that is there; may be given several times."),
            click.option("--advertise", metavar="HOST[:PORT]", help="Where others reach it, if not where it listens."),
            click.option("--identity", type=FILE, metavar="DIR", help="Where its key is kept, made if there is none.  [default: a new key every time]"),
            click.option("--secret-file", type=FILE, help="What all nodes of the network share: others do not get in."),
            click.option("--allow-file", type=FILE, help="Public keys, one a line, of the nodes that it talks to."),
            click.option("--authority", type=FILE, help="The certificate that has signed those of all nodes; with --certificate and --key."),
            click.option("--certificate", type=FILE, help="This node's certificate."),
            click.option("--key", type=FILE, help="Its Ed25519 key."),
            click.option("--sign/--no-sign", default=None, help="Sign what it publishes.  [default: off]"),
            click.option("--protocol", metavar="NAME", help=f"How nodes find each other, the same at all of them: {', '.join(ON_SOCKETS)}.  [default: {NAME}]"),
            click.option("--space", metavar="SPACE", help="With kato: how what events say is cut into cells, the same at all of them: stock:64,price:0:100:16."),
            click.option("--heartbeat", type=float, help="Seconds within which it says that it lives.  [default: 1]"),
            click.option("--period", type=float, help=f"Seconds from one walk, or heartbeat on rings, to the next.  [default: {LIVE.period:g}]"),
            click.option("--config", type=FILE, help="A TOML file that says all of this; what is given besides counts more."),
            options.debug,
        ]
    )(command)  # fmt: skip


def watchable(command: Command) -> Command:
    """What it does may be written, and shown."""
    return options.each(
        [
            click.option("--metrics", type=click.IntRange(0, MOST_PORT), metavar="PORT", help="Answer /metrics and /health there, on this machine only."),
            click.option("--telemetry", type=FILE, metavar="FILE", help="Write what happens, as lines of JSON."),
        ]
    )(command)  # fmt: skip


def watch_of(said: dict[str, Any]) -> Watch:
    """How a node is to be watched."""

    def shown(port: int) -> None:
        say(f"metrics at http://127.0.0.1:{port}/metrics, health at /health.")

    return Watch(said.get("telemetry"), said.get("metrics"), shown)


def node_of(told: dict[str, Any]) -> tuple[Node, dict[str, Any]]:
    """The node that is described, and all that is said about it."""
    said = _configured(told.pop("config", None)) | {
        name: value for name, value in told.items() if value not in (None, ())
    }
    listen = said.get("listen", "127.0.0.1:0")
    cluster = _cluster(said)
    chosen: dict[str, Any] = {
        name: said[name] for name in ("identity", "advertise", "sign", "heartbeat", "protocol", "space") if name in said
    }
    if "secret_file" in said:
        chosen["secret"] = _secret(said["secret_file"])
    if "allow_file" in said:
        chosen["allow"] = _allowed(said["allow_file"])
    node_options = Options(cluster=cluster, **chosen)
    if "period" in said:
        node_options = replace(node_options, settings=replace(node_options.settings, period=said["period"]))
    return Node(None if listen == "none" else listen, said.get("bootstrap", ()), node_options), said


def say_where(node: Node) -> None:
    """That it runs, and where; and who gets in, if that may be more than somebody thinks."""
    options = node.options
    everybody = not options.secret and options.allow is None and options.cluster is None
    if node.address and everybody and not is_here(place(node.address)[0]):
        say("everybody who reaches this node gets in: --secret-file, --allow-file or --authority say who may.")
    say(f"node {node.id} at {node.address or 'no address: it only calls others'}; Ctrl-C to leave.")


def _configured(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        said = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is no TOML: {error}.") from None
    found: dict[str, Any] = {}
    for name, value in said.items():
        key = name.replace("-", "_")
        if key not in KNOWN:
            raise InputError(f"{path} says {name!r}, which means nothing here; it may say: {', '.join(KNOWN)}.")
        kind = KNOWN[key]
        if not isinstance(value, (int, float) if kind is float else kind) or (
            kind in (float, int) and isinstance(value, bool)
        ):
            raise InputError(f"{path} says {name} = {value!r}, which must be {_words(kind)}.")
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise InputError(f"{path} says {name} = {value!r}, which must be a list of texts in quotes.")
        if key == "metrics" and value not in range(MOST_PORT + 1):
            raise InputError(f"{path} says {name} = {value}, which must be a port, from 0 to {MOST_PORT}.")
        found[key] = path.parent / str(value) if key in PATHS else value
    return found


def _words(kind: type) -> str:
    return {
        str: "a text in quotes", list: "a list", bool: "true or false", float: "a number", int: "a whole number",
    }[kind]  # fmt: skip


def _cluster(said: dict[str, Any]) -> ClusterCertificate | None:
    given = [name for name in ("authority", "certificate", "key") if name in said]
    if not given:
        return None
    if len(given) < 3:  # noqa: PLR2004  all of them
        raise UsageError(f"--{given[0]} alone does not do: give --authority, --certificate and --key.")
    return ClusterCertificate(said["authority"], said["certificate"], said["key"])


def _allowed(path: Path) -> frozenset[str]:
    """Public keys, one a line; what follows a # is for readers."""
    found = set()
    for number, line in enumerate(_text(path).splitlines(), 1):
        key = line.partition("#")[0].strip()
        if key and not is_public_key(key):
            raise InputError(f"{path}, line {number}: {key!r} is no public key: it takes 64 hex digits.")
        found.update([key] if key else [])
    if not found:
        raise InputError(f"{path} names no public key, so nobody could get in.")
    return frozenset(found)


def _secret(path: Path) -> bytes:
    secret = _text(path).strip().encode()
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        raise InputError(f"{path} can be read by others; chmod 600 it.")
    if not secret:
        raise InputError(f"{path} is empty, but must hold the network's secret.")
    return secret


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text.") from None
