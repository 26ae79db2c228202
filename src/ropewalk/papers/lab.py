"""Where claims are measured: universes are made or cut once, and runs executed once, however many claims ask for them.

Everything is known by what it is made from, so two claims that want the same universe or run get the same one.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ropewalk.engines.batch.content_sweep import ContentPoint, content_swept
from ropewalk.engines.batch.sweep import Point, swept
from ropewalk.engines.contract import Engine, Keep, Phase
from ropewalk.engines.job import Job, run_of
from ropewalk.engines.played import members_of
from ropewalk.errors import UsageError
from ropewalk.experiments.ingest import ingest
from ropewalk.experiments.rewire import rewire
from ropewalk.experiments.run import chosen, execute
from ropewalk.experiments.universe import cut_universe
from ropewalk.experiments.workload import make_workload
from ropewalk.measures.together import measured
from ropewalk.papers.nodes import NodesRun, nodes_run
from ropewalk.papers.traces import TRACES, files_of
from ropewalk.protocols.stan.kernel import Members
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import NAMES, SUBSCRIPTIONS, TOPICS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Store, digest_of
from ropewalk.universes.interests import Interests, gather
from ropewalk.universes.sample import Cut
from ropewalk.workloads.contract import Model

T = TypeVar("T")
P = TypeVar("P", Point, ContentPoint)
Longs = NDArray[np.int64]
Swept = dict[tuple[str, str], float]
"""What was measured of one run, by measure and stage."""

REJECTED_AT_MOST = 0.05  # of a trace's rows, as `ropewalk ingest` has it


@dataclass(frozen=True, slots=True)
class Universe:
    """A stored universe and its size. `title` is what a table or figure calls it."""

    title: str
    store: Store
    nodes: int
    topics: int
    subscriptions: int


@dataclass(frozen=True, slots=True)
class Run:
    """A stored run: the document of `simulate`, and every measure by name and stage."""

    document: dict[str, Any]
    values: dict[tuple[str, str], float]
    store: Store
    keep: frozenset[Keep]

    def mean(self, held: str, stage: str) -> float:
        """The mean over nodes of what they hold at a stage: lvs, pvs, connections, in_links."""
        return self.values[f"{held}.mean", stage]


@dataclass(slots=True)
class Lab:
    """A session, a working folder whose content nobody else needs, a seed, and the folder of traces if there is one."""

    spark: Session
    folder: Path
    phase: Phase
    seed: int = 1
    data: Path | None = None
    _universes: dict[str, Universe] = field(default_factory=dict)
    _traces: dict[str, Store | None] = field(default_factory=dict)
    _runs: dict[str, Run] = field(default_factory=dict)
    _nodes: dict[tuple[str, str, int], NodesRun] = field(default_factory=dict)
    _members: dict[str, Members] = field(default_factory=dict)
    _described: dict[tuple[str, str], Any] = field(default_factory=dict)
    _swept: dict[str, Swept] = field(default_factory=dict)

    def seeds(self, count: int) -> range:
        """The seeds of `count` independent repetitions."""
        return range(self.seed, self.seed + count)

    def made(self, title: str, model: Model, seed: int) -> Universe:
        """The universe that a model makes from a seed."""
        parameters: dict[str, Any] = asdict(cast("Any", model))  # a Model is a dataclass
        name = f"{model.name}-{digest_of([parameters, seed])}"
        if name not in self._universes:
            place = self.folder / "universes" / name
            made = make_workload(
                model, seed, place, overwrite=True, session=nullcontext(self.spark), phase=self._of(title)
            )
            self._universes[name] = _universe(title, place, made)
        return self._universes[name]

    def cut(self, trace: str, seeds: int, candidates: int, **more: Any) -> Universe | None:
        """The universe that is cut out of a trace by its own rule, or by `more` of a Cut; None where the trace is not there."""
        source = self._trace(trace)
        if source is None:
            return None
        usual = asdict(TRACES[trace].cut(seeds, candidates))
        cut = Cut(**usual | more)
        title = f"{TRACES[trace].title}, {seeds or 'all'} seeds"
        name = f"{trace}-{digest_of([asdict(cut), self.seed])}"
        if name not in self._universes:
            place = self.folder / "universes" / name
            made = cut_universe(
                source, cut, self.seed, place, overwrite=True, session=nullcontext(self.spark), phase=self._of(title)
            )
            self._universes[name] = _universe(title, place, made)
        return self._universes[name]

    def rewired(self, universe: Universe) -> Universe:
        """The universe with its subscriptions dealt out anew: every node and topic keeps its number, correlation goes."""
        name = f"rewired-{digest_of([universe.store.manifest.name, self.seed])}"
        if name not in self._universes:
            title, place = f"{universe.title}, rewired", self.folder / "universes" / name
            session = nullcontext(self.spark)
            made = rewire(universe.store, self.seed, place, overwrite=True, session=session, phase=self._of(title))
            self._universes[name] = _universe(title, place, made)
        return self._universes[name]

    def run(self, universe: Universe, seed: int, *, keep: Iterable[Keep] = (), **told: Any) -> Run:
        """StaN on a universe. A run that kept more than is asked for is as good."""
        wanted = frozenset(keep)
        job = Job(settings=chosen(universe.store, told), seed=seed, keep=wanted)
        name = run_of(universe.store, job)
        there = self._runs.get(name)
        if there is None or not wanted <= there.keep:
            job = replace(job, keep=wanted | there.keep if there is not None else wanted)
            place = self.folder / "runs" / name
            executed = execute(
                universe.store,
                job,
                place,
                overwrite=True,
                session=nullcontext(self.spark),
                phase=self._of(universe.title),
            )
            values = {(measure, group): value for measure, group, value in executed.rows}
            self._runs[name] = Run(executed.document, values, Store.open(place), job.keep)
        return self._runs[name]

    def nodes(
        self,
        universe: Universe,
        seed: int,
        *,
        engine: Engine = "sim",
        events: int = 0,
        topics_per_event: int = 1,
        **told: Any,
    ) -> NodesRun:
        """StaN on a universe message by message, with timers unless told otherwise, or live; nothing is stored."""
        settings = chosen(universe.store, told, engine)
        published = [engine, events, topics_per_event]
        key = (universe.store.manifest.name, json.dumps([asdict(settings), published], sort_keys=True), seed)
        if key not in self._nodes:
            keep: frozenset[Keep] = frozenset({"rounds"})
            job = Job(
                settings=settings,
                seed=seed,
                engine=engine,
                keep=keep,
                events=events,
                topics_per_event=topics_per_event,
            )
            with self.phase(f"{universe.title}: {settings.rounds} rounds of nodes"):
                self._nodes[key] = nodes_run(self.members(universe), job)
        return self._nodes[key]

    def sweep(self, title: str, points: Sequence[Point], tables: Sequence[str]) -> dict[str, Swept]:
        """Many runs over rings at once, by the names of their points, and what some of their tables say.

        Those that were run before are not run again.
        """
        return self._sweep(swept, title, points, tables)

    def content_sweep(self, title: str, points: Sequence[ContentPoint], tables: Sequence[str]) -> dict[str, Swept]:
        """The same of the overlay by interests."""
        return self._sweep(content_swept, title, points, tables)

    def _sweep(
        self,
        sweep: Callable[[Session, Sequence[P]], dict[str, Any]],
        title: str,
        points: Sequence[P],
        tables: Sequence[str],
    ) -> dict[str, Swept]:
        known = {point.name: digest_of([*tables, repr(point)]) for point in points}
        fresh = [point for point in points if known[point.name] not in self._swept]
        if fresh:
            with self.phase(f"{title}: {len(fresh)} runs"):
                found = sweep(self.spark, fresh)
                try:
                    rows = measured(self.spark, {table: found[table] for table in tables}, examined=False)
                finally:
                    found["rows"].unpersist()
            for point in fresh:
                values = {(row["measure"], row["group"]): row["value"] for row in rows if row["run"] == point.name}
                self._swept[known[point.name]] = values
        return {name: self._swept[key] for name, key in known.items()}

    def members(self, universe: Universe) -> Members:
        """Who follows what, for whoever conducts nodes itself."""
        name = universe.store.manifest.name
        if name not in self._members:
            self._members[name] = members_of(self.spark, universe.store)
        return self._members[name]

    def described(self, universe: Universe, what: str, describe: Callable[[Interests], T]) -> T:
        """What is to be said of a universe's interests, said once. `what` names it; `describe` works it out."""
        key = (universe.store.manifest.name, what)
        if key not in self._described:
            with self.phase(f"{universe.title}: {what}"):
                interests = gather(read_table(self.spark, universe.store, SUBSCRIPTIONS))
                try:
                    self._described[key] = describe(interests)
                finally:
                    interests.unpersist()
        return cast("T", self._described[key])

    def pairs(self, trace: str) -> tuple[Longs, Longs] | None:
        """All subscriptions of a trace, as index pairs of node and topic; None where it is not there."""
        store = self._trace(trace)
        if store is None:
            return None
        members = members_of(self.spark, store)
        topics = np.repeat(np.arange(members.topics.size), np.diff(members.offsets))
        return np.unique(members.ids, return_inverse=True)[1].astype(np.int64), topics

    def counted(self, store: Store) -> tuple[list[int], dict[str, float]]:
        """How many each node of a store follows, and the publication rates of topics, by name, where they are known."""
        followed = read_table(self.spark, store, SUBSCRIPTIONS).groupBy("node").count().collect()
        rates = read_table(self.spark, store, TOPICS).filter("rate is not null")
        topics = read_table(self.spark, store, NAMES).filter("kind = 'topic'").withColumnRenamed("id", "topic")
        named = rates.join(topics, "topic").collect()
        return [row["count"] for row in followed], {row["name"]: row["rate"] for row in named}

    def lacking(self, *traces: str) -> tuple[str, ...]:
        """A sentence for the traces that are not there; none if all are."""
        lost = [TRACES[trace].title for trace in traces if self._trace(trace) is None]
        if not lost:
            return ()
        return (f"Left out, as the traces are not there (--data): {', '.join(lost)}.",)

    def _trace(self, name: str) -> Store | None:
        if name not in self._traces:
            files = files_of(TRACES[name], self.data) if self.data is not None else None
            if files is None:
                self._traces[name] = None
                return None
            place = self.folder / "traces" / name
            session = nullcontext(self.spark)
            ingest(
                TRACES[name].source, files, place, max_reject_share=REJECTED_AT_MOST, overwrite=True, session=session,
                phase=self._of(TRACES[name].title),
            )  # fmt: skip
            self._traces[name] = Store.open(place)
        return self._traces[name]

    def _of(self, title: str) -> Phase:
        """Phases that also say which universe they are about."""
        return lambda what: self.phase(f"{title}: {what}")


def folder_of_traces(data: Path | None) -> Path | None:
    """The folder that was named, if it is one."""
    if data is not None and not data.is_dir():
        raise UsageError(f"{data} is not a folder; give one that holds traces, or leave it out.")
    return data


def _universe(title: str, place: Path, made: dict[str, Any]) -> Universe:
    sizes = (made["nodes"], made["topics"], made["subscriptions"])
    return Universe(title, Store.open(place), *sizes)
