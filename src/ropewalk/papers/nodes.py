"""A run of single messages as claims want it: a few numbers for every stage, with no table stored."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from ropewalk.engines.job import Job
from ropewalk.engines.live.run import stages_live
from ropewalk.engines.played import Played
from ropewalk.engines.sim.deliveries import Deliveries
from ropewalk.engines.sim.run import stages_of
from ropewalk.engines.stages import Longs, topic_columns
from ropewalk.engines.views import view_columns
from ropewalk.protocols.stan.kernel import Members


@dataclass(frozen=True, slots=True)
class NodesStage:
    """Means over the nodes that are there, and counts over all overlays that have members."""

    lvs: float
    pvs: float
    connections: float
    overlays: int
    weakly: int  # of them in one piece
    strongly: int
    held_by_nobody: int
    messages: int  # walks and replies since the stage before


@dataclass(frozen=True, slots=True)
class NodesRun:
    """All stages from the initial to the final, and all that was sent: kind -> (messages, bytes)."""

    nodes: int
    subscriptions: int
    stages: list[NodesStage]
    sent: dict[str, tuple[int, int]]
    events: dict[str, Any]  # what became of them, in the keys of a run's document
    held: dict[str, list[int]]  # at the end: lvs and pvs of every node that is there


def nodes_run(members: Members, job: Job) -> NodesRun:
    """Let nodes play, or real ones run, and count."""
    node_ids = np.unique(members.ids)
    stages: list[NodesStage] = []
    sent: dict[str, tuple[int, int]] = {}
    events: dict[str, Any] = {}
    held: dict[str, list[int]] = {}
    for played in _played(members, job):
        events = played.events
        views = view_columns(played.left, node_ids, None)
        held = {name: np.asarray(views[name]).tolist() for name in ("lvs", "pvs")}
        stages.append(_counted(played, node_ids))
        for kinds in played.sent.values():
            for kind, (messages, size) in kinds.items():
                before = sent.get(kind, (0, 0))
                sent[kind] = (before[0] + messages, before[1] + size)
    return NodesRun(node_ids.size, members.ids.size, stages, sent, events, held)


def _played(members: Members, job: Job) -> Iterator[Played]:
    if job.engine == "live":
        return stages_live(members, job, lambda _: nullcontext())
    return stages_of(members, job, lambda _: nullcontext(), Deliveries() if job.events else None)


def _counted(played: Played, node_ids: Longs) -> NodesStage:
    views = view_columns(played.left, node_ids, played.open)
    topics = topic_columns(played.left, fitness=True, ids=False)
    used = np.flatnonzero(topics["members"])
    return NodesStage(
        **{held: float(np.asarray(views[held], np.float64).mean()) for held in ("lvs", "pvs", "connections")},
        overlays=used.size,
        weakly=int(np.count_nonzero(topics["weak"][used] == 1)),
        strongly=int(np.count_nonzero(topics["strong"][used] == 1)),
        held_by_nobody=int(np.asarray(topics["in_degree_0"][used], np.int64).sum()),
        messages=int(played.left.messages.sum()),
    )
