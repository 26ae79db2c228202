"""Asks every invariant after every input, and stops the history at the first that is broken."""

from ropewalk.engines.sim.invariants.at_most_once import AtMostOnce
from ropewalk.engines.sim.invariants.bounded import Bounded
from ropewalk.engines.sim.invariants.caches_bounded import CachesBounded
from ropewalk.engines.sim.invariants.connected import Connected
from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.engines.sim.invariants.discovery_leaks import DiscoveryLeaks
from ropewalk.engines.sim.invariants.everybody_gets_it import EverybodyGetsIt
from ropewalk.engines.sim.invariants.gossipsub_bounds import GossipsubBounds
from ropewalk.engines.sim.invariants.interests_bounded import InterestsBounded
from ropewalk.engines.sim.invariants.link_counts import LinkCounts
from ropewalk.engines.sim.invariants.lookups_arrive import LookupsArrive
from ropewalk.engines.sim.invariants.make_before_break import MakeBeforeBreak
from ropewalk.engines.sim.invariants.mesh_links import MeshLinks
from ropewalk.engines.sim.invariants.meshes_agree import MeshesAgree
from ropewalk.engines.sim.invariants.no_disclosure import NoDisclosure
from ropewalk.engines.sim.invariants.no_orphan import NoOrphan
from ropewalk.engines.sim.invariants.no_self_link import NoSelfLink
from ropewalk.engines.sim.invariants.one_group import OneGroup
from ropewalk.engines.sim.invariants.one_timer_each import OneTimerEach
from ropewalk.engines.sim.invariants.one_tree import OneTree
from ropewalk.engines.sim.invariants.only_followers import OnlyFollowers
from ropewalk.engines.sim.invariants.quiescent import Quiescent
from ropewalk.engines.sim.invariants.recalled_from_owners import RecalledFromOwners
from ropewalk.engines.sim.invariants.ring_order import RingOrder
from ropewalk.engines.sim.invariants.rings_bounded import RingsBounded
from ropewalk.engines.sim.invariants.strongly_connected import StronglyConnected
from ropewalk.engines.sim.invariants.view_bounds import ViewBounds
from ropewalk.engines.sim.invariants.what_is_wanted import WhatIsWanted
from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.simulator import Observer, Process
from ropewalk.errors import RunError, UsageError
from ropewalk.protocols.baselines.gossipsub.settings import Settings as GossipsubSettings
from ropewalk.protocols.contract import Effect, Input
from ropewalk.protocols.dissemination.settings import Settings as EventSettings
from ropewalk.protocols.trees.settings import Settings as TreeSettings


class BrokenError(RunError):
    """An invariant did not hold."""


def all_invariants() -> list[Invariant]:
    """Every invariant of StaN, each with an empty memory."""
    return [
        ViewBounds(),
        NoSelfLink(),
        LinkCounts(),
        MakeBeforeBreak(),
        Bounded(),
        CachesBounded(),
        NoDisclosure(),
        DiscoveryLeaks(),
        Quiescent(),
        OneTimerEach(),
        NoOrphan(),
        Connected(),
        StronglyConnected(),
        OnlyFollowers(),
        AtMostOnce(),
        RecalledFromOwners(),
        EverybodyGetsIt(),
    ]


def invariants_of(protocol: str, *, lossless: bool = True) -> list[Invariant]:
    """Those that go with a protocol. StaN, those on rings and those by interests promise that everybody gets everything, whatever is lost."""
    match protocol:
        case "stan":
            return all_invariants()
        case "flood":  # nobody walks: nobody is found again whom nobody holds
            lossy = [each for each in all_invariants() if not isinstance(each, StronglyConnected | EverybodyGetsIt)]
            return [*lossy, *([EverybodyGetsIt()] if lossless else [])]
        case "gossipsub":  # it tells everybody everything, and hears of broken links from whoever drives it
            lossy = [
                NoSelfLink(),
                GossipsubBounds(),
                MeshLinks(),
                OnlyFollowers(),
                AtMostOnce(GossipsubSettings().seen),
            ]
            return [*lossy, *([MeshesAgree(), EverybodyGetsIt()] if lossless else [])]
        case "scribe" | "magnet":
            return [
                NoSelfLink(),
                RingOrder(),
                LookupsArrive(),
                OneTree(),
                RingsBounded(),
                OnlyFollowers(),
                AtMostOnce(TreeSettings().seen),
                EverybodyGetsIt(),
            ]
        case "kato":
            return [
                NoSelfLink(),
                InterestsBounded(),
                OneGroup(),
                Connected(),
                OnlyFollowers(),
                WhatIsWanted(),
                AtMostOnce(EventSettings().seen),
                EverybodyGetsIt(),
            ]
        case _:
            raise UsageError(f"no invariants are known of protocol {protocol!r}.")


class Watch(Observer):
    """An observer of a simulation."""

    def __init__(self, invariants: list[Invariant] | None = None) -> None:
        self.invariants = all_invariants() if invariants is None else invariants

    def handling(self, process: Process, event: Input, now: float) -> None:
        """Let invariants note how things are."""
        moment = Moment(process.node, event, now)
        for invariant in self.invariants:
            invariant.before(moment)

    def handled(self, process: Process, event: Input, effects: list[Effect], now: float) -> None:
        """Ask about the node that took an input in."""
        moment = Moment(process.node, event, now, effects)
        for invariant in self.invariants:
            wrong = invariant.after(moment)
            if wrong is not None:
                raise BrokenError(
                    f"{invariant.name}: node {process.contact.id} at {now:.3f} s, after {event}: {wrong}."
                )

    def at_rest(self, population: Population) -> None:
        """Ask about everybody."""
        for invariant in self.invariants:
            wrong = invariant.at_rest(population)
            if wrong is not None:
                raise BrokenError(f"{invariant.name}: at rest: {wrong}.")
