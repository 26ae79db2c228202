"""Members of topics are found in populations of some hundred nodes, each of which knows one other to begin with."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from ropewalk.engines.sim.network import Duplication, Loss, Partition, Reordering, Window
from ropewalk.protocols.contract import Contact, Effect, Input, Received
from ropewalk.protocols.discovery import leases
from ropewalk.protocols.discovery.messages import Found, Message, Seek, Serve, Served, Unserve
from ropewalk.protocols.discovery.serving import Serving
from ropewalk.protocols.discovery.settings import MOST_LOOKUPS, MOST_OPEN, MOST_SERVING, Settings
from ropewalk.protocols.discovery.tags import tag
from ropewalk.seeds import chance
from seekers import REFRESH, SETTINGS, Messages, Seeker, Village

HERE = Path(__file__).parent
ONE, TWO, THIRTY, NOBODY = (chance(1, "topic", number) for number in range(4))  # ids of topics look like any id


def with_members(village: Village) -> dict[int, list[int]]:
    """Topics of one, two and thirty members, announced."""
    village.run(60.0)
    members = {ONE: village.ids[5:6], TWO: village.ids[10:12], THIRTY: village.ids[20:50]}
    for topic, serving in members.items():
        village.tell(serving, "serve", topic)
    village.run(60.0)
    return members


def shares_found(village: Village, members: dict[int, list[int]], nodes: list[int]) -> list[float]:
    """For every topic, how many of the nodes that do not serve it find somebody who does, in one lookup."""
    shares = []
    for topic, serving in members.items():
        found = village.sought([node for node in nodes if node not in serving], topic)
        shares.append(sum(bool(set(named) & set(serving)) for named in found.values()) / len(found))
    return shares


def numbers(value: object) -> Iterator[int]:
    """Every number in a message, however deep."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from numbers(each)
    elif is_dataclass(value):
        for each in fields(value):
            yield from numbers(getattr(value, each.name))


def test_every_seeker_finds_a_member_two_minutes_after_the_first_node_came() -> None:
    messages = Messages()
    village = Village(200, observers=[messages])
    members = with_members(village)
    assert shares_found(village, members, village.ids) == [1.0, 1.0, 1.0]
    assert set(map(tuple, village.sought(village.ids, NOBODY).values())) == {()}
    # Nothing tells which topic it is about, and nobody is named who has not announced itself.
    assert {*members, NOBODY}.isdisjoint(
        number for _, _, message in messages.sent_so_far for number in numbers(message)
    )
    by_tag = {tag(topic): set(serving) for topic, serving in members.items()}
    named = [message for _, _, message in messages.sent_so_far if isinstance(message, Found | Served)]
    assert all({contact.id for contact in message.serving} <= by_tag.get(message.tag, set()) for message in named)
    # And all is quiet in between.
    messages.sent_so_far.clear()
    village.run(2 * REFRESH)
    assert len(messages.sent_so_far) / 200 / 2 < 40


def test_a_tenth_of_all_messages_lost() -> None:
    village = Village(200, rules=[Loss(1, 0.1)])
    members = with_members(village)
    assert min(shares_found(village, members, village.ids)) > 0.97
    village.run(3 * REFRESH)
    assert shares_found(village, members, village.ids) == [1.0, 1.0, 1.0]


def test_doubled_and_overtaken_messages() -> None:
    village = Village(100, rules=[Duplication(1, 0.3), Reordering(1, 0.3, 3.0)])
    members = with_members(village)
    village.run(2 * REFRESH)
    assert shares_found(village, members, village.ids) == [1.0, 1.0, 1.0]


def test_a_third_of_all_nodes_crash_at_once() -> None:
    village = Village(200)
    members = with_members(village)
    alive = {ONE: members[ONE], TWO: members[TWO][:1], THIRTY: members[THIRTY][:20]}
    spared = {village.ids[0], *(node for serving in alive.values() for node in serving)}
    crashed = [node for node in village.ids if chance(1, "crash", node) < 0.35 * 2**63 and node not in spared]
    crashed += [node for topic, serving in members.items() for node in serving if node not in alive[topic]]
    crashed = list(dict.fromkeys(crashed))
    assert len(crashed) >= 60
    for node in crashed:
        village.simulator.stop(node)
    left = [node for node in village.ids if node not in crashed]
    assert min(shares_found(village, alive, left)) > 0.5  # at once, through what is left
    village.run(SETTINGS.lease)
    assert shares_found(village, alive, left) == [1.0, 1.0, 1.0]
    assert all(set(named) <= set(alive[THIRTY]) for named in village.sought(left, THIRTY).values())


