"""Frames that nobody who keeps the rules sends, at nodes of every protocol on sockets; `tools/fuzz` plays more of them."""

import json
from dataclasses import asdict

import pytest

from fuzzing import BrokenError, Outcome, decoded, fuzz, most_bytes
from memory_net import identity
from ropewalk.engines.live import transport
from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.frames import REFUSED, frame
from ropewalk.engines.live.handshake import Called, Terms
from ropewalk.engines.live.wire import KINDS, Codec, Topics, WireError
from ropewalk.protocols.catalogue import ON_SOCKETS, PROTOCOLS
from ropewalk.protocols.stan.walks import Walks

SOME, MANY = 2_500, 250_000  # frames for each protocol; with MANY as many messages have to come through to the machine

ONCE_FAILED = [  # protocol, frames, seed
    ("magnet", 1000, 2),  # a walk that named the node itself as who began it had the node call itself
]

each = pytest.mark.parametrize("protocol", ON_SOCKETS)


def _was_worth_it(outcome: Outcome) -> None:
    """What comes through is worth as much as what does not, and of both there was enough."""
    assert 0.1 < outcome.refused / outcome.frames < 0.6
    assert outcome.frames - outcome.refused <= outcome.struck <= outcome.frames
    assert outcome.taken_in > 0.2 * outcome.frames
    assert outcome.limited["garbled"] == pytest.approx(outcome.cut_off, abs=8, rel=0.005)
    assert len(outcome.made) == 8


@each
def test_a_node_holds_out_and_does_its_work_afterwards(protocol: str) -> None:
    outcome = fuzz(protocol, SOME, seed=1)
    assert outcome.frames == SOME
    _was_worth_it(outcome)


@pytest.mark.parametrize(("protocol", "frames", "seed"), ONCE_FAILED)
def test_what_once_failed_does_so_no_more(protocol: str, frames: int, seed: int) -> None:
    fuzz(protocol, frames, seed)


@pytest.mark.long
@pytest.mark.timeout(3600)
@each
def test_a_node_holds_out_for_long(protocol: str, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = fuzz(protocol, MANY, seed=20, taken_in=MANY)
    with capsys.disabled():
        print("\n" + json.dumps({"protocol": protocol} | asdict(outcome)))
    assert outcome.frames >= MANY
    assert outcome.taken_in >= MANY
    _was_worth_it(outcome)


def test_the_same_seed_sends_the_same_frames() -> None:
    one, same, other = (fuzz("kato", 300, seed) for seed in (3, 3, 4))
    assert (one.digest, one.limited) == (same.digest, same.limited)
    assert one.digest != other.digest


def test_a_machine_that_fails_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def walk_on(*_) -> list:
        raise KeyError("broken")

    monkeypatch.setattr(Walks, "walk_on", walk_on)
    with pytest.raises(BrokenError, match="has failed: a Received was not taken in: KeyError"):
        fuzz("stan", 50, seed=1)


def test_a_bound_that_is_broken_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzing.MOST_BYTES", 1000)
    with pytest.raises(BrokenError, match="bytes more, of 1000 allowed"):
        fuzz("stan", 200, seed=1)


def test_from_half_of_all_frames_on_memory_may_grow_no_more_with_them() -> None:
    assert most_bytes(10_000, None) > most_bytes(1000, None)
    assert most_bytes(10**6, 2_000_000) == most_bytes(10**6 // 2, 2_000_000)
    assert most_bytes(10**6, 2_000_000) - 2_000_000 < 64 * MANY * 2  # less than an object of each would be


def test_a_node_that_keeps_all_that_comes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it may keep least: after as few frames as are sent every day."""
    heard, kept = Connection.data_received, list[bytes]()

    def data_received(self: Connection, data: bytes) -> None:
        kept.append(data)
        heard(self, data)

    monkeypatch.setattr(Connection, "data_received", data_received)
    with pytest.raises(BrokenError, match="bytes more, of"):
        fuzz("scribe", SOME, seed=1)


def test_a_node_that_no_longer_works_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = transport.Transport.received

    def received(self: transport.Transport, connection, messages) -> None:
        heard(self, connection, [each for each in messages if each.kind not in ("push", "have", "want")])

    monkeypatch.setattr(transport.Transport, "received", received)
    with pytest.raises(BrokenError, match="afterwards: of 3 events that attacked published, others missed"):
        fuzz("stan", 50, seed=1)


def test_lists_in_lists_without_end_are_refused() -> None:
    """The fuzzer found it: what a later version may have added is skipped, and may be deep."""
    codec, deep = Codec(PROTOCOLS["stan"].messages), b"\x91" * 60_000
    assert decoded(codec, frame(KINDS["withdraw"], b"\x92\x05" + deep)) == 1
    with pytest.raises(WireError, match="cannot be read"):
        Topics().learn(deep)
    called = Called(Terms(identity(1, "a"), "a:1", "stan"), b"", None)
    with pytest.raises(WireError, match="cannot be read"):
        called.receive(REFUSED, b"\x92\xa0" + deep)


def test_a_decoder_that_raises_anything_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    codec = Codec(PROTOCOLS["stan"].messages)
    assert decoded(codec, frame(33, b"\xc1")) == 1

    def decode(*_) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(codec, "decode", decode)
    with pytest.raises(BrokenError, match="the decoder raised ValueError"):
        decoded(codec, frame(33, b"\xc1"))
