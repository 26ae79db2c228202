"""Cut a universe out of a stored trace, and store it with the sizes of all candidates."""

from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ropewalk.engines.contract import Phase
from ropewalk.errors import InputError
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest, Store, digest_of, drafted
from ropewalk.universes.sample import Candidate, Cut, Sampler, median_of
from ropewalk.universes.write import write_universe


def settings_of(trace: Store, cut: Cut) -> dict[str, Any]:
    """What a universe is cut from, besides the seed."""
    return {"trace": trace.manifest.name} | asdict(cut) | {"min_subscribers": cut.least}


def cut_universe(
    trace: Store,
    cut: Cut,
    seed: int,
    out: Path,
    *,
    overwrite: bool,
    session: AbstractContextManager[Session],
    phase: Phase,
) -> dict[str, Any]:
    """Cut the median candidate into a new store at `out`; the answer is what `universe --json` prints."""
    settings = settings_of(trace, cut)
    manifest = Manifest(
        name=f"{cut.rule}-{digest_of([settings, seed])}",
        made_by=f"universe {cut.rule}",
        seed=seed,
        settings=settings,
        defaults=trace.manifest.defaults,
    )
    with (
        drafted(out, manifest, overwrite=overwrite) as draft,
        session as spark,
        phase(f"cut {cut.candidates} candidates"),
    ):
        sampler = Sampler(read_table(spark, trace, SUBSCRIPTIONS), cut, seed)
        try:
            candidates = sampler.candidates()
            chosen = median_of(candidates)
            if not chosen.subscriptions:
                raise InputError(
                    f"the median candidate is empty: no topic has {cut.least} subscribers left;"
                    " ask for more --seeds or fewer --min-subscribers."
                )
            write_universe(draft, trace, sampler.subscriptions(chosen.number), candidates, chosen, cut)
        finally:
            sampler.unpersist()
    return {
        "universe": manifest.name,
        "trace": trace.manifest.name,
        "rule": cut.rule,
        "seed": seed,
        "nodes": chosen.nodes,
        "topics": chosen.topics,
        "subscriptions": chosen.subscriptions,
        "candidate": chosen.number,
        "candidates": [_row(candidate) for candidate in candidates],
        "settings": settings,
        "digest": Store.open(out).manifest.digest,
        "out": str(out),
    }


def _row(candidate: Candidate) -> dict[str, Any]:
    return asdict(candidate) | {"ratio": candidate.ratio}
