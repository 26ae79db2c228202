"""Every table, declared once: what one row is, its key, its columns, and what its rows must refer to.

Standard library only, so that a live node and a Spark job can both import it.
"""

from dataclasses import dataclass
from typing import Literal

Type = Literal["long", "double", "string", "boolean", "longs"]


@dataclass(frozen=True, slots=True)
class Reference:
    """Each value of `columns` occurs in `columns_there` of table `table`, where that table is in the same store."""

    columns: tuple[str, ...]
    table: str
    columns_there: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The declaration of one table. Key columns are never null; no two rows have the same key."""

    name: str
    row_is: str  # completes the sentence "one row is ..."
    key: tuple[str, ...]
    columns: dict[str, Type]
    references: tuple[Reference, ...] = ()
    large: bool = False  # written on request only, with a key that is unique by construction: not checked on writing


SUBSCRIPTIONS = Table(
    name="subscriptions",
    row_is="one node's standing interest in one topic",
    key=("node", "topic"),
    columns={"node": "long", "topic": "long"},
    references=(Reference(("node",), "names", ("id",)), Reference(("topic",), "names", ("id",))),
)

NAMES = Table(
    name="names",
    row_is="the external name of an id; kind is 'node' or 'topic'",
    key=("kind", "id"),
    columns={"kind": "string", "id": "long", "name": "string"},
)

TOPICS = Table(
    name="topics",
    row_is="what is known of a topic besides its subscribers: how often somebody publishes on it (per day where a source has times)",
    key=("topic",),
    columns={"topic": "long", "rate": "double"},
    references=(Reference(("topic",), "names", ("id",)),),
)

FILTERS = Table(
    name="filters",
    row_is="one condition of a node's content filter: the attribute lies between low and high, or equals value",
    key=("node", "filter", "attribute"),
    columns={
        "node": "long",
        "filter": "long",
        "attribute": "string",
        "low": "double",
        "high": "double",
        "value": "string",
    },
    references=(Reference(("node",), "names", ("id",)),),
)

PUBLICATIONS = Table(
    name="publications",
    row_is="one event: who published it, on which topics, how large, when (in seconds), and what it said",
    key=("run", "event"),
    columns={
        "run": "string",
        "event": "long",
        "publisher": "long",
        "topics": "longs",
        "size": "long",
        "at": "double",
        "content": "string",
    },
    references=(Reference(("publisher",), "names", ("id",)),),
)

REJECTS = Table(
    name="rejects",
    row_is="one piece of an input file that could not be used, where it stands, how it begins, and why",
    key=("file", "position"),
    columns={"file": "string", "position": "long", "text": "string", "reason": "string"},
)

UNIVERSES = Table(
    name="universes",
    row_is="one closed population of nodes, topics and subscriptions",
    key=("universe",),
    columns={
        "universe": "string",
        "source": "string",
        "rule": "string",
        "seed": "long",
        "nodes": "long",
        "topics": "long",
        "subscriptions": "long",
    },
)

RUNS = Table(
    name="runs",
    row_is="one execution of a protocol on a universe with one seed; settings is a JSON object",
    key=("run",),
    columns={
        "run": "string",
        "universe": "string",
        "protocol": "string",
        "settings": "string",
        "engine": "string",
        "seed": "long",
        "version": "string",
        "digest": "string",
    },
)

_OF_A_RUN = Reference(("run",), "runs", ("run",))

VIEWS = Table(
    name="views",
    row_is=(
        "one node at one stage: its links (lvs), the distinct nodes it holds (pvs), the distinct nodes that hold it"
        " (in_links), and its neighbours in either direction (connections)"
    ),
    key=("run", "stage", "node"),
    columns={
        "run": "string",
        "stage": "string",
        "node": "long",
        "lvs": "long",
        "pvs": "long",
        "connections": "long",
        "in_links": "long",
    },
    references=(_OF_A_RUN,),
)

OVERLAYS = Table(
    name="overlays",
    row_is=(
        "one topic's overlay at one stage: its size, its weak and strong components, its mean clustering coefficient,"
        " its diameter over reachable pairs (above 10,000 members a lower bound, with an upper one beside it), how many"
        " members nobody holds, and the messages sent on it since the stage before with the ids in them (null: not asked"
        " for)"
    ),
    key=("run", "stage", "topic"),
    columns={
        "run": "string",
        "stage": "string",
        "topic": "long",
        "members": "long",
        "links": "long",
        "weak": "long",
        "strong": "long",
        "clustering": "double",
        "diameter": "long",
        "in_degree_0": "long",
        "diameter_at_most": "long",
        "messages": "long",
        "ids": "long",
    },
    references=(_OF_A_RUN,),
)

TREES = Table(
    name="trees",
    row_is=(
        "one topic's tree at one stage: who follows it, the nodes in the tree, those of them that relay without following"
        " (one may be the root), links from the root to the farthest and, in the mean, to who follows, how much is published on"
        " it, and, of the batch engine only, where trees grow from the middle: followers that did not begin at the root, and"
        " nodes on no greedy way"
    ),
    key=("run", "stage", "topic"),
    columns={
        "run": "string",
        "stage": "string",
        "topic": "long",
        "members": "long",
        "nodes": "long",
        "relays": "long",
        "strange_root": "boolean",
        "depth": "long",
        "hops": "double",
        "rate": "double",
        "grafts": "long",
        "strays": "long",
    },
    references=(_OF_A_RUN,),
)

RELAYS = Table(
    name="relays",
    row_is="one node in the trees of all topics at one stage: what is published on those that it relays and does not follow"
    " (load), and its children over all of them",
    key=("run", "stage", "node"),
    columns={"run": "string", "stage": "string", "node": "long", "load": "double", "children": "long"},
    references=(_OF_A_RUN, Reference(("run", "stage", "node"), "views", ("run", "stage", "node"))),
)

ROUTING = Table(
    name="routing",
    row_is=(
        "one node's routing table at one stage: how many cells it wants and bits its id has, its links by kind, nodes that hold it"
        " and that it does not hold (incoming), links to who wants the same (ring), how many these are with itself (alike), whether"
        " it stands for them (primary), messages of events that came to it, and events among them that it does not want"
    ),
    key=("run", "stage", "node"),
    columns={
        "run": "string",
        "stage": "string",
        "node": "long",
        "cells": "long",
        "bits": "long",
        "covering": "long",
        "covered": "long",
        "neighbours": "long",
        "incoming": "long",
        "ring": "long",
        "alike": "long",
        "primary": "boolean",
        "received": "long",
        "unwanted": "long",
    },
    references=(_OF_A_RUN, Reference(("run", "stage", "node"), "views", ("run", "stage", "node"))),
)

SPREADS = Table(
    name="spreads",
    row_is=(
        "one event of the batch engine: nodes that want it, those of them that it reached, nodes that it reached though they do not"
        " want it, since it is in a cell of theirs (by_cell) or only has bits of theirs (by_bits), links to those that want it"
        " (depth: summed up; deepest), messages in all, those of them that brought it to the first that matches (routed), and"
        " whether there was no way to one (lost)"
    ),
    key=("run", "event"),
    columns={
        "run": "string",
        "event": "long",
        "wanted": "long",
        "delivered": "long",
        "by_cell": "long",
        "by_bits": "long",
        "depth": "long",
        "deepest": "long",
        "messages": "long",
        "routed": "long",
        "lost": "boolean",
    },
    references=(_OF_A_RUN, Reference(("run", "event"), "publications", ("run", "event"))),
)

CRASHES = Table(
    name="crashes",
    row_is=(
        "one topic's overlay at one stage after some of the nodes crashed (crash says how many and which): how many"
        " members survive, the mean share of them that an event of one reaches when links carry events one way and two"
        " ways, and how far off the first is at most (0: exact)"
    ),
    key=("run", "stage", "topic", "crash"),
    columns={
        "run": "string",
        "stage": "string",
        "topic": "long",
        "crash": "string",
        "survivors": "long",
        "one_way": "double",
        "two_way": "double",
        "bound": "double",
    },
    references=(_OF_A_RUN, Reference(("run", "stage", "topic"), "overlays", ("run", "stage", "topic"))),
)

LINKS = Table(
    name="links",
    row_is="a node that holds a neighbour in its view for one topic",
    key=("run", "stage", "node", "topic", "neighbour"),
    columns={"run": "string", "stage": "string", "node": "long", "topic": "long", "neighbour": "long"},
    references=(
        _OF_A_RUN,
        Reference(("run", "stage", "node"), "views", ("run", "stage", "node")),
        Reference(("run", "stage", "neighbour"), "views", ("run", "stage", "node")),
        Reference(("run", "stage", "topic"), "overlays", ("run", "stage", "topic")),
    ),
    large=True,
)

CONNECTIONS = Table(
    name="connections",
    row_is="two nodes that hold a physical link, once, with a < b, and how many logical links share it",
    key=("run", "stage", "a", "b"),
    columns={"run": "string", "stage": "string", "a": "long", "b": "long", "links": "long"},
    references=(
        _OF_A_RUN,
        Reference(("run", "stage", "a"), "views", ("run", "stage", "node")),
        Reference(("run", "stage", "b"), "views", ("run", "stage", "node")),
    ),
    large=True,
)

TRAFFIC = Table(
    name="traffic",
    row_is="all messages of one kind that a node sent since the stage before, which ended at `at` seconds",
    key=("run", "node", "kind", "at"),
    columns={"run": "string", "node": "long", "kind": "string", "at": "double", "messages": "long", "bytes": "long"},
    references=(_OF_A_RUN,),
)

DELIVERIES = Table(
    name="deliveries",
    row_is="one event first reaching one node: over how many links, when (in seconds), how many copies came in all, and"
    " whether it was owed to a node that had followed one of its topics for long enough, or is a replay for a late one",
    key=("run", "event", "node"),
    columns={
        "run": "string",
        "event": "long",
        "node": "long",
        "hops": "long",
        "at": "double",
        "copies": "long",
        "owed": "boolean",
    },
    references=(_OF_A_RUN, Reference(("run", "event"), "publications", ("run", "event"))),
)

MEASURES = Table(
    name="measures",
    row_is="one named number of one run; group says of what part, usually a stage; spread is a standard deviation",
    key=("run", "measure", "group"),
    columns={"run": "string", "measure": "string", "group": "string", "value": "double", "spread": "double"},
    references=(_OF_A_RUN,),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        SUBSCRIPTIONS,
        NAMES,
        TOPICS,
        FILTERS,
        PUBLICATIONS,
        REJECTS,
        UNIVERSES,
        RUNS,
        VIEWS,
        OVERLAYS,
        TREES,
        RELAYS,
        ROUTING,
        SPREADS,
        CRASHES,
        LINKS,
        CONNECTIONS,
        TRAFFIC,
        DELIVERIES,
        MEASURES,
    )
}
