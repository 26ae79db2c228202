"""Cases of which some suffice from day to day: the rest is for the gate, and for `make long`."""

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet


def portions(cases: Iterable[object], daily: int, gate: int = 0) -> list[ParameterSet]:
    """The first are run every day, those up to `gate` are thorough, and all others long."""
    found = []
    for place, case in enumerate(cases):
        marks = [] if place < daily else [pytest.mark.thorough] if place < gate else [pytest.mark.long]
        found.append(pytest.param(case, marks=marks))
    return found
