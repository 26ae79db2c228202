"""Verdicts follow from numbers: what holds when all is as published, and what does not when it is not."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.papers.contract import Check, Measured, judged, verdict_of
from ropewalk.papers.magnet import figure_7
from ropewalk.papers.stan import (
    journal_connectivity,
    journal_correlation,
    journal_figure_2,
    journal_figure_5,
    journal_figure_6,
    journal_figure_7,
    journal_figure_8,
    journal_figure_9,
    journal_figures_3_4,
    journal_repair,
    journal_table_1,
    journal_walk_length,
    workshop_figure_1,
    workshop_figure_2,
    workshop_figure_3,
    workshop_growth,
    workshop_table_1,
    workshop_table_2,
    workshop_table_3,
)
from ropewalk.papers.stan.workshop_table_2 import PUBLISHED


@given(st.lists(st.booleans()))
def test_all_some_none_or_nothing(outcomes: list[bool]) -> None:
    verdict = verdict_of([Check("found", holds) for holds in outcomes])
    if not outcomes:
        assert verdict == "not comparable"
    elif all(outcomes):
        assert verdict == "holds"
    else:
        assert verdict == ("holds in part" if any(outcomes) else "does not hold")


def test_the_reason_lists_what_holds_and_what_does_not_and_what_was_left_out() -> None:
    numbers = {"diameter": 4.0, "fpvs": {"1": 40.0, "4": 30.0, "8": 29.0}}
    verdict, why = judged(journal_walk_length.CLAIM, Measured(numbers, left_out=("A part was left out.",)))
    assert verdict == "holds"
    assert why.startswith("Holds: FPVS by TTL is 40.0 at 1, 30.0 at 4, 29.0 at 8;")
    assert why.endswith("A part was left out.")
    numbers["fpvs"] = {"1": 40.0, "4": 30.0, "8": 20.0}
    verdict, why = judged(journal_walk_length.CLAIM, Measured(numbers))
    assert verdict == "holds in part"
    assert "Does not: a hop saves 3.33 up to TTL 4 (the mean diameter is 4.0) and 2.50 beyond." in why


def table_2(factor: float) -> dict:
    found = [[factor * number for number in row] for row in PUBLISHED.values()]
    errors = [factor - 1.0]
    return {
        "G": {"root_mean_square": abs(errors[0]), "worst": errors[0], "cells": found},
    }


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "holds"), (1.08, "holds in part"), (1.2, "does not hold")])
def test_table_2_by_how_far_off(factor: float, verdict: str) -> None:
    assert verdict_of(workshop_table_2.checks(table_2(factor))) == verdict


@pytest.mark.parametrize(
    ("off", "verdict"), [(4.9, "holds"), (-4.9, "holds"), (5.1, "does not hold")], ids=["above", "below", "too far"]
)
def test_table_1_by_points(off: float, verdict: str) -> None:
    found = {level: share + off for level, share in workshop_table_1.PUBLISHED.items()}
    assert verdict_of(workshop_table_1.checks({"F": {"mean": found}})) == verdict


def test_figure_2_wants_total_flat_to_the_last_digit() -> None:
    numbers = {"configurations": [{"total": [91.7] * 9, "share_of_drop_early": 0.8}]}
    assert verdict_of(workshop_figure_2.checks(numbers)) == "holds"
    numbers["configurations"][0]["total"] = [91.7] * 8 + [math.nextafter(91.7, 92)]
    assert verdict_of(workshop_figure_2.checks(numbers)) == "holds in part"


def test_table_3_as_published() -> None:
    assert verdict_of(workshop_table_3.checks(workshop_table_3.PUBLISHED)) == "holds"
    before = {"clustering": 0.41, "diameter": 3}
    assert verdict_of(workshop_table_3.checks(workshop_table_3.PUBLISHED | {"before": before})) == "holds in part"


def test_figure_6_by_its_numbers() -> None:
    pvs = [25.4, 18.0, 16.5, 15.9, 15.8, 15.7, 15.6, 15.6, 15.5]
    assert verdict_of(journal_figure_6.checks({"lvs_constant": True, "pvs": pvs})) == "holds"
    assert verdict_of(journal_figure_6.checks({"lvs_constant": True, "pvs": [27.0, *pvs[1:]]})) == "holds in part"
    assert verdict_of(journal_figure_6.checks({"lvs_constant": False, "pvs": [30.0] * 8 + [20.0]})) == "does not hold"


def test_never_disconnected_means_never() -> None:
    whole = {"overlays": 253, "weakly": {"before": 253, "after": 253}, "strongly": {"before": 253, "after": 252}}
    assert verdict_of(journal_connectivity.weakly({"L8": whole})) == "holds"
    assert verdict_of(journal_connectivity.strongly({"L8": whole})) == "does not hold"


def test_what_is_lost_is_given_back() -> None:
    def kept(weak: float, strong: float, nobody: int, connections: float) -> dict[str, float]:
        names = ("weakly_connected", "strongly_connected", "held_by_nobody", "connections")
        return dict(zip(names, (weak, strong, nobody, connections), strict=True))

    settings = list(journal_repair.SETTINGS)
    good = dict(zip(settings, (kept(1, 0.5, 95, 75), *[kept(1, 0.95, 5, 70)] * 3, kept(1, 0.2, 200, 29)), strict=True))
    assert verdict_of(journal_repair.checks({"G": good})) == "holds"
    apart = good | {settings[-1]: kept(0.99, 0.2, 200, 29)}
    assert verdict_of(journal_repair.checks({"G": apart})) == "holds in part"


def test_views_that_do_not_grow_say_nothing_about_how_fast() -> None:
    assert verdict_of(journal_figure_8.checks({"L": {"times_slower": None}})) == "not comparable"
    assert verdict_of(journal_figure_8.checks({"L": {"times_slower": 2.0}})) == "holds"
    assert verdict_of(journal_figure_8.checks({"L": {"times_slower": 1.9}})) == "does not hold"


def test_only_universes_large_enough_are_compared() -> None:
    traces = {
        "wikipedia": {"topics": 190, "mean_absolute": 0.03},
        "livejournal": {"topics": 3431, "mean_absolute": 0.02},
    }
    assert verdict_of(journal_figure_5.checks({"traces": {}})) == "not comparable"
    assert verdict_of(journal_figure_5.checks({"traces": traces})) == "not comparable"
    traces["wikipedia"]["topics"] = 576
    assert verdict_of(journal_figure_5.checks({"traces": traces})) == "holds"
    traces["wikipedia"]["mean_absolute"] = 0.01
    assert verdict_of(journal_figure_5.checks({"traces": traces})) == "does not hold"


def test_sizes_are_compared_to_the_node_and_ratios_by_tolerance() -> None:
    made = {"L8": {"nodes": 4689, "topics": 253, "least_subscribers": 30}}
    assert verdict_of(journal_table_1.checks({"made": made, "cut": {}})) == "holds"
    cut = {"closed": {"L8": {"nodes_per_topic": 25.0}}}
    assert verdict_of(journal_table_1.checks({"made": made, "cut": cut})) == "holds in part"
    made["L8"]["least_subscribers"] = 29
    assert verdict_of(journal_table_1.checks({"made": made, "cut": {}})) == "does not hold"


def test_a_gain_on_disjoint_topics_is_exactly_none() -> None:
    sweep = {"L8": [{"correlation": at, "gain": at} for at in (0.1, 0.5)]}
    numbers = {"disjoint": {"gain": 0.0}, "by_correlation": sweep, "by_subscriptions": {}, "traces": {}}
    assert verdict_of(journal_correlation.checks(numbers)) == "holds"
    numbers["disjoint"] = {"gain": 1e-9}
    assert verdict_of(journal_correlation.checks(numbers)) == "holds in part"
    sweep["L8"].append({"correlation": 0.9, "gain": 0.5})
    assert verdict_of(journal_correlation.checks(numbers)) == "does not hold"


def test_examples_and_exponents() -> None:
    example = {"logical": [4], "physical": {"3": 1.0}}
    assert verdict_of(journal_figure_2.checks(example)) == "holds in part"
    assert verdict_of(figure_7.checks({"exponent": 1.82, "fits": [{}]})) == "holds"
    assert verdict_of(figure_7.checks({"exponent": 1.84, "fits": [{}]})) == "does not hold"


def test_figure_1_wants_densities_that_fall_and_few_who_follow_much() -> None:
    found = {
        "median_share_of_topics": 0.07,
        "busiest_share_of_topics": 1.0,
        "topics_per_doubling": [40, 41, 20, 3],  # a doubling is twice as wide as the one before
        "nodes_per_doubling": [500, 300, 100],
    }
    assert verdict_of(workshop_figure_1.checks({"F": [found], "G": [found]})) == "holds"
    rising = found | {"nodes_per_doubling": [100, 300, 200]}
    assert verdict_of(workshop_figure_1.checks({"F": [found], "G": [rising]})) == "holds in part"


def test_figure_3_wants_the_highest_gone_and_the_rest_as_it_was() -> None:
    largest = {"out before": 297.0, "out after": 103.0, "in before": 295.0, "in after": 100.0}
    low = dict.fromkeys(largest, 6.0)
    numbers = {"largest": largest, "low": low, "in_against_out": {"before": 0.01, "after": 0.03}}
    assert verdict_of(workshop_figure_3.checks(numbers)) == "holds"
    assert verdict_of(workshop_figure_3.checks(numbers | {"low": low | {"in after": 4.0}})) == "holds in part"


def test_growth_is_linear_in_topics_and_logarithmic_in_nodes() -> None:
    numbers = {"with_topics": {"1000": 3.1}, "with_nodes": {"100": 1.24}, "logarithmic": {"100": 1.21}}
    assert verdict_of(workshop_growth.checks(numbers)) == "holds"
    assert verdict_of(workshop_growth.checks(numbers | {"with_nodes": {"100": 3.0}})) == "holds in part"


def test_one_slope_for_all_universes_of_a_family() -> None:
    def family(*exponents: float | None) -> list[dict]:
        return [{"popularity": {"exponent": each}, "interest": {"exponent": each}} for each in exponents]

    assert verdict_of(journal_figures_3_4.checks({"L": family(2.0, 2.2)})) == "holds"
    assert verdict_of(journal_figures_3_4.checks({"L": family(2.0, 4.0)})) == "does not hold"
    assert verdict_of(journal_figures_3_4.checks({"L": family(2.0, None)})) == "does not hold"


def test_figure_7_by_who_gains() -> None:
    def universe(size: str, correlation: float, much: float) -> dict:
        shares = {"gains": 0.97, "gains_of_those_with_several": 0.99, "loses_above_lowest_decile": 0.0}
        return {"size": size, "correlation": correlation, "gains_much": much} | shares

    like = [universe(size, at, 0.3 + 0.3 * at) for size in ("L8", "W8") for at in (0.1, 0.95)]
    assert verdict_of(journal_figure_7.checks({"like_traces": like, "traces": []})) == "holds"
    loser = like[0] | {"loses_above_lowest_decile": 0.01}
    assert verdict_of(journal_figure_7.checks({"like_traces": like, "traces": [loser]})) == "holds in part"


def test_figure_9_by_how_far_apart() -> None:
    def universe(clustering: float, diameter: float, within: float) -> dict:
        compared = {"before": 0.16, "after": 0.16}
        return {
            "universe": "L8",
            "clustering": compared | {"ks": clustering},
            "diameter": compared | {"ks": diameter},
            "diameter_within_1": within,
        }

    for numbers, verdict in (
        ((0.1, 0.1, 0.95), "holds"),
        ((0.2, 0.1, 1.0), "holds in part"),
        ((0.1, 0.12, 1.0), "holds in part"),
        ((0.1, 0.1, 0.9), "holds in part"),
        ((0.2, 0.2, 0.9), "does not hold"),
    ):
        assert verdict_of(journal_figure_9.checks({"universes": [universe(*numbers)]})) == verdict
