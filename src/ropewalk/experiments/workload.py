"""Make a workload up and store it."""

from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from ropewalk.engines.contract import Phase
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest, Store, digest_of, drafted
from ropewalk.workloads.contract import Model
from ropewalk.workloads.write import write_workload


def settings_of(model: Model) -> dict[str, Any]:
    """What a workload is made from, besides the seed."""
    parameters: dict[str, Any] = asdict(cast("Any", model))  # a Model is a dataclass
    return {"model": model.name} | parameters


def make_workload(
    model: Model, seed: int, out: Path, *, overwrite: bool, session: AbstractContextManager[Session], phase: Phase
) -> dict[str, Any]:
    """Generate a workload into a new store at `out`; the answer is what `generate --json` prints."""
    settings = settings_of(model)
    manifest = Manifest(
        name=f"{model.name}-{digest_of([settings, seed])}",
        made_by=f"generate {model.name}",
        seed=seed,
        settings=settings,
        defaults={"overlay": model.overlay, "connectivity": model.connectivity},
    )
    with (
        drafted(out, manifest, overwrite=overwrite) as draft,
        session as spark,
        phase(f"generate {model.name}"),
    ):
        counts = write_workload(draft, model.subscriptions(spark, seed), source=model.name, rule="generated")
    return {
        "universe": manifest.name,
        "model": model.name,
        "seed": seed,
        **counts,
        "digest": Store.open(out).manifest.digest,
        "out": str(out),
    }
