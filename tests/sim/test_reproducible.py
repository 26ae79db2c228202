"""One seed is one history, whatever the seed of Python's own hashes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HISTORY = """
from dataclasses import replace
from ropewalk.engines.sim.network import Duplication, Loss, Reordering, WideArea
from ropewalk.engines.sim.record import Trace
from towns import TIMED, Town
trace = Trace()
rules = [Loss(1, 0.05), WideArea(1), Duplication(1, 0.05), Reordering(1, 0.05)]
settings = replace(TIMED, manager="{manager}", learn=True, snoop=True, churn=0.1, rounds=6)
town = Town(settings=settings, rules=rules, observers=[trace], invariants=[]).play()
print(trace.digest, town.simulator.handled)
"""


@pytest.mark.parametrize("manager", ["given", "scamp", "cyclon"])
def test_the_same_trace_under_different_hash_seeds(manager: str) -> None:
    found = []
    for hash_seed in ("0", "1", "4242"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent}"}
        done = subprocess.run(
            [sys.executable, "-c", HISTORY.format(manager=manager)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout)
    assert found[0] == found[1] == found[2]
    assert int(found[0].split()[1]) > 1000
