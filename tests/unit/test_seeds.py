from hypothesis import given
from hypothesis import strategies as st

from ropewalk.ids import mix_long
from ropewalk.seeds import chance, pick, stream, unit

SEEDS = st.integers(0, 2**63 - 1)


@given(SEEDS, st.integers(1, 2**31))
def test_a_pick_is_below_its_count(seed: int, count: int) -> None:
    assert 0 <= pick(chance(seed, "pick"), count) < count


@given(SEEDS)
def test_a_unit_lies_in_the_half_open_interval(seed: int) -> None:
    assert 0 <= unit(chance(seed, "unit")) < 1


def test_the_largest_chance_still_picks_the_last() -> None:
    assert pick(2**63 - 1, 7) == 6
    assert unit(2**63 - 1) < 1


def test_labels_tell_choices_apart() -> None:
    drawn = {chance(seed, what, a, b) for seed in (1, 2) for what in ("walk", "drop") for a in (1, 2) for b in (1, 2)}
    assert len(drawn) == 16


@given(SEEDS, SEEDS)
def test_a_stream_goes_on_with_its_labels(seed: int, label: int) -> None:
    assert mix_long(label, stream(seed, "walk")) >> 1 == chance(seed, "walk", label)


def test_picks_are_uniform() -> None:
    counts = [0] * 10
    for label in range(20_000):
        counts[pick(chance(3, "uniform", label), 10)] += 1
    chi_square = sum((count - 2000) ** 2 / 2000 for count in counts)
    assert chi_square < 27.9  # 9 degrees of freedom, one in a thousand