def test_members_on_both_sides_of_a_partition_learn_of_each_other_when_it_heals() -> None:
    begin, end = 120.0, 120.0 + 10 * REFRESH
    everybody = Village(100).ids
    apart = frozenset(everybody[50:])
    village = Village(100, rules=[Partition(Window(begin, end), apart)])
    village.run(begin + 5 * REFRESH)
    here, there = everybody[10:13], everybody[60:63]
    village.tell([*here, *there], "serve", THIRTY)
    village.run(5 * REFRESH)
    assert all(village.node(node).heard_of(THIRTY) <= set(here) for node in here)
    assert all(village.node(node).heard_of(THIRTY) <= set(there) for node in there)
    village.run(6 * REFRESH)
    assert all(village.node(node).heard_of(THIRTY) & set(there) for node in here)
    assert all(village.node(node).heard_of(THIRTY) & set(here) for node in there)
    assert all(named for named in village.sought(everybody, THIRTY).values())


def test_nodes_that_come_before_their_seed_find_it_when_it_is_there() -> None:
    village = Village(30)
    village.simulator.stop(village.ids[0])
    village.run(100.0)
    assert not any(len(village.node(node).discovery.routes) for node in village.ids[1:])
    village.start(village.ids[0])
    members = with_members(village)
    village.run(REFRESH)
    assert shares_found(village, {ONE: members[ONE]}, village.ids) == [1.0]


def test_two_nodes_are_enough_and_one_finds_nobody() -> None:
    village = Village(2)
    first, second = village.ids
    village.tell([first], "serve", ONE)
    assert village.sought([first], ONE) == {first: []}
    assert village.sought([second], ONE) == {second: [first]}
    village.tell([second], "serve", TWO)
    village.run(10.0)
    assert village.sought([first], TWO) == {first: [second]}


def test_who_serves_no_more_is_found_no_more() -> None:
    village = Village(60)
    members = with_members(village)
    village.tell(members[TWO][:1], "serve_no_more", TWO)
    village.run(10.0)
    others = [node for node in village.ids if node not in members[TWO]]
    assert set(map(tuple, village.sought(others, TWO).values())) == {(members[TWO][1],)}


def test_the_first_announcements_follow_soon_and_then_there_is_one_per_refresh() -> None:
    settings = Settings(refresh=120.0, retry=5.0)
    serving = Serving(tag=1, era=1, left_at={7: Contact(7)})
    assert [serving.until_next(settings) for _ in range(6)] == [10.0, 20.0, 40.0, 80.0, 120.0, 120.0]
    serving.left_at.clear()  # nobody is reached any more
    assert [serving.until_next(settings) for _ in range(2)] == [5.0, 10.0]


def test_another_secret_is_another_network() -> None:
    village = Village(30, secret=b"ours")
    members = with_members(village)
    outsider = village.node(village.ids[29])
    outsider.discovery.secret = b"a guess"
    assert village.sought(village.ids[28:], ONE) == {village.ids[28]: members[ONE], village.ids[29]: []}


def test_a_topic_that_everybody_follows_does_not_wear_out_a_few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "MOST_SERVING", 2)  # so that sixty are a crowd
    messages = Messages()
    village = Village(60, observers=[messages])
    village.run(60.0)
    village.tell(village.ids, "serve", THIRTY)
    village.run(REFRESH)
    first = sum(isinstance(message, Serve) for _, _, message in messages.sent_so_far)
    village.run(16 * REFRESH)
    messages.sent_so_far.clear()
    village.run(8 * REFRESH)
    later = sum(isinstance(message, Serve) for _, _, message in messages.sent_so_far) / 8
    assert first >= 60 * SETTINGS.replicas
    assert later < first / 3
    assert all(village.sought(village.ids, THIRTY).values())


