import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.ids import identify, mix_bytes, mix_long, weight, xxhash64

LONGS = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("data", "seed", "published"),
    [  # test vectors of the XXH64 reference implementation
        (b"", 0, 0xEF46DB3751D8E999),
        (b"a", 0, 0xD24EC4F1A98C6E5B),
        (b"abc", 0, 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0, 0xFBCEA83C8A378BF1),
    ],
)
def test_bytes_hash_to_the_published_vectors(data: bytes, seed: int, published: int) -> None:
    assert mix_bytes(data, seed) == published


@given(LONGS, st.integers(0, 2**64 - 1))
def test_a_long_hashes_as_its_eight_bytes(value: int, state: int) -> None:
    assert mix_long(value, state) == mix_bytes((value & (2**64 - 1)).to_bytes(8, "little"), state)


@given(LONGS, LONGS)
def test_ids_and_weights_are_63_bit_and_not_negative(key: int, other: int) -> None:
    assert 0 <= weight(key, other) < 2**63
    assert 0 <= identify(f"node-{key}") < 2**63


@given(LONGS, LONGS)
def test_the_order_of_hashed_values_matters(a: int, b: int) -> None:
    assert (xxhash64(a, b) == xxhash64(b, a)) == (a == b)


def test_neighbouring_names_do_not_share_a_concatenation() -> None:
    assert weight(1, 23) != weight(12, 3)
