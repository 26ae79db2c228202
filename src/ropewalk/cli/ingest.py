"""`ropewalk ingest FORMAT PATH...`: read a trace and store it. The options of a format are the fields of its source."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.talk import Talk, opening_line, say, show_json
from ropewalk.experiments.ingest import ingest, settings_of
from ropewalk.workloads.catalogue import SOURCES
from ropewalk.workloads.contract import Source
from ropewalk.workloads.reading.files import files_of

SHOWN = 5  # reasons for rejects on the terminal; all are in the store


def _command_of(usual: Source) -> click.Command:
    @click.argument("paths", metavar="PATH...", type=options.FOLDER, nargs=-1, required=True)
    @click.option(
        "--max-reject-share",
        type=click.FloatRange(0, 1),
        default=0.05,
        show_default=True,
        help="Keep nothing, and put the rejects into OUT-rejects, if they are a larger share of the rows.",
    )
    @click.option("--out", type=options.FOLDER, required=True, help="Folder to make.")
    @options.overwrite
    @options.common
    def read(
        paths: tuple[Path, ...],
        max_reject_share: float,
        out: Path,
        overwrite: bool,
        master: str | None,
        as_json: bool,
        **told: Any,
    ) -> None:
        source, files = options.told(usual, told), files_of(paths)
        opening_line(0, settings_of(source, files), out)
        talk = Talk()
        made = ingest(
            source,
            files,
            out,
            max_reject_share=max_reject_share,
            overwrite=overwrite,
            session=spark_for(talk, master),
            phase=talk.phase,
        )
        for reason in made["rejected_by"]:
            if "archive" in reason:
                say(f"warning: part of the input is missing: {reason}; see the table `rejects`.")
        if not made["kept"]:
            say(f"nothing was kept: all {made['read']} rows were left out ({_listed(made['left_out_by'])}).")
        if as_json:
            show_json(made | {"seconds": talk.seconds})
        else:
            _show(made)

    described: Callable[..., Any] = read
    for option in reversed(options.of_fields(usual)):
        described = option(described)
    return click.command(usual.name, help=usual.sentence)(described)


command = options.Choices(
    name="ingest",
    what="format",
    names=SOURCES,
    command_of=lambda name: _command_of(SOURCES[name]),
    help="Read a trace: files become subscriptions, and what cannot be used is kept as rejects.",
    epilog="Example: ropewalk ingest edges follows.tsv.gz --sep '\\t' --out universe",
)


def _show(made: dict[str, Any]) -> None:
    print(
        f"read {made['read']}: kept {made['kept']}, duplicates {made['duplicates']},"
        f" left_out {made['left_out']}, rejected {made['rejected']}"
    )
    for name, rows in made["left_out_by"].items():
        print(f"  left out: {rows} {name}")
    reasons = list(made["rejected_by"].items())
    for reason, rows in reasons[:SHOWN]:
        print(f"  rejected: {rows} because {reason}")
    if reasons[SHOWN:]:
        print(f"  rejected: {sum(rows for _, rows in reasons[SHOWN:])} for {len(reasons) - SHOWN} other reasons")
    for name, count in made["counts"].items():
        print(f"  {name}: {count}")
    sizes = f"{made['nodes']} nodes, {made['topics']} topics, {made['subscriptions']} subscriptions"
    print(f"{made['out']}: {made['universe']}, {sizes}")


def _listed(counted: dict[str, int]) -> str:
    return ", ".join(f"{rows} {name}" for name, rows in counted.items())
