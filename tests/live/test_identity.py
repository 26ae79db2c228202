from dataclasses import replace
from pathlib import Path

import pytest

from acquainted import FAST
from alive import Node, alive
from ropewalk.engines.live.envelope import MOST_SAID, STALE, sealed, signed, unseal
from ropewalk.engines.live.identity import KEY_FILE, Identity, id_of, is_signed, stretched, topic_of
from ropewalk.errors import InputError


def test_a_node_is_the_same_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "node"
    first = Identity.kept_in(folder)
    assert Identity.kept_in(folder).public == first.public
    assert id_of(first.public) == first.id < 2**63
    assert Identity.fresh().id != first.id


def test_a_key_is_its_owners_alone(tmp_path: Path) -> None:
    Identity.kept_in(tmp_path)
    key = tmp_path / KEY_FILE
    assert key.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]
    key.chmod(0o640)
    with pytest.raises(InputError, match="read by others than its owner; say chmod 600"):
        Identity.kept_in(tmp_path)


@pytest.mark.parametrize("text", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_said(tmp_path: Path, text: bytes) -> None:
    key = tmp_path / KEY_FILE
    key.write_bytes(text)
    key.chmod(0o600)
    with pytest.raises(InputError, match="holds no private key"):
        Identity.kept_in(tmp_path)


def test_names_of_topics_and_keys_of_nodes_are_ids_of_their_own() -> None:
    assert topic_of("news") != topic_of("News") != id_of(b"News")


def test_an_event_can_be_signed_and_nothing_of_it_changed() -> None:
    ann = Identity.fresh()
    event = signed(ann, (2, 3), b"said", 5_000_000)
    letter = unseal(event.payload)
    assert letter is not None
    assert (letter.said, letter.at) == ((b"said",), 5_000_000)
    assert letter.is_genuine(event)
    other = signed(ann, (2, 3), b"said", 5_000_001)
    assert other.id != event.id
    for forged in (
        replace(event, id=event.id ^ 1),
        replace(event, id=other.id),
        replace(event, publisher=9),
        replace(event, topics=(2, 4)),
        replace(event, payload=event.payload[:-1] + b"x"),
        replace(event, payload=other.payload),
    ):
        opened = unseal(forged.payload)
        assert opened is not None
        assert not opened.is_genuine(forged)


def test_what_was_signed_long_ago_or_in_the_future_is_stale() -> None:
    letter = unseal(signed(Identity.fresh(), (2,), b"said", 1_000_000_000).payload)
    assert letter is not None
    assert [letter.is_stale(1000.0 + off) for off in (0.0, STALE - 1, STALE + 1, -STALE - 1)] == [
        False,
        False,
        True,
        True,
    ]


def test_an_unsigned_event_is_genuine_of_nobody_and_has_no_id_of_a_signed_one() -> None:
    ann = Identity.fresh()
    event = sealed(ann, (2,), b"said", (1 << 63) - 1)
    letter = unseal(event.payload)
    assert letter is not None
    assert (letter.said, letter.public) == ((b"said",), None)
    assert not letter.is_genuine(event)
    assert letter.is_in_place(event)
    assert not letter.is_in_place(signed(ann, (2,), b"said", 1))
    assert not letter.is_stale(1e12)
    assert unseal(b"") is None
    assert unseal(b"\x01short") is None
    assert unseal(b"\x07other") is None
    assert MOST_SAID >= 1_048_576


def test_a_wrong_signature_is_none() -> None:
    ann = Identity.fresh()
    assert is_signed(b"text", ann.sign(b"text"), ann.public)
    assert not is_signed(b"text", ann.sign(b"other"), ann.public)
    assert not is_signed(b"text", b"short", ann.public)
    assert not is_signed(b"text", ann.sign(b"text"), b"short")


def test_a_secret_is_stretched_before_anything_is_made_with_it() -> None:
    assert stretched(b"") == b""  # there is none
    assert stretched(b"one") == stretched(b"one") != stretched(b"two")
    assert len(stretched(b"x" * 1000)) == 32


@alive
async def test_a_node_shows_nothing_that_is_made_with_its_secret_as_it_is() -> None:
    async with Node(options=replace(FAST, secret=b"one")) as node:
        assert node.transport.terms.secret == stretched(b"one")
