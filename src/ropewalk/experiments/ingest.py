"""Read a trace and store it: what can be used as a universe, what cannot as rejects."""

from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from ropewalk.engines.contract import Phase
from ropewalk.errors import InputError
from ropewalk.tables.frames import write_table
from ropewalk.tables.schema import NAMES, PUBLICATIONS, REJECTS, SUBSCRIPTIONS, TOPICS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Draft, Manifest, Store, digest_of, drafted
from ropewalk.workloads.contract import Source
from ropewalk.workloads.naming import followed_of
from ropewalk.workloads.reading.gather import Gathered, Totals
from ropewalk.workloads.write import write_sizes


def settings_of(source: Source, files: list[Path]) -> dict[str, Any]:
    """What a universe is read from. A file is known by its name and size, not by where it lies."""
    parameters: dict[str, Any] = asdict(cast("Any", source))  # a Source is a dataclass
    return {"format": source.name} | parameters | {"files": [[file.name, file.stat().st_size] for file in files]}


def ingest(
    source: Source,
    files: list[Path],
    out: Path,
    *,
    max_reject_share: float,
    overwrite: bool,
    session: AbstractContextManager[Session],
    phase: Phase,
) -> dict[str, Any]:
    """Read `files` into a new store at `out`; the answer is what `ingest --json` prints.

    If too much of the input is rejected, the rejects are stored beside `out`, where nothing changes; an InputError says so.
    """
    settings = settings_of(source, files)
    manifest = Manifest(
        name=f"{source.name}-{digest_of(settings)}", made_by=f"ingest {source.name}", seed=0, settings=settings
    )
    with drafted(out, manifest, overwrite=overwrite) as draft, session as spark:
        with phase("read"):
            gathered = source.gathered(spark, files)
        totals = gathered.totals
        try:
            with phase("write"):
                if not totals.read:
                    raise InputError(f"there is nothing in {_called(files)}; give files that hold rows.")
                if totals.rejected == totals.read or totals.rejected > max_reject_share * totals.read:
                    raise _too_many(gathered, replace(manifest), out, max_reject_share)
                if totals.rejected:
                    write_table(draft, REJECTS, gathered.rejects)
                counts = _write(draft, source, gathered)
        finally:
            gathered.unpersist()
    return {
        "universe": manifest.name,
        "format": source.name,
        **document_of(totals, counts["subscriptions"]),
        **counts,
        "digest": Store.open(out).manifest.digest,
        "out": str(out),
    }


def _too_many(gathered: Gathered, manifest: Manifest, out: Path, allowed: float) -> InputError:
    """Store the rejects beside `out`; the answer says so."""
    totals = gathered.totals
    place = out.with_name(f"{out.name}-rejects")
    with drafted(place, manifest, overwrite=True) as draft:
        write_table(draft, REJECTS, gathered.rejects)
    reasons = "; ".join(f"{rows} x {reason}" for reason, rows in list(totals.rejected_by.items())[:3])
    return InputError(
        f"{totals.rejected} of {totals.read} rows were rejected ({reasons}), more than --max-reject-share"
        f" {allowed:g} allows; {place} holds them, and nothing was kept."
    )


def document_of(totals: Totals, subscriptions: int) -> dict[str, Any]:
    """The totals as JSON has them."""
    kept = subscriptions if totals.kept is None else totals.kept
    return {
        "read": totals.read,
        "kept": kept,
        "duplicates": totals.seen - kept,
        "left_out": totals.left_out,
        "rejected": totals.rejected,
        "left_out_by": totals.left_out_by,
        "rejected_by": totals.rejected_by,
        "counts": totals.counts,
    }


def _write(draft: Draft, source: Source, gathered: Gathered) -> dict[str, int]:
    # Pairs of ids are distinct; that two names have one id is found out by `names`, whose keys are checked.
    subscriptions = write_table(draft, SUBSCRIPTIONS, gathered.subscriptions, unique=True)
    names = write_table(draft, NAMES, gathered.names)
    if gathered.topics is not None:
        write_table(draft, TOPICS, gathered.topics, unique=True)
    if gathered.publications is not None:
        write_table(draft, PUBLICATIONS, gathered.publications)
        names = followed_of(names, subscriptions)  # others are topics of publications only
    return write_sizes(draft, names, source=source.name, rule="ingested")


def _called(files: list[Path]) -> str:
    return str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
