"""Deal a stored universe's subscriptions out anew, and store it: what comes out without correlation."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ropewalk.engines.contract import Phase
from ropewalk.tables.frames import read_table, write_table
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest, Store, digest_of, drafted
from ropewalk.universes.interests import gather, pairs_of
from ropewalk.universes.rewire import rewired


def rewire(
    universe: Store, seed: int, out: Path, *, overwrite: bool, session: AbstractContextManager[Session], phase: Phase
) -> dict[str, Any]:
    """A new store at `out` in which every node follows as many topics and every topic has as many subscribers."""
    settings = {"universe": universe.manifest.name}
    # Filters are not dealt out, so there is nothing left that a space would cut.
    defaults = {name: value for name, value in universe.manifest.defaults.items() if name != "space"}
    manifest = Manifest(
        name=f"rewired-{digest_of([settings, seed])}",
        made_by="rewire",
        seed=seed,
        settings=settings,
        defaults=defaults,
    )
    with drafted(out, manifest, overwrite=overwrite) as draft, session as spark, phase("rewire"):
        interests = gather(read_table(spark, universe, SUBSCRIPTIONS))
        try:
            dealt = rewired(interests.nodes, interests.subscription_count, seed)
            write_table(draft, SUBSCRIPTIONS, pairs_of(dealt))
        finally:
            interests.unpersist()
    return {
        "universe": manifest.name,
        "seed": seed,
        "nodes": interests.node_count,
        "topics": interests.topic_count,
        "subscriptions": interests.subscription_count,
    }
