"""Make a workload up and store it."""

from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from ropewalk.engines.contract import Phase
from ropewalk.tables.frames import write_table
from ropewalk.tables.schema import FILTERS, TOPICS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest, Store, digest_of, drafted
from ropewalk.workloads.contract import ContentModel, Model
from ropewalk.workloads.naming import filters_of
from ropewalk.workloads.rates import Rates
from ropewalk.workloads.write import write_workload


def settings_of(model: Model, rates: Rates) -> dict[str, Any]:
    """What a workload is made from, besides the seed."""
    parameters: dict[str, Any] = asdict(cast("Any", model))  # a Model is a dataclass
    return {"model": model.name} | parameters | {"rates": asdict(rates)}


def _space_of(model: Model) -> dict[str, Any]:
    """How its events are cut into cells, if they have content."""
    return {"space": model.space} if isinstance(model, ContentModel) else {}


def make_workload(
    model: Model,
    seed: int,
    out: Path,
    *,
    rates: Rates | None = None,
    overwrite: bool,
    session: AbstractContextManager[Session],
    phase: Phase,
) -> dict[str, Any]:
    """Generate a workload into a new store at `out`; the answer is what `generate --json` prints."""
    rates = rates or Rates()
    settings = settings_of(model, rates)
    manifest = Manifest(
        name=f"{model.name}-{digest_of([settings, seed])}",
        made_by=f"generate {model.name}",
        seed=seed,
        settings=settings,
        defaults={"overlay": model.overlay, "connectivity": model.connectivity} | _space_of(model),
    )
    with (
        drafted(out, manifest, overwrite=overwrite) as draft,
        session as spark,
        phase(f"generate {model.name}"),
    ):
        written = write_workload(draft, model.subscriptions(spark, seed), source=model.name, rule="generated")
        write_table(draft, TOPICS, rates.topics(written.subscriptions, written.counts["topics"], seed), unique=True)
        if isinstance(model, ContentModel):
            write_table(draft, FILTERS, filters_of(model.filters(spark, seed)))
    return {
        "universe": manifest.name,
        "model": model.name,
        "seed": seed,
        **written.counts,
        "digest": Store.open(out).manifest.digest,
        "out": str(out),
    }
