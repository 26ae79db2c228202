"""StaN, section 2.4: what walks cost, and what they save."""

from ropewalk.engines.contract import FINAL, INITIAL
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import FIRST_CELL, ROUNDS, STAN, TTL, grid_universe

SMALL = 0.25  # of a topic's mean subscribers: what "a small sample of node ids" is to mean
ID_BYTES = 8
TIMED_CELL = (300, 30)


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001 (one size, small)
    """Set G, 1000 x 100."""
    universe = grid_universe(lab, "G", FIRST_CELL, lab.seed)
    run = lab.run(universe, lab.seed, keep={"rounds", "traffic"}, rounds=ROUNDS, ttl=TTL)
    messages, ids = (run.document["traffic"][what] for what in ("messages", "ids"))
    turns = universe.nodes * ROUNDS
    before, after = (run.mean("connections", stage) for stage in (INITIAL, FINAL))
    nodes = grid_universe(lab, "G", TIMED_CELL, lab.seed)
    timed = lab.nodes(nodes, lab.seed, rounds=ROUNDS, ttl=TTL)
    return Measured(
        {
            "with_timers": {
                kind: dict(
                    zip(("messages", "bytes"), (count / (timed.nodes * ROUNDS) for count in counts), strict=True)
                )
                for kind, counts in sorted(timed.sent.items())
            },
            "messages_per_node_and_round": messages / turns,
            "ids_per_message": ids / messages,
            "id_bytes_per_node_and_round": ID_BYTES * ids / turns,
            "mean_subscribers": universe.subscriptions / universe.topics,
            "connections": [before, after],
            "keep_alives_saved_per_node_and_period": before - after,
            "periods_until_messages_are_paid_back": messages / universe.nodes / (before - after),
        }
    )


def checks(numbers: Numbers) -> list[Check]:
    """A small sample, and fewer connections to keep alive."""
    ids, members = numbers["ids_per_message"], numbers["mean_subscribers"]
    before, after = numbers["connections"]
    return [
        Check(
            f"a message carries {ids:.1f} ids, {ids / members:.0%} of a topic's mean subscribers",
            ids <= SMALL * members,
        ),
        Check(f"connections to keep alive fall from {before:.1f} to {after:.1f} a node", after < before),
    ]


def draw(measured: Measured) -> list[Panel]:
    """Cost and saving, added up over periods."""
    numbers = measured.numbers
    paid = numbers["messages_per_node_and_round"] * ROUNDS
    saved = numbers["keep_alives_saved_per_node_and_period"]
    end = 2 * numbers["periods_until_messages_are_paid_back"]
    return [
        Panel(
            title="Messages sent once, keep-alives saved for ever",
            x="keep-alive periods after alignment",
            y="messages per node",
            reading="Where the lines cross, the messages of all rounds are paid back, if a connection costs one message a period.",
            curves=[
                Curve("walks of all rounds", [(0.0, paid), (end, paid)], "law", 1),
                Curve("keep-alives saved", [(0.0, 0.0), (end, end * saved)], "line", 0),
            ],
        )
    ]


CLAIM = Claim(
    id="B-O1",
    sentence="Walks cost little, since messages carry a small sample of ids, and fewer connections have to be kept alive.",
    paper=STAN,
    place="section 2.4",
    published="no numbers",
    tolerance=f"set G: a message carries at most {SMALL:.0%} of a topic's mean subscribers, and nodes end with fewer connections",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="with_timers: messages and bytes per node and round by kind, in the simulator on 300 x 30, where replies are handed back from"
    " node to node (relay), links are announced, and every connection has a keep-alive a round.",
)
