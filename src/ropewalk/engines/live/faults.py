"""What is to go wrong in a cluster of real processes, and when.

kill:30%@20            three nodes in ten are killed, 20 periods after the beginning; they do not come back
freeze:10%@20+2        one in ten is stopped for two periods
partition:50%@20+6     half of the nodes cannot reach the others for six periods
restart@20             all nodes leave and come back, one after the other
"""

import re
from dataclasses import dataclass
from typing import Literal, cast

from ropewalk.errors import UsageError
from ropewalk.seeds import chance

Kind = Literal["kill", "freeze", "partition", "restart"]
FORM = re.compile(r"(kill|freeze|partition|restart)(?::(\d+(?:\.\d+)?)%)?@(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")
LASTING = ("freeze", "partition")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that happens to a share of the nodes."""

    kind: Kind
    share: float  # of all nodes
    at: float  # periods after the beginning
    lasts: float = 0.0  # periods

    def victims(self, nodes: list[int], seed: int) -> list[int]:
        """To whom it happens: by chance, the same for the same seed."""
        draws = {node: chance(seed, self.kind, node, int(1000 * self.at)) for node in nodes}
        return sorted(nodes, key=lambda node: (draws[node], node))[: round(self.share * len(nodes))]


def faults_of(said: str) -> list[Fault]:
    """What `--faults` says, in the order of time."""
    found = []
    for word in [word.strip() for word in said.split(",") if word.strip()]:
        parts = FORM.fullmatch(word)
        if parts is None:
            raise UsageError(
                f"--faults says {word!r}; say for instance kill:30%@20, freeze:10%@20+2, partition:50%@20+6 or restart@20, in periods."
            )
        kind, share, at, lasts = parts.groups()
        if (kind == "restart") == (share is not None):
            raise UsageError(f"--faults says {word!r}: {'all nodes restart' if share else 'say of how many, as 30%'}.")
        if (kind in LASTING) != (lasts is not None):
            wrong = f"say for how long, as {word}+2" if kind in LASTING else f"a {kind} does not last"
            raise UsageError(f"--faults says {word!r}: {wrong}.")
        if share is not None and not 0 < float(share) <= 100:  # noqa: PLR2004  per cent
            raise UsageError(f"--faults says {word!r}, but a share is above 0 and at most 100 %.")
        found.append(Fault(cast("Kind", kind), float(share or 100) / 100, float(at), float(lasts or 0)))
    return sorted(found, key=lambda fault: fault.at)