def test_questions_per_lookup_grow_like_the_logarithm_of_the_number_of_nodes() -> None:
    means = []
    for nodes in (100, 800):
        messages = Messages()
        village = Village(nodes, observers=[messages])
        village.run(120.0)
        village.sought(village.ids[::8][:100], NOBODY)
        asked = messages.questions(tag(NOBODY))
        means.append(sum(asked.values()) / len(asked))
    assert means[0] < means[1] < 2 * means[0]
    assert means[1] < 16


# Nodes that do not keep the rules


class Liar(Seeker):
    """Whatever it is asked, it names contacts that do not exist: right at what is sought, and as members."""

    def handle(self, event: Input, now: float) -> list[Effect]:
        match event:
            case Received(sender, Seek(target, turn, _)):
                closer = tuple(Contact(target ^ (1 + number)) for number in range(8))
                serving = tuple(Contact(chance(self.me.id, "lie", turn, number)) for number in range(8))
                return self.links.post(sender, Found(target, turn, closer, serving), now)
            case _:
                return super().handle(event, now)


class Vandal(Seeker):
    """Whoever asks it something gets a handful of what makes no sense, and answers to what it did not ask."""

    def handle(self, event: Input, now: float) -> list[Effect]:
        effects = super().handle(event, now)
        match event:
            case Received(sender, Seek(target, turn, _)) if target >= 0:
                drawn = chance(self.me.id, "nonsense", turn)
                crowd = tuple(Contact(chance(drawn, "crowd", number)) for number in range(300))
                nonsense: list[Message] = [
                    Found(target, turn, crowd, crowd),
                    Found(target, turn, crowd[:8], crowd[:8]),  # it has been answered already
                    Found(target, drawn, crowd[:8], crowd[:8]),
                    Found(target, turn - 1, crowd[:8], crowd[:8]),
                    Served(target, turn, False, crowd[:8]),
                    Seek(-drawn, drawn, True),
                    *(Serve(contact.id, drawn) for contact in crowd[:5]),
                    Unserve(target),
                    Unserve(1 << 80),
                ]
                for each in nonsense:
                    effects += self.links.post(sender, each, now)
            case _:
                pass
        return effects


def with_rogues(kind: type[Seeker], share: float) -> tuple[Village, dict[int, list[int]], list[int]]:
    village = Village(150)
    rogues = [node for node in village.ids[50:] if chance(1, "rogue", node) < share * 1.5 * 2**63]
    for node in rogues:
        village.node(node).__class__ = kind
    assert len(rogues) > share * 150 * 0.7
    return village, with_members(village), [node for node in village.ids if node not in rogues]


def test_a_tenth_of_the_nodes_lie() -> None:
    village, members, honest = with_rogues(Liar, 0.1)
    assert min(shares_found(village, members, honest)) > 0.95
    exist = set(village.ids)
    assert all(route.contact.id in exist for node in honest for route in village.node(node).discovery.routes)


def test_a_tenth_of_the_nodes_send_nonsense() -> None:
    village, members, honest = with_rogues(Vandal, 0.1)
    assert min(shares_found(village, members, honest)) > 0.95
    for node in honest:
        machine = village.node(node).discovery
        assert len(machine.routes) <= 63 * SETTINGS.bucket
        assert len(machine.running) <= MOST_LOOKUPS
        assert len(machine.questions) <= MOST_OPEN
        assert all(len(kept) <= MOST_SERVING for kept in machine.leases.by_tag.values())
        assert all(tags for tags in machine.leases.tags_of.values())


# Reproducible

HISTORY = """
from ropewalk.engines.sim.network import Duplication, Loss, Reordering
from ropewalk.engines.sim.record import Trace
from seekers import Village
trace = Trace()
village = Village(40, {seed}, [Loss(1, 0.05), Duplication(1, 0.05), Reordering(1, 0.05)], observers=[trace])
village.run(60.0)
village.tell(village.ids[:20], "serve", 7)
village.run(300.0)
village.sought(village.ids, 7)
print(trace.digest, village.simulator.handled)
"""


def history(seed: int, hash_seed: str) -> str:
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    command = [sys.executable, "-c", HISTORY.format(seed=seed)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_one_seed_is_one_history_whatever_the_seed_of_hashes() -> None:
    first = history(1, "0")
    assert history(1, "4242") == first
    assert history(2, "0") != first
    assert int(first.split()[1]) > 1000
