"""All nodes of a simulation lie in the memory of one process: what does not fit is refused before it begins."""

from ropewalk.errors import UsageError
from ropewalk.tables.machine import memory_bytes
from ropewalk.tables.store import Store

OF_MEMORY = 0.6  # ours: the share of the machine that nodes may take; Spark and the tables have the rest


def refuse_beyond(universe: Store, needed: float) -> None:
    """Refuse a universe whose nodes would take more bytes than there are."""
    gigabytes, most = needed / 1e9, OF_MEMORY * memory_bytes() / 1e9
    if gigabytes > most:
        raise UsageError(
            f"{universe.path} would take the simulator about {gigabytes:.1f} GB, of {most:.1f} GB it may take here;"
            " use --engine batch, or cut a smaller universe."
        )
