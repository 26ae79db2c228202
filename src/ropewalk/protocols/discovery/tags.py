"""What stands for a topic where strangers see it, and how a node shows that it knows the topic itself.

With a secret, only who shares it can tell or make either. Without one everybody can: from a tag or a proof nobody gets back
to a topic that it cannot name, but whoever guesses a topic's name can confirm the guess.
"""

from hashlib import blake2b

ID_BITS = 63


def tag(topic: int, secret: bytes = b"") -> int:
    """What a topic is called on the wire: a one-way hash of its id, as long as an id."""
    return _hashed(b"ropewalk topic", secret, topic)


def proof(topic: int, prover: int, judge: int, secret: bytes = b"") -> int:
    """What only a node that knows the topic can say to another, and what is of no use to anybody else.

    Both ids are in it, and links prove them: nobody can have somebody else say it, or say it again.
    """
    return _hashed(b"ropewalk proof", secret, topic, prover, judge)


def _hashed(person: bytes, secret: bytes, *ids: int) -> int:
    key = blake2b(secret, digest_size=32).digest() if secret else b""
    digest = blake2b(b"".join(each.to_bytes(8, "big") for each in ids), digest_size=8, key=key, person=person).digest()
    return int.from_bytes(digest, "big") >> (64 - ID_BITS)
