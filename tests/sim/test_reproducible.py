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
from ropewalk.engines.sim.publishing import publications
from ropewalk.engines.sim.record import Trace
from towns import PERIOD, TIMED, Town
trace = Trace()
rules = [Loss(1, 0.05), WideArea(1), Duplication(1, 0.05), Reordering(1, 0.05)]
settings = replace(TIMED, manager="{manager}", learn=True, snoop=True, churn=0.1, rounds=6)
town = Town(settings=settings, rules=rules, observers=[trace], invariants=[], protocol="{protocol}")
town.acts = publications(town.population, 20, 2, PERIOD, 5 * PERIOD)
town.play()
print(trace.digest, town.simulator.handled)
"""


@pytest.mark.parametrize(
    ("protocol", "manager"),
    [("stan", "given"), ("stan", "scamp"), ("stan", "cyclon"), ("flood", "scamp"), ("gossipsub", "given")],
)
def test_the_same_trace_under_different_hash_seeds(protocol: str, manager: str) -> None:
    found = []
    for hash_seed in ("0", "1", "4242"):
        places = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": places}
        done = subprocess.run(
            [sys.executable, "-c", HISTORY.format(protocol=protocol, manager=manager)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout)
    assert found[0] == found[1] == found[2]
    assert int(found[0].split()[1]) > 1000
