"""The reference itself, where its rules can be followed by hand, and what the weights must be like (StaN 2.3)."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stan_cases as cases
import stan_reference as reference
from ropewalk import ids, seeds
from ropewalk.protocols.stan.settings import CHOICES, Settings
from stan_cases import IDS, Topics, universes
from stan_reference import Rules, Views
from stan_rounds import Member, Members, Stage, churned, comes_and_goes, lock_step_round, rounds, sequential_round, walk

CHAIN: Views = {1: [2], 2: [3], 3: [4], 4: [1]}  # where everybody's next hop is given
RULES = Rules(seed=1, rounds=6)
PLAYS = {"sync": lock_step_round, "sequential": sequential_round}
PAIRS = 4096


def members_of(views: Views, wanted: int = 1) -> Members:
    return {node: Member(list(view), wanted) for node, view in views.items()}


def nobody_hears(node: int, ids: set[int]) -> None:
    """What a walk tells those on its way is not the point."""


def start(rules: Rules, topics: Topics) -> dict[int, Views]:
    return {topic: reference.fixed_overlay(rules, topic, members) for topic, members in topics.items()}


def run(rules: Rules, topics: Topics) -> list[Stage]:
    return list(rounds(rules, start(rules, topics)))


class TestChance:
    @given(IDS, st.sampled_from(["walk", "overlay", "reply"]), st.lists(IDS, max_size=4))
    def test_it_is_the_packages(self, seed: int, what: str, labels: list[int]) -> None:
        assert reference.chance(seed, what, *labels) == seeds.chance(seed, what, *labels)

    @given(IDS, IDS, IDS)
    def test_the_printed_weight_is_the_packages(self, seed: int, p: int, q: int) -> None:
        assert reference.weight("printed", seed, p, q) == ids.weight(p, q)

    def test_what_is_certain_always_happens_and_what_is_impossible_never(self) -> None:
        assert reference.happens(2**63 - 1, 1.0)
        assert not reference.happens(0, 0.0)
        assert [reference.happens(drawn, 0.5) for drawn in (2**62 - 1, 2**62)] == [True, False]


def weights(kind: str, pairs: list[tuple[int, int]]) -> list[float]:
    """In units of the largest."""
    return [reference.weight(kind, 1, p, q) / 2**63 for p, q in pairs]


def correlation(xs: list[float], ys: list[float]) -> float:
    mean_x, mean_y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    both = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return both / math.sqrt(math.fsum((x - mean_x) ** 2 for x in xs) * math.fsum((y - mean_y) ** 2 for y in ys))


BY_ONE = [(7, q) for q in range(100, 100 + PAIRS)]
OF_ONE = [(p, 7) for p in range(100, 100 + PAIRS)]
SCATTERED = [(p, 10_000 + 31 * p) for p in range(PAIRS)]
BY_CHANCE = 4 / math.sqrt(PAIRS)  # beyond this a correlation is none of chance's


class TestWeights:
    @pytest.mark.parametrize("pairs", [BY_ONE, OF_ONE, SCATTERED], ids=["by one", "of one", "scattered"])
    @pytest.mark.parametrize("kind", ["printed", "keyed", "pair"])
    def test_they_are_uniform(self, kind: str, pairs: list[tuple[int, int]]) -> None:
        bins = [0] * 64
        for found in weights(kind, pairs):
            bins[int(found * 64)] += 1
        chi_square = sum((count - PAIRS / 64) ** 2 / (PAIRS / 64) for count in bins)
        assert 63 - 4 * math.sqrt(126) < chi_square < 63 + 4 * math.sqrt(126)  # 63 degrees of freedom

    @pytest.mark.parametrize("kind", ["printed", "keyed"])
    def test_what_p_thinks_of_q_says_nothing_of_what_q_thinks_of_p(self, kind: str) -> None:
        there, back = weights(kind, SCATTERED), weights(kind, [(q, p) for p, q in SCATTERED])
        assert abs(correlation(there, back)) < BY_CHANCE
        preferred = sum(x < y for x, y in zip(there, back, strict=True))
        assert abs(preferred / PAIRS - 0.5) < BY_CHANCE / 2

    @pytest.mark.parametrize("kind", ["printed", "keyed", "pair"])
    def test_two_nodes_rank_others_in_unrelated_orders(self, kind: str) -> None:
        assert abs(correlation(weights(kind, BY_ONE), weights(kind, [(8, q) for _, q in BY_ONE]))) < BY_CHANCE

    @given(IDS, IDS, IDS)
    def test_a_pair_ranks_each_other_alike(self, seed: int, p: int, q: int) -> None:
        assert reference.weight("pair", seed, p, q) == reference.weight("pair", seed, q, p)

    @given(IDS, IDS, IDS, IDS)
    def test_only_keys_depend_on_the_seed(self, seed: int, other: int, p: int, q: int) -> None:
        for kind in CHOICES["weight"]:
            alike = reference.weight(kind, seed, p, q) == reference.weight(kind, other, p, q)
            assert alike == (kind != "keyed" or seed == other)

    @given(IDS, IDS, IDS)
    def test_targets_are_ranked_alike_by_everybody(self, p: int, r: int, q: int) -> None:
        assert reference.weight("target", 1, p, q) == reference.weight("target", 1, r, q)

    def test_a_ring_begins_at_its_node(self) -> None:
        assert reference.ranked(Rules(seed=1, weight="ring"), 5, [1, 3, 5, 7, 9]) == [7, 9, 1, 3]
        assert reference.weight("ring", 1, 2**63 - 1, 0) == 1


class TestSizes:
    @pytest.mark.parametrize(("members", "printed", "two_way"), [(1, 0, 0), (2, 1, 1), (9, 7, 4), (100, 10, 5)])
    def test_fan_outs(self, members: int, printed: int, two_way: int) -> None:
        """ln 9 + 4.6 is 6.8, ln 100 + 4.6 is 9.2."""
        assert reference.fan_out(RULES, members) == printed
        assert reference.fan_out(replace(RULES, fanout="two-way"), members) == two_way

    def test_who_need_not_be_connected_holds_nobody(self) -> None:
        assert reference.fan_out(replace(RULES, connectivity=1e-6), 9) == 0

    def test_who_knows_everything_holds_the_best(self) -> None:
        rules = Rules(seed=1, weight="ring")
        assert reference.omniscient(rules, {1: [4, 9], 4: [1], 6: [], 9: [6]}) == {1: [4, 6], 4: [6], 6: [], 9: [1]}


class TestWalk:
    @pytest.mark.parametrize(
        ("ttl", "collect", "sent", "told"),
        [
            (0, "views", [0, 2], {2, 3}),
            (0, "visited", [0, 1], {2}),
            (2, "views", [0, 2, 3, 4], {2, 3, 4, 1}),
            (2, "visited", [0, 1, 2, 3], {2, 3, 4}),
            (3, "visited", [0, 1, 2, 3, 4], {2, 3, 4, 1}),  # through its source
            (5, "visited", [0, 1, 2, 3, 4, 4, 4], {2, 3, 4, 1}),
        ],
    )
    def test_it_carries_what_it_met(self, ttl: int, collect: str, sent: list[int], told: set[int]) -> None:
        found = walk(replace(RULES, ttl=ttl, collect=collect), 5, 1, members_of(CHAIN), nobody_hears)
        assert (found.sent, found.reply) == (sent, told)

    def test_it_ends_where_nobody_is_held(self) -> None:
        found = walk(RULES, 5, 1, members_of({1: [2], 2: [3], 3: []}), nobody_hears)
        assert (found.sent, found.reply) == ([0, 2, 2], {2, 3})

    def test_it_is_lost_with_a_message_to_who_is_not_there(self) -> None:
        found = walk(RULES, 5, 1, members_of({1: [2], 2: [3]}), nobody_hears)
        assert (found.sent, found.reply) == ([0, 2], None)

    def test_loss_takes_messages_and_replies(self) -> None:
        """Of four messages that may be lost by half, all arrive in one walk of sixteen."""
        rules = replace(RULES, ttl=2, loss=0.5)
        found = [walk(replace(rules, seed=s), 5, 1, members_of(CHAIN), nobody_hears) for s in range(1600)]
        lengths = [sum(len(walked.sent) == messages for walked in found) for messages in (1, 2, 3, 4)]
        assert lengths == [pytest.approx(1600 * share, abs=80) for share in (1 / 2, 1 / 4, 1 / 8, 1 / 8)]
        assert sum(walked.reply is not None for walked in found) == pytest.approx(100, abs=40)

    def test_what_others_hear_on_its_way(self) -> None:
        heard: list[tuple[int, set[int]]] = []
        rules = replace(RULES, ttl=4, collect="visited")
        ways: list[dict[str, Any]] = [{"learn": True}, {"snoop": True}, {"learn": True, "snoop": True}, {}]
        for also in ways:
            walk(replace(rules, **also), 5, 1, members_of(CHAIN), lambda node, ids: heard.append((node, ids)))
        assert heard == [
            *[(2, {1}), (3, {1}), (4, {1}), (2, {1})],  # the source itself, met before 2 comes again, learns nothing
            *[(2, set()), (3, {2}), (4, {2, 3}), (2, {1, 2, 3, 4})],
            *[(2, {1}), (3, {1, 2}), (4, {1, 2, 3}), (2, {1, 2, 3, 4})],
            *[(2, set()), (3, set()), (4, set()), (2, set())],
        ]


class TestRounds:
    @pytest.mark.parametrize("schedule", PLAYS)
    def test_a_visited_node_learns_the_source_if_it_wants_more(self, schedule: str) -> None:
        members = {1: Member([2], 1), 2: Member([], 1), 3: Member([], 1)}
        PLAYS[schedule](replace(RULES, learn=True), 5, 0, members)
        assert [members[node].view for node in (1, 2, 3)] == [[2], [1], []]

    @pytest.mark.parametrize("schedule", PLAYS)
    def test_a_visited_node_that_wants_no_more_ranks_the_source(self, schedule: str) -> None:
        rules = replace(RULES, learn=True, ttl=0, weight="ring", collect="visited")
        nearer = {1: Member([4], 1), 4: Member([9], 1), 9: Member([], 0)}  # for 4 on its ring, 9 is nearer than 1
        farther = {5: Member([4], 1), 4: Member([9], 1), 9: Member([], 0)}  # but 5 is nearer than 9
        for members in (nearer, farther):
            PLAYS[schedule](rules, 5, 0, members)
        assert (nearer[4].view, farther[4].view) == ([9], [5])

    def test_only_in_turn_a_node_without_neighbours_can_be_told_and_walk_in_one_round(self) -> None:
        """1 finds 2, who held nobody. In lock step 2 walks in the next round, in turn at once if 1 came first."""
        turn = {now: [reference.chance(1, "turn", 5, node, now) for node in (1, 2)] for now in range(40)}
        one_first = next(now for now, (one, two) in turn.items() if one < two)
        two_first = next(now for now, (one, two) in turn.items() if two < one)
        walks = {
            (schedule, now): len(play(replace(RULES, learn=True), 5, now, {1: Member([2], 1), 2: Member([], 1)}))
            for schedule, play in PLAYS.items()
            for now in (one_first, two_first)
        }
        assert walks == {
            ("sync", one_first): 1,
            ("sync", two_first): 1,
            ("sequential", one_first): 2,
            ("sequential", two_first): 1,
        }

    @pytest.mark.parametrize("schedule", PLAYS)
    def test_without_a_message_that_arrives_nothing_changes(self, schedule: str) -> None:
        topics = {5: list(range(20)), 6: list(range(10, 40))}
        rules = replace(RULES, schedule=schedule, loss=1.0, learn=True, snoop=True, adaptive=True)
        for stage in run(rules, topics):
            assert stage.views == start(rules, topics)
            assert stage.messages == {5: 20, 6: 30}  # everybody tries in every round: nothing says that it is in vain
            assert stage.ids == {5: 0, 6: 0}

    @pytest.mark.parametrize("schedule", PLAYS)
    def test_walks_that_change_nothing_become_rare(self, schedule: str) -> None:
        """In a full mesh: in round 0, two rounds later, then three, since slower is not allowed."""
        rules = replace(RULES, schedule=schedule, rounds=10, ttl=0, adaptive=True, slowest=3)
        found = [stage.messages[5] for stage in run(rules, {5: [1, 2, 3]})]
        assert found == [6, 0, 6, 0, 0, 6, 0, 0, 6, 0]

    @pytest.mark.parametrize("schedule", PLAYS)
    def test_a_walk_that_changes_something_is_followed_by_one_in_the_next_round(self, schedule: str) -> None:
        rules = replace(RULES, adaptive=True, weight="ring", ttl=0)
        member, others = Member([7], 1, wait=4, due=3), {7: Member([2, 9], 2, due=9), 9: Member([2], 1, due=9)}
        members = {1: member, **others, 2: Member([7], 1, due=9)}
        PLAYS[schedule](rules, 5, 3, members)
        assert (member.view, member.turns, member.wait, member.due) == ([2], 1, 1, 4)
        PLAYS[schedule](rules, 5, 4, members)
        assert (member.view, member.turns, member.wait, member.due) == ([2], 2, 2, 6)

    def test_lock_step_walks_on_the_views_of_the_opening(self) -> None:
        """On a chain with ttl 0 everybody is told of the next but one, whoever walked before."""
        members = members_of(CHAIN, wanted=2)
        lock_step_round(replace(RULES, ttl=0), 5, 0, members)
        assert {node: set(member.view) for node, member in members.items()} == {
            1: {2, 3},
            2: {3, 4},
            3: {4, 1},
            4: {1, 2},
        }

    def test_in_turn_walks_meet_what_earlier_ones_left(self) -> None:
        """Whoever walks after its neighbour is also told what that one was told."""
        members = members_of(CHAIN, wanted=3)
        sequential_round(replace(RULES, ttl=0), 5, 0, members)
        turn = {node: reference.chance(1, "turn", 5, node, 0) for node in CHAIN}
        told: dict[int, set[int]] = {node: set(view) for node, view in CHAIN.items()}
        for node in sorted(CHAIN, key=turn.__getitem__):
            told[node] |= told[CHAIN[node][0]] - {node}
        assert {node: set(member.view) for node, member in members.items()} == told


class TestChurn:
    def test_a_node_goes_or_returns_as_often_as_asked(self) -> None:
        rules = replace(RULES, churn=0.2)
        nodes = range(4000)
        for is_there, shares in (
            (True, {"crashes": 0.1, "leaves": 0.1, "stays": 0.8}),
            (False, {"joins": 0.5, "is gone": 0.5}),
        ):
            does = [comes_and_goes(rules, node, 3, is_there) for node in nodes]
            assert {what: does.count(what) for what in set(does)} == {
                what: pytest.approx(4000 * share, abs=130) for what, share in shares.items()
            }

    def test_leavers_are_forgotten_at_once_and_the_crashed_are_not(self) -> None:
        fate = {node: comes_and_goes(replace(RULES, churn=0.5), node, 1, is_there=True) for node in range(100)}
        crasher, leaver, stayer = (
            next(node for node in fate if fate[node] == what) for what in ("crashes", "leaves", "stays")
        )
        views = {node: [n for n in (crasher, leaver, stayer) if n != node] for node in (crasher, leaver, stayer)}
        universe = {5: members_of(views, wanted=2)}
        there, crashed = churned(replace(RULES, churn=0.5), 1, universe, set(views))
        assert (there, crashed) == ({stayer}, {crasher})
        assert universe[5] == {crasher: Member([], 0), leaver: Member([], 0), stayer: Member([crasher], 2)}

    def test_joiners_count_on_each_other_and_begin_again_where_they_stopped_counting(self) -> None:
        rules = replace(RULES, churn=0.1)
        joiners = [node for node in range(40) if comes_and_goes(rules, node, 4, is_there=False) == "joins"]
        universe = {
            5: {node: Member([], 0, turns=3, wait=8, due=12) for node in range(40)},
            6: {joiners[0]: Member([], 0)},
        }
        there, _ = churned(rules, 4, universe, set())
        assert there == set(joiners)
        for node in joiners:
            member = universe[5][node]
            assert (member.turns, member.wait, member.due) == (3, 1, 4)
            assert len(member.view) == member.wanted == reference.fan_out(rules, len(joiners))
            assert set(member.view) <= set(joiners) - {node}
        assert universe[6][joiners[0]] == Member([], 0, due=4)  # alone

    def test_all_go_and_half_return(self) -> None:
        present = [set(stage.views[5]) for stage in run(replace(RULES, churn=1.0), {5: list(range(200))})]
        assert [len(nodes) for nodes in present[:2]] == [200, 0]
        assert len(present[2]) == pytest.approx(100, abs=30)
        assert not any(before & after for before, after in pairwise(present))

    @pytest.mark.parametrize("schedule", PLAYS)
    def test_so_little_of_it_that_nobody_goes_is_none(self, schedule: str) -> None:
        rules, topics = replace(RULES, schedule=schedule), {5: list(range(20)), 6: list(range(10, 40))}
        assert run(replace(rules, churn=1e-18), topics) == run(rules, topics)

    @given(universes(), cases.settings(**cases.ANY), IDS)
    def test_whoever_is_held_is_there_and_views_stay_ordered(self, topics: Topics, chosen: Settings, seed: int) -> None:
        rules = cases.rules(chosen, seed)
        for stage in run(rules, topics):
            assert set(stage.views) == set(topics)
            for topic, views in stage.views.items():
                assert set(views) <= set(topics[topic])
                for node, view in views.items():
                    assert set(view) <= set(views) - {node}
                    assert view == reference.ranked(rules, node, view)
