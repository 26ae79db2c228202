"""Histories of nodes on rings, made up by chance: what `swarm` is for StaN, this is for Scribe and Magnet.

Who follows what, what the network does and what happens to nodes is drawn as there. Nobody lies: a ring believes what it is told.
All faults end some periods before the history does; then rings and trees must be whole again, and every event must have reached
whoever it is owed to.
"""

from ropewalk.engines.sim.histories import Scenario
from ropewalk.engines.sim.swarm import PERIOD, Draw, events_of, followed_by, rules_of, troubles_of
from ropewalk.protocols.magnet.settings import Settings as MagnetSettings
from ropewalk.protocols.scribe.settings import Settings as ScribeSettings

QUIET = 16  # periods without faults at the end


def scenario(seed: int) -> Scenario:
    """What a seed stands for."""
    draw = Draw(seed)
    rounds = draw.whole("rounds", 24, 32)
    protocol = draw.one("protocol", ("scribe", "magnet", "magnet", "magnet"))
    settings: ScribeSettings | MagnetSettings = ScribeSettings(rounds=rounds, period=PERIOD)
    if protocol == "magnet":
        settings = MagnetSettings(
            rounds=rounds,
            period=PERIOD,
            samples=draw.whole("samples", 1, 12),
            degree=draw.between("degree", 4.0, 19.0),
            placement=draw.one("placement", ("similar", "similar", "hashed")),
            choice=draw.one("choice", ("similar", "first")),
            grafting=draw.one("grafting", ("printed", "strict")),
        )
    followed = followed_by(draw)
    nodes = sorted({node for held in followed.values() for node in held})
    end, last = (rounds - QUIET) * PERIOD, (rounds - QUIET / 2) * PERIOD
    return Scenario(
        seed=seed,
        protocol=protocol,
        settings=settings,
        followed=followed,
        rules=rules_of(draw, nodes, settings, end),
        acts=[*troubles_of(draw, nodes, followed, settings, end), *events_of(draw, nodes, followed, settings, last)],
    )
