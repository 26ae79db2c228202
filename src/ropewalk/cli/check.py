"""`ropewalk check DIR...`: whether stores are sound: tallies, keys, and references between their tables."""

from pathlib import Path

import click

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.talk import Talk, show_json
from ropewalk.errors import InputError
from ropewalk.tables.frames import problems_of
from ropewalk.tables.store import Store


@click.command()
@click.argument("folders", metavar="DIR...", type=options.FOLDER, nargs=-1, required=True)
@options.common
def command(folders: tuple[Path, ...], master: str | None, as_json: bool) -> None:
    """Say whether stores are sound. Exit code 3 if one is not."""
    unreadable = [sentence for path in folders if (sentence := _unreadable(path)) is not None]
    if unreadable:
        raise InputError(" ".join(unreadable))
    talk = Talk()
    with spark_for(talk, master) as spark, talk.phase("check"):
        problems = {str(path): problems_of(spark, path) for path in folders}
    if as_json:
        show_json({"problems": problems})
    else:
        for folder, found in problems.items():
            print(f"{folder}: {'; '.join(found) or 'sound'}")
    if unsound := [folder for folder, found in problems.items() if found]:
        raise InputError(f"not sound: {', '.join(unsound)}; make them again.")


def _unreadable(path: Path) -> str | None:
    try:
        Store.open(path)
    except InputError as error:
        return str(error)
    return None
