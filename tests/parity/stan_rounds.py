"""Walks and rounds of StaN written out on dicts and lists, one plain function per rule, on top of `stan_reference`.
Imports nothing of the package on purpose."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stan_reference import Rules, View, Views, chance, fan_out, happens, pick, ranked, sampled

RETURN = 0.5  # the probability that a node that is gone joins


@dataclass
class Member:
    """What a subscriber of one topic holds for it. Whoever is gone wants nothing and holds nothing."""

    view: View
    wanted: int
    turns: int = 0  # walks started so far, absences notwithstanding
    wait: int = 1  # rounds from one walk to the next
    due: int = 0  # the round from which on the next walk is due


Members = dict[int, Member]  # node id -> what it holds, for one topic
Universe = dict[int, Members]  # topic -> its subscribers, those that are gone included
Hear = Callable[[int, set[int]], None]  # what becomes of ids that a node learns on a walk's way


@dataclass
class Walk:
    sent: list[int]  # how many ids each message carried, in order, the reply's included
    reply: set[int] | None = None  # what the source is told, if the reply arrived


@dataclass
class Stage:
    """A universe when a round is over: the views of those that are there, and what was sent, by topic."""

    views: dict[int, Views]
    messages: dict[int, int]
    ids: dict[int, int]


# A walk


def walk(rules: Rules, topic: int, source: int, members: Members, hear: Hear) -> Walk:
    """Over the views of the members that are there. The source must hold somebody."""
    turn = members[source].turns
    view = members[source].view
    carried: set[int] = set()
    sent = []
    for hop in range(rules.ttl + 1):
        at = view[pick(chance(rules.seed, "walk", topic, source, turn, hop), len(view))]
        sent.append(len(carried))
        if at not in members or happens(chance(rules.seed, "drop", topic, source, turn, hop), rules.loss):
            return Walk(sent)
        view = list(members[at].view)  # as it is, before what `at` hears next can change it
        overheard = learned_on_the_way(rules, source, carried)
        carried |= collected(rules, at, view)
        if at != source:
            hear(at, overheard)
        if not view:
            break
    sent.append(len(carried))
    if happens(chance(rules.seed, "reply", topic, source, turn), rules.loss):
        return Walk(sent)
    return Walk(sent, carried)


def collected(rules: Rules, visited: int, view: View) -> set[int]:
    return {visited, *view} if rules.collect == "views" else {visited}


def learned_on_the_way(rules: Rules, source: int, carried: set[int]) -> set[int]:
    """What a visited node makes of the message that reaches it."""
    found: set[int] = set()
    if rules.learn:
        found |= {source}
    if rules.snoop:
        found |= carried
    return found


def keep(rules: Rules, node: int, member: Member, candidates: set[int]) -> None:
    member.view = ranked(rules, node, candidates.union(member.view))[: member.wanted]


# When to walk


def is_due(member: Member, now: int) -> bool:
    return member.due <= now and bool(member.view)


def pace(rules: Rules, member: Member, now: int, walked: Walk, changed: bool) -> None:
    """Say when the next walk is due: the round after this one, or later and later with `adaptive`."""
    if rules.adaptive and walked.reply is not None:
        member.wait = 1 if changed else min(2 * member.wait, rules.slowest)
    member.due = now + member.wait


# Rounds of one topic, among the members that are there


def lock_step_round(rules: Rules, topic: int, now: int, members: Members) -> list[Walk]:
    """Nobody's view changes until everybody who walks has walked."""
    opening = {node: member.view for node, member in members.items()}
    learned: dict[int, set[int]] = {node: set() for node in members}
    walks: dict[int, Walk] = {}
    for source, member in members.items():
        if is_due(member, now):
            walks[source] = walk(rules, topic, source, members, lambda node, ids: learned[node].update(ids))
            learned[source] |= walks[source].reply or set()
            member.turns += 1
    for node, member in members.items():
        keep(rules, node, member, learned[node])
    for source, walked in walks.items():
        pace(rules, members[source], now, walked, members[source].view != opening[source])
    return list(walks.values())


def sequential_round(rules: Rules, topic: int, now: int, members: Members) -> list[Walk]:
    """One member after the other, in an order drawn anew, over the views as they are by then."""
    walks = []
    for source in sorted(members, key=lambda node: (chance(rules.seed, "turn", topic, node, now), node)):
        member = members[source]
        if is_due(member, now):
            walked = walk(rules, topic, source, members, lambda node, ids: keep(rules, node, members[node], ids))
            before = member.view
            keep(rules, source, member, walked.reply or set())
            member.turns += 1
            pace(rules, member, now, walked, member.view != before)
            walks.append(walked)
    return walks


# Churn, before a round opens and after it closed


def comes_and_goes(rules: Rules, node: int, now: int, is_there: bool) -> str:
    """What a node does before round `now`, in all its topics at once."""
    drawn = chance(rules.seed, "churn", node, now)
    if not is_there:
        return "joins" if happens(drawn, RETURN) else "is gone"
    if happens(drawn, rules.churn / 2):
        return "crashes"
    return "leaves" if happens(drawn, rules.churn) else "stays"


def churned(rules: Rules, now: int, universe: Universe, there: set[int]) -> tuple[set[int], set[int]]:
    """Who is there now, and who has crashed and is still held by others."""
    nodes = {node for subscribers in universe.values() for node in subscribers}
    does = {node: comes_and_goes(rules, node, now, node in there) for node in nodes}
    there = {node for node in nodes if does[node] in {"joins", "stays"}}
    crashed = {node for node in nodes if does[node] == "crashes"}
    for subscribers in universe.values():
        for node, member in subscribers.items():
            if does[node] in {"crashes", "leaves"}:
                member.view, member.wanted = [], 0
    forget(universe, {node for node in nodes if does[node] == "leaves"})
    for topic, subscribers in universe.items():
        members = [node for node in subscribers if node in there]
        for node in members:
            if does[node] == "joins":
                join(rules, topic, node, now, members, subscribers[node])
    return there, crashed


def join(rules: Rules, topic: int, node: int, now: int, members: list[int], member: Member) -> None:
    """Start again among the members that are there, the other joiners included; only the turns go on."""
    member.wanted = fan_out(rules, len(members))
    member.view = sampled(rules, node, members, member.wanted, "join", topic, node, now)
    member.wait, member.due = 1, now


def forget(universe: Universe, lost: set[int]) -> None:
    for subscribers in universe.values():
        for member in subscribers.values():
            member.view = [node for node in member.view if node not in lost]


# A whole run


def rounds(rules: Rules, initial: dict[int, Views]) -> Iterator[Stage]:
    """The stages after every round of a universe that begins with these views."""
    universe = {t: {node: Member(list(view), len(view)) for node, view in initial[t].items()} for t in initial}
    there = {node for views in initial.values() for node in views}
    play = sequential_round if rules.schedule == "sequential" else lock_step_round
    for now in range(rules.rounds):
        crashed: set[int] = set()
        if rules.churn > 0 and now > 0:
            there, crashed = churned(rules, now, universe, there)
        walks = {topic: play(rules, topic, now, present(universe[topic], there)) for topic in universe}
        forget(universe, crashed)
        yield Stage(
            views={t: {node: m.view for node, m in present(universe[t], there).items()} for t in universe},
            messages={topic: sum(len(walked.sent) for walked in walks[topic]) for topic in universe},
            ids={topic: sum(sum(walked.sent) for walked in walks[topic]) for topic in universe},
        )


def present(subscribers: Members, there: set[int]) -> Members:
    return {node: member for node, member in subscribers.items() if node in there}
