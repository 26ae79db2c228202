"""Who may be whom. Both ends are driven by hand; TLS is stood for by the certificate that it would show."""

from dataclasses import replace

import pytest

from ropewalk.engines.live import handshake
from ropewalk.engines.live.frames import HELLO, PROOF, REFUSED, WELCOME
from ropewalk.engines.live.handshake import Called, Caller, Other, RefusedError, Terms
from ropewalk.engines.live.identity import Identity, contexts
from ropewalk.engines.live.wire import WireError
from ropewalk.protocols.contract import Contact

ANN, BOB, EVE = Identity.fresh(), Identity.fresh(), Identity.fresh()
SHOWN = {identity.id: contexts(identity, None)[2] for identity in (ANN, BOB, EVE)}


def terms(identity: Identity, **more) -> Terms:
    return Terms(identity, f"{identity.id}:1", "stan", **more)


def met(
    called: Terms, caller: Terms, *, shown: bytes | None = None, expected: int | None = None
) -> tuple[Other, Other]:
    """Whom both ends believe to have met."""
    certificate = SHOWN[called.identity.id] if shown is None else shown
    here = Called(called, SHOWN[called.identity.id], None)
    there = Caller(caller, certificate, expected, "ann:1")
    proof = there.receive(*here.begin())
    assert isinstance(proof, tuple)
    known = here.receive(*proof)
    welcomed = there.receive(*here.welcome())
    assert isinstance(welcomed, Other)
    return known, welcomed


def test_both_know_who_is_there() -> None:
    known, welcomed = met(terms(ANN), terms(BOB), expected=ANN.id)
    assert known.contact == Contact(BOB.id, f"{BOB.id}:1")
    assert welcomed.contact == Contact(ANN.id, f"{ANN.id}:1")
    assert (known.public, welcomed.public) == (BOB.public, ANN.public)


def test_a_node_that_starts_anew_is_told_from_its_former_self() -> None:
    first, second = (met(terms(ANN), terms(BOB))[0] for _ in range(2))
    assert first.incarnation != second.incarnation


def test_who_is_called_must_be_who_was_meant() -> None:
    with pytest.raises(RefusedError, match="another node"):
        met(terms(ANN), terms(BOB), expected=EVE.id)


def test_nobody_calls_itself() -> None:
    with pytest.raises(RefusedError, match="itself"):
        met(terms(ANN), terms(ANN))


def test_a_proof_is_worth_nothing_elsewhere() -> None:
    """Eve, whom Bob calls, hands on to Ann what Bob signs."""
    with_ann = Called(terms(ANN), SHOWN[ANN.id], None)
    with_eve = Caller(terms(BOB), SHOWN[EVE.id], EVE.id, "eve:1")
    proof = with_eve.receive(*with_ann.begin())
    assert isinstance(proof, tuple)
    with pytest.raises(RefusedError, match="not its key"):
        with_ann.receive(*proof)


def test_a_proof_is_worth_nothing_later() -> None:
    here = Called(terms(ANN), SHOWN[ANN.id], None)
    proof = Caller(terms(BOB), SHOWN[ANN.id], None, "").receive(*here.begin())
    assert isinstance(proof, tuple)
    here.receive(*proof)
    with pytest.raises(RefusedError, match="not its key"):
        Called(terms(ANN), SHOWN[ANN.id], None).receive(*proof)


@pytest.mark.parametrize(("mine", "yours"), [(b"one", b"two"), (b"", b"two"), (b"one", b"")])
def test_a_network_with_a_secret_lets_nobody_else_in(mine: bytes, yours: bytes) -> None:
    met(terms(ANN, secret=b"one"), terms(BOB, secret=b"one"))
    with pytest.raises(RefusedError, match="different secrets"):
        met(terms(ANN, secret=mine), terms(BOB, secret=yours))


def test_who_is_called_must_know_the_secret_too() -> None:
    pretending = Called(terms(ANN), SHOWN[ANN.id], None)
    knowing = Caller(terms(BOB, secret=b"one"), SHOWN[ANN.id], None, "")
    proof = knowing.receive(*pretending.begin())
    assert isinstance(proof, tuple)
    pretending.terms = terms(ANN)
    with pytest.raises(RefusedError, match="different secrets"):
        pretending.receive(*proof)
    assert pretending.proof is None
    pretending.proof = handshake._PROOF.decode(proof[1])  # it goes on all the same
    with pytest.raises(RefusedError, match="different secrets"):
        knowing.receive(*pretending.welcome())


def test_a_list_is_for_both_ends() -> None:
    with pytest.raises(RefusedError, match="not on the list"):
        met(terms(ANN, admits=lambda public: public == EVE.public), terms(BOB))
    with pytest.raises(RefusedError, match="not on the list"):
        met(terms(ANN), terms(BOB, admits=lambda public: public == EVE.public))


def test_a_certified_caller_has_the_key_of_its_certificate() -> None:
    for shown, why in ((None, "another key"), (SHOWN[EVE.id], "another key"), (SHOWN[BOB.id], "")):
        here = Called(terms(ANN, certified=True), SHOWN[ANN.id], shown)
        proof = Caller(terms(BOB), SHOWN[ANN.id], None, "").receive(*here.begin())
        assert isinstance(proof, tuple)
        if why:
            with pytest.raises(RefusedError, match=why):
                here.receive(*proof)
        else:
            assert here.receive(*proof).public == BOB.public


def test_versions_that_do_not_meet_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Called(terms(ANN), SHOWN[ANN.id], None)
    monkeypatch.setattr(handshake, "VERSIONS", (2, 4))
    there = Caller(terms(BOB), SHOWN[ANN.id], None, "")
    hello = handshake.Hello(1, 1, "stan", bytes(32))
    with pytest.raises(RefusedError, match="versions 1 to 1, this node 2 to 4"):
        there.receive(HELLO, handshake._ENCODER.encode(hello))
    assert here.begin()[0] == HELLO


@pytest.mark.parametrize("version", [0, 2, 99])
def test_nobody_is_believed_who_takes_a_version_that_was_not_offered(version: int) -> None:
    here = Called(terms(ANN), SHOWN[ANN.id], None)
    there = Caller(terms(BOB), SHOWN[ANN.id], None, "")
    _, body = here.begin()
    hello = handshake._HELLO.decode(body)
    hello.lowest = hello.highest = 1
    proof = there.receive(HELLO, handshake._ENCODER.encode(hello))
    assert isinstance(proof, tuple)
    said = handshake._PROOF.decode(proof[1])
    said.version = version
    with pytest.raises(RefusedError, match="speaks versions 1 to 1"):
        here.receive(PROOF, handshake._ENCODER.encode(said))


def test_another_protocol_is_said() -> None:
    with pytest.raises(RefusedError, match="it runs stan, this node magnet"):
        met(terms(ANN), replace(terms(BOB), protocol="magnet"))


@pytest.mark.parametrize("kind", [HELLO, PROOF, WELCOME, REFUSED, 40])
@pytest.mark.parametrize("body", [b"", b"\x90", b"\x91\xc0", b"rubbish", b"\x91\xa1\xff"])
def test_rubbish_is_refused_by_both(kind: int, body: bytes) -> None:
    with pytest.raises(WireError):
        Called(terms(ANN), SHOWN[ANN.id], None).receive(kind, body)
    with pytest.raises(WireError):
        Caller(terms(BOB), SHOWN[ANN.id], None, "").receive(kind, body)
