"""Nodes in processes of their own, and what goes wrong with several at a time."""

import os
from pathlib import Path

import pytest

from alive import alive, eventually
from ropewalk.engines.live.cluster import Cluster
from ropewalk.engines.live.faults import faults_of
from ropewalk.errors import RunError
from ropewalk.protocols.stan.settings import Settings

SETTINGS = Settings(schedule="timed", manager="scamp", learn=True, discover=True, period=0.5, rounds=12)
MEMBERS = {7: [1, 2, 3, 4, 5]}


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.thorough
@alive
async def test_who_is_killed_while_it_restarts_or_is_frozen_ends_no_run(tmp_path: Path) -> None:
    async with Cluster(MEMBERS, SETTINGS, 1, tmp_path, processes=None) as cluster:
        await cluster.begin({})
        await cluster.play([], faults_of("restart@1,kill:40%@1,freeze:60%@1+1,kill:20%@2"))
        assert 0 < len(cluster.running) < len(MEMBERS[7])
    assert not any(is_there(worker.process.pid) for worker in cluster.spawned)


@alive
async def test_a_cluster_that_cannot_start_leaves_no_process_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()  # no folder, so nothing can be kept in it
    cluster = Cluster(MEMBERS, SETTINGS, 1, tmp_path / "taken", processes=3)
    with pytest.raises(RunError):
        async with cluster:
            await cluster.begin({})
    assert len(cluster.spawned) == 3
    await eventually(lambda: not any(is_there(worker.process.pid) for worker in cluster.spawned))
