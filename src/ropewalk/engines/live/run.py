"""One run of real nodes on a stored universe: the same tables as those of the other engines, from what nodes say of themselves."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession

from ropewalk.engines.contract import FINAL, INITIAL, Phase, Views, stage_after
from ropewalk.engines.job import Job, Order, Outcome
from ropewalk.engines.live.cluster import Cluster, processes_for
from ropewalk.engines.live.collected import Collected
from ropewalk.engines.live.faults import faults_of
from ropewalk.engines.live.loops import run
from ropewalk.engines.played import Delivery, Played, Publication, followers_in, members_of, stored
from ropewalk.engines.publishing import Drawn, drawn, stretch
from ropewalk.engines.views import left_by, views_of
from ropewalk.errors import UsageError
from ropewalk.protocols.content.filters import Filter
from ropewalk.protocols.stan import kernel
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import NAMES
from ropewalk.tables.store import Draft, Store

MOST_NAMES = 100_000  # ours: of topics, told to who looks on
NAMES_FILE = "names.jsonl"  # among the nodes' telemetry
MOST_NODES = 2000  # ours: more do not fit a machine, nor the addresses of a cluster that can be parted


def simulate(spark: SparkSession, universe: Store, job: Job, draft: Draft, phase: Phase) -> Outcome:
    """Run a universe's nodes on this machine and write their tables into a draft."""
    with phase("read the universe"):
        members = members_of(spark, universe)
        say_names(spark, universe, job)
    collected = played_live(members, job, phase)
    with phase("write the tables"):
        stages = list(_stages(collected, members, job))
        rows = rows_of(collected, stages[-1].owed) if job.events else (None, [])
        return stored(spark, universe, job, draft, members, stages, *rows)


def say_names(spark: SparkSession, universe: Store, job: Order) -> None:
    """Where somebody looks on: what topics are called, which nodes are not told."""
    if job.telemetry is None or NAMES.name not in universe.manifest.tables:
        return
    topics = read_table(spark, universe, NAMES).filter("kind = 'topic'").limit(MOST_NAMES).collect()
    rows = ({"table": "names", "life": 0, "topic": row["id"], "name": row["name"]} for row in topics)
    (job.telemetry / NAMES_FILE).write_text("".join(json.dumps(row) + "\n" for row in rows))


def stages_live(members: kernel.Members, job: Job, phase: Phase) -> Iterator[Played]:
    """Let real nodes run: the initial stage, the final one, and with `rounds` those in between."""
    return _stages(played_live(members, job, phase), members, job)


def played_live(members: kernel.Members, job: Job, phase: Phase) -> Collected:
    """Let real nodes run; what they say of it."""
    given: Views = {}
    if not job.settings.discover:
        given = views_of(members, kernel.initial(members, job.settings, job.seed))
    collected = of_cluster(followers_in(members), given, job, phase)
    if given:  # while links come up nodes already walk: what they began with is what they were told
        collected.stages[INITIAL].views = given
    return collected


def of_cluster(
    followed: dict[int, list[int]],
    given: Views,
    job: Order,
    phase: Phase,
    events: list[Drawn] | None = None,  # None: by chance
    filters: dict[int, tuple[Filter, ...]] | None = None,  # by node
) -> Collected:
    """Let who follows something run, with these as first neighbours; what they say of it."""
    nodes = len({node for members in followed.values() for node in members})
    if nodes > MOST_NODES:
        raise UsageError(f"{nodes} real nodes are more than a machine runs ({MOST_NODES}); use ropewalk simulate.")
    faults = faults_of(job.faults)
    between = stretch(job.settings.period, job.settings.rounds)
    if events is None:
        events = drawn(followed, job.seed, job.events, job.topics_per_event, *between) if job.events else []

    async def play(cluster: Cluster) -> None:
        with phase("start the nodes"):
            await cluster.begin(given)
        with phase(f"let them run for {job.settings.rounds * job.settings.period:g} s"):
            await cluster.play(events, faults)

    async def whole(folder: Path) -> Collected:
        cluster = Cluster(
            followed,
            job.settings,
            job.seed,
            folder,
            protocol=job.protocol,
            processes=processes_for(faults, job.processes),
            cuttable=any(fault.kind == "partition" for fault in faults),
            filters=filters,
            telemetry=job.telemetry,
        )
        async with cluster:
            await play(cluster)
        collected = Collected(cluster.lives)
        collected.unpublished = len(cluster.unpublished)
        return collected

    with tempfile.TemporaryDirectory(prefix="ropewalk-cluster-") as folder:
        return run(whole(Path(folder)))


def _stages(collected: Collected, members: kernel.Members, job: Job) -> Iterator[Played]:
    node_ids = np.unique(members.ids)
    rounds = job.settings.rounds
    wanted = [INITIAL, *(stage_after(turn, rounds) for turn in range(1, rounds + 1))]
    since: list[str] = []
    for name in wanted:
        stage = collected.stages[name]
        since.append(name)
        if name in (INITIAL, FINAL) or "rounds" in job.keep:
            last = name == FINAL
            events = collected.outcome(job.settings.period) if last and job.events else {}
            owed = collected.owed_to(job.settings.period) if last else set()
            yield Played(
                left_by(name, stage.views, node_ids), stage.open, stage.at, collected.sent(*since), events, owed
            )
            since = []


def rows_of(collected: Collected, owed: set[tuple[int, int]]) -> tuple[list[Publication], list[Delivery]]:
    """What was published, and what was delivered to whom; `owed` are (event, node) that had to be."""
    published = [
        Publication(each.event, each.by[0], each.topics, each.size, each.at, each.content)
        for each in collected.published.values()
    ]
    latest = {  # of a node that came back and got it anew, the last
        (event, node): each
        for event, got in collected.delivered.items()
        for (node, _), each in sorted(got.items())
        if event in collected.published
    }
    delivered = [Delivery(*key, each.hops, each.at, each.copies, owed=key in owed) for key, each in latest.items()]
    return published, delivered
