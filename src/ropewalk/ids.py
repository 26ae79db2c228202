"""Who is who, and who prefers whom: 63-bit ids and the weight by which a node ranks others.

Both are Spark's `xxhash64` with its top bit dropped, so that ids and weights order alike whether an engine compares
them as signed or unsigned. The hash of several values is chained: the hash of one is the seed of the next. The same
functions exist for numba in `arrays.hashing` and for Spark SQL in `tables.frames`, equal to the bit.

The weight replaces StaN's HASH(STR(p) + STR(q)) (Algorithm 1): it keeps what that function needs (uniform,
deterministic, asymmetric) and hashes fixed-width numbers, since concatenated strings are ambiguous ("1" + "23").
"""

from collections.abc import Callable
from typing import Final

try:  # the same hash in C, seven times as fast
    from xxhash import xxh64_intdigest
except ImportError:
    xxh64_intdigest = None  # type: ignore[assignment]

Hashable = int | str | bytes

MASK: Final = 0xFFFF_FFFF_FFFF_FFFF
PRIME_1: Final = 0x9E37_79B1_85EB_CA87
PRIME_2: Final = 0xC2B2_AE3D_27D4_EB4F
PRIME_3: Final = 0x1656_67B1_9E37_79F9
PRIME_4: Final = 0x85EB_CA77_C2B2_AE63
PRIME_5: Final = 0x27D4_EB2F_1656_67C5
STRIPE, WORD, HALF_WORD = 32, 8, 4  # bytes
SPARK_SEED: Final = 42  # what Spark SQL's xxhash64() starts from


def identify(name: str) -> int:
    """The lab id of whatever is called `name`: no dictionary is needed to agree on it."""
    return xxhash64(name) >> 1


def weight(key: int, other: int) -> int:
    """How far down node `key`'s list node `other` stands: lower is preferred."""
    return mix_long(other, mix_long(key, SPARK_SEED)) >> 1


def xxhash64(*values: Hashable) -> int:
    """Spark SQL's `xxhash64(...)` of longs, strings and binaries, as an unsigned 64-bit number."""
    state = SPARK_SEED
    for value in values:
        if isinstance(value, int):
            state = mix_long(value, state)
        else:
            state = mix_bytes(value.encode() if isinstance(value, str) else value, state)
    return state


def plain_mix_long(value: int, state: int) -> int:
    """XXH64 of the eight little-endian bytes of `value`, seeded with `state`."""
    mixed = (state + PRIME_5 + 8) & MASK
    mixed ^= _round(value & MASK)
    mixed = (_rotated(mixed, 27) * PRIME_1 + PRIME_4) & MASK
    return _avalanche(mixed)


def plain_mix_bytes(data: bytes, state: int) -> int:
    """XXH64 of `data`, seeded with `state`."""
    position, length = 0, len(data)
    if length >= STRIPE:
        lanes = [(state + PRIME_1 + PRIME_2) & MASK, (state + PRIME_2) & MASK, state, (state - PRIME_1) & MASK]
        while length - position >= STRIPE:
            for lane in range(4):
                word = int.from_bytes(data[position : position + 8], "little")
                lanes[lane] = (_rotated((lanes[lane] + word * PRIME_2) & MASK, 31) * PRIME_1) & MASK
                position += 8
        mixed = sum(_rotated(lane, turn) for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
        for lane in lanes:
            mixed = ((mixed ^ _round(lane)) * PRIME_1 + PRIME_4) & MASK
    else:
        mixed = (state + PRIME_5) & MASK
    mixed = (mixed + length) & MASK
    while length - position >= WORD:
        mixed ^= _round(int.from_bytes(data[position : position + 8], "little"))
        mixed = (_rotated(mixed, 27) * PRIME_1 + PRIME_4) & MASK
        position += 8
    if length - position >= HALF_WORD:
        mixed ^= (int.from_bytes(data[position : position + 4], "little") * PRIME_1) & MASK
        mixed = (_rotated(mixed, 23) * PRIME_2 + PRIME_3) & MASK
        position += 4
    for byte in data[position:]:
        mixed ^= (byte * PRIME_5) & MASK
        mixed = (_rotated(mixed, 11) * PRIME_1) & MASK
    return _avalanche(mixed)


def _round(word: int) -> int:
    return (_rotated((word * PRIME_2) & MASK, 31) * PRIME_1) & MASK


def _rotated(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & MASK


def _avalanche(mixed: int) -> int:
    mixed ^= mixed >> 33
    mixed = (mixed * PRIME_2) & MASK
    mixed ^= mixed >> 29
    mixed = (mixed * PRIME_3) & MASK
    return mixed ^ (mixed >> 32)


def c_mix_long(value: int, state: int) -> int:
    """The same by the C library."""
    return xxh64_intdigest((value & MASK).to_bytes(8, "little"), state)


def c_mix_bytes(data: bytes, state: int) -> int:
    """The same by the C library."""
    return xxh64_intdigest(data, state)


mix_long: Callable[[int, int], int] = plain_mix_long if xxh64_intdigest is None else c_mix_long
mix_bytes: Callable[[bytes, int], int] = plain_mix_bytes if xxh64_intdigest is None else c_mix_bytes
