"""Every claim says what it has to say, and its verdict follows from its numbers."""

import json
import re

import pytest

from ropewalk.errors import UsageError
from ropewalk.papers.catalogue import CLAIMS, chosen
from ropewalk.papers.contract import Claim

EVERY = pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)


@EVERY
def test_a_claim_is_stated_in_full(claim: Claim) -> None:
    assert re.fullmatch(r"[A-Z]-[A-Z]+\d*(/\d+)?[a-z]?(-[a-z]+)*", claim.id)
    assert claim.sentence.endswith(".")
    assert claim.paper
    assert re.search(r"[Ff]igure|[Tt]able|section", claim.place)
    assert claim.tolerance
    assert not claim.tolerance.endswith(".")
    assert json.loads(json.dumps(claim.published))
    for text in (claim.caveat, claim.explanation):
        assert not text or text.endswith(".")


def test_claims_are_chosen_by_id_in_the_order_of_the_catalogue() -> None:
    assert chosen(()) == list(CLAIMS.values())
    assert [claim.id for claim in chosen(("B-F6a", "A-T2"))] == ["A-T2", "B-F6a"]
    with pytest.raises(UsageError, match="claim 'A-T9' is not known; choose from: A-F1, A-T1, "):
        chosen(("A-T2", "A-T9"))
