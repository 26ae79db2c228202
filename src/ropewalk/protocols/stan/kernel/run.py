"""Rounds: who walks when, on which schedule, with whom coming and going in between."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import stream
from ropewalk.protocols.stan.kernel.batch import Flags, Ints, Members, Overlays, Stage, Topics, Views
from ropewalk.protocols.stan.kernel.churn import Weather, between_rounds, compacted, forget
from ropewalk.protocols.stan.kernel.overlays import fan_out_steps
from ropewalk.protocols.stan.kernel.sequential import walk_in_turn
from ropewalk.protocols.stan.kernel.threads import in_parts
from ropewalk.protocols.stan.kernel.visits import arrivals, learn_together
from ropewalk.protocols.stan.kernel.walks import Cost, Rules, Walkers, walk_together
from ropewalk.protocols.stan.kernel.weights import Ranking, ranking
from ropewalk.protocols.stan.settings import RETURN, Settings


def rounds(
    members: Members, overlays: Overlays, settings: Settings, seed: int, *, count_ids: bool = False, threads: int = 1
) -> Iterator[Stage]:
    """What each round leaves behind. Threads share the rounds of a lock-step schedule; they change no result."""
    run = _begun(members, overlays, settings, seed, count_ids, threads)
    for turn in range(settings.rounds):
        yield run.round(turn)


def _begun(
    members: Members, overlays: Overlays, settings: Settings, seed: int, count_ids: bool, threads: int
) -> "_Run":
    lengths = np.diff(overlays.starts).astype(np.int32)
    views = Views(lengths, lengths.copy(), overlays.links.copy())
    starts = overlays.starts
    weather = None
    if settings.churn:
        largest = int(np.diff(members.offsets).max(initial=0))
        steps = fan_out_steps(settings, largest)
        starts, views = _with_room(members, overlays, views, steps)
        weather = Weather(
            crash=threshold(settings.churn / 2),
            leave=threshold(settings.churn),
            join=threshold(RETURN),
            churn_state=stream(seed, "churn"),
            join_state=stream(seed, "join"),
            fan_out_steps=steps,
        )
    rules = Rules(
        ttl=settings.ttl,
        collect_views=settings.collect == "views",
        learn=settings.learn,
        snoop=settings.snoop,
        loss=threshold(settings.loss),
        walk_state=stream(seed, "walk"),
        drop_state=stream(seed, "drop"),
        reply_state=stream(seed, "reply"),
        count_ids=count_ids,
    )
    return _Run(
        members=members,
        topics=Topics(members.topics, members.offsets, members.ids, starts),
        views=views,
        settings=settings,
        rules=rules,
        ranks=ranking(members.ids, settings, seed),
        weather=weather,
        turn_state=stream(seed, "turn"),
        threads=threads,
    )


def threshold(probability: float) -> np.uint64:
    """A chance below this happens with that probability."""
    return np.uint64(int(probability * 2.0**63))


def _with_room(
    members: Members, overlays: Overlays, views: Views, steps: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Views]:
    """The same views with room for that of a joiner, which a topic of all its members would give the largest."""
    fan_outs = np.searchsorted(steps, np.diff(members.offsets), side="right")
    rooms = np.maximum(views.lengths, np.repeat(fan_outs, np.diff(members.offsets)))
    starts = np.concatenate(([0], np.cumsum(rooms))).astype(np.int64)
    links = np.zeros(starts[-1], np.int32)
    shift = np.repeat(starts[:-1] - overlays.starts[:-1], views.lengths)
    links[np.arange(overlays.links.size) + shift] = overlays.links
    return starts, Views(views.lengths, views.wanted, links)


@dataclass(slots=True, kw_only=True)
class _Run:
    """Where a run stands between two rounds."""

    members: Members
    topics: Topics
    views: Views
    settings: Settings
    rules: Rules
    ranks: Ranking
    weather: Weather | None
    turn_state: np.uint64
    threads: int
    walkers: Walkers = field(init=False)
    wait: Ints = field(init=False)  # rounds from a walk to the next
    due_in: Ints = field(init=False)  # the round of the next walk

    def __post_init__(self) -> None:
        count = self.members.ids.size
        self.walkers = Walkers(
            there=np.ones(count, np.bool_),
            due=np.ones(count, np.bool_),
            turns=np.zeros(count, np.int32),
            replied=np.zeros(count, np.bool_),
        )
        self.wait = np.ones(count, np.int32)
        self.due_in = np.zeros(count, np.int32)

    def round(self, turn: int) -> Stage:
        """One round: nodes go and come, walk, and close the books."""
        crashed = None
        if self.weather is not None and turn:
            crashed, joined = between_rounds(
                self.topics, self.views, self.walkers.there, self.ranks, self.weather, turn
            )
            self.wait[joined], self.due_in[joined] = 1, turn
        self.walkers.due[:] = self.walkers.there & (self.due_in <= turn)
        started = self.walkers.turns.copy()
        cost, changed = self._in_turn(turn) if self.settings.schedule == "sequential" else self._together()
        if self.settings.adaptive:
            self._adapt(turn, self.walkers.turns != started, changed)
        if crashed is not None and crashed.any():
            forget(self.topics, self.views, crashed)
        return self._stage(cost)

    def _in_turn(self, turn: int) -> tuple[Cost, Flags]:
        changed = np.zeros(self.members.ids.size, np.bool_)
        cost = walk_in_turn(
            self.topics, self.views, self.walkers, changed, self.ranks, self.rules, (self.turn_state, turn)
        )
        return cost, changed

    def _together(self) -> tuple[Cost, Flags]:
        """In lock step: views stay frozen while walks run, and what they brought is kept when the round closes."""
        count = self.members.ids.size
        others_learn = self.settings.learn or self.settings.snoop
        paths = np.empty((count if others_learn else 0, self.settings.ttl + 1), np.int32)
        frozen = self.views
        fresh = Views(frozen.lengths.copy(), frozen.wanted, frozen.links.copy())
        costs = in_parts(
            count,
            self.threads,
            lambda part: walk_together(self.topics, frozen, fresh, self.walkers, self.ranks, self.rules, part, paths),
        )
        if others_learn:
            came = arrivals(self.topics, paths)
            in_parts(
                count,
                self.threads,
                lambda part: learn_together(self.topics, frozen, fresh, self.ranks, self.rules, part, paths, came),
            )
        self.views = fresh
        changed = self._differ(frozen, fresh) if self.settings.adaptive else np.empty(0, np.bool_)
        messages, ids = (np.sum([getattr(cost, what) for cost in costs], axis=0) for what in Cost._fields)
        return Cost(messages, ids), changed

    def _differ(self, before: Views, after: Views) -> Flags:
        """Whose view is not the list it was."""
        same = before.links == after.links
        # Room beyond a view's end is never written without lengthening it, so whole rooms can be compared.
        places = np.concatenate(([0], np.cumsum(~same)))
        differs = places[self.topics.starts[1:]] > places[self.topics.starts[:-1]]
        return np.asarray(differs | (before.lengths != after.lengths), np.bool_)

    def _adapt(self, turn: int, walked: Flags, changed: Flags) -> None:
        """StaN 2.4: where a reply brought nothing new, wait longer for the next walk."""
        idle = walked & self.walkers.replied & ~changed
        self.wait[walked & self.walkers.replied & changed] = 1
        self.wait[idle] = np.minimum(2 * self.wait[idle], self.settings.slowest)
        self.due_in[walked] = turn + self.wait[walked]

    def _stage(self, cost: Cost) -> Stage:
        if self.weather is None:
            return Stage(self.members, Overlays(self.topics.starts, self.views.links), None, cost.messages, cost.ids)
        rows, offsets, starts, links = compacted(self.topics, self.views, self.walkers.there)
        present = Members(self.members.topics, offsets, self.members.ids[rows])
        return Stage(present, Overlays(starts, links), rows, cost.messages, cost.ids)
