"""A store is a folder of Parquet tables with a manifest. It appears whole or not at all.

    FOLDER/manifest.json            who made it, from what seed and settings, and a tally of every table
    FOLDER/subscriptions/*.parquet  one folder per table

A store is drafted in a hidden folder beside its place and renamed when it is complete, so a crash, a full disk or
Ctrl-C leaves either the old store or nothing. Writing and reading the tables themselves is the business of `frames`.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ropewalk import __version__
from ropewalk.errors import InputError, UsageError
from ropewalk.tables.schema import Table

MANIFEST = "manifest.json"
FORMAT = 1  # raised when an older reader could misread a newer store

Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tally:
    """What a table holds: its rows, and an order-free digest of all their values."""

    rows: int
    digest: str


@dataclass(slots=True, kw_only=True)
class Manifest:
    """What a store says of itself. Nothing in it depends on when or where it was made."""

    name: str  # of the universe or run that the store holds
    made_by: str  # the verb and its object: "generate grid"
    seed: int
    settings: Settings
    defaults: Settings = field(default_factory=dict)  # settings a later step takes from here when it is not told
    digest: str = ""  # what the maker calls its result; where it says nothing, the digest of all tables
    version: str = __version__
    tables: dict[str, Tally] = field(default_factory=dict)

    def to_json(self) -> str:
        """The text of the manifest file."""
        tables = {name: {"rows": tally.rows, "digest": tally.digest} for name, tally in sorted(self.tables.items())}
        return json.dumps(
            {
                "format": FORMAT,
                "version": self.version,
                "name": self.name,
                "made_by": self.made_by,
                "seed": self.seed,
                "settings": self.settings,
                "defaults": self.defaults,
                "digest": self.digest or digest_of({name: tally["digest"] for name, tally in tables.items()}),
                "tables": tables,
            },
            indent=2,
        )

    @classmethod
    def from_json(cls, text: str, origin: Path) -> "Manifest":
        """Read a manifest file back."""
        try:
            found = json.loads(text)
            if found["format"] != FORMAT:
                raise InputError(
                    f"{origin} has format {found['format']}, but version {__version__} reads format {FORMAT};"
                    " make the store again with this version."
                )
            return cls(
                name=found["name"],
                made_by=found["made_by"],
                seed=found["seed"],
                settings=found["settings"],
                defaults=found["defaults"],
                digest=found["digest"],
                version=found["version"],
                tables={name: Tally(tally["rows"], tally["digest"]) for name, tally in found["tables"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{origin} is not a manifest of a store ({error!r}); make the store again.") from error


@dataclass(frozen=True, slots=True)
class Store:
    """A complete store on disk."""

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: Path) -> "Store":
        """The store at `path`."""
        if not path.is_dir():
            raise InputError(f"{path} is not a folder; give one that `ropewalk generate` made.")
        manifest = path / MANIFEST
        if not manifest.is_file():
            raise InputError(f"{path} has no {MANIFEST}, so it is not a store; give one that `ropewalk generate` made.")
        return cls(path, Manifest.from_json(manifest.read_text(encoding="utf-8"), manifest))

    def folder_of(self, table: Table) -> Path:
        """Where a table of this store lies."""
        folder = self.path / table.name
        if table.name not in self.manifest.tables or not folder.is_dir():
            held = ", ".join(sorted(self.manifest.tables)) or "none"
            raise InputError(f"{self.path} has no table {table.name!r}; it holds: {held}.")
        return folder


@dataclass(slots=True)
class Draft:
    """A store in the making."""

    path: Path
    manifest: Manifest


@contextmanager
def drafted(path: Path, manifest: Manifest, *, overwrite: bool = False) -> Iterator[Draft]:
    """Make a store at `path`: fill the draft inside the block; leaving it normally puts the store in place."""
    path = path.absolute()
    _refuse_if_taken(path, overwrite=overwrite)
    hidden = path.parent / f".{path.name}.draft-{os.getpid()}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(hidden, ignore_errors=True)
        hidden.mkdir()
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); choose another output folder.") from error
    try:
        draft = Draft(hidden, manifest)
        yield draft
        (hidden / MANIFEST).write_text(draft.manifest.to_json() + "\n", encoding="utf-8")
        _put_in_place(hidden, path, overwrite=overwrite)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _refuse_if_taken(path: Path, *, overwrite: bool) -> None:
    if not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir())):
        return
    if not (path / MANIFEST).is_file():
        raise UsageError(
            f"{path} exists and is not a store of ours, so it is left alone; choose another output folder."
        )
    if not overwrite:
        raise UsageError(f"{path} already holds a store; choose another output folder or pass --overwrite.")


def _put_in_place(hidden: Path, path: Path, *, overwrite: bool) -> None:
    _refuse_if_taken(path, overwrite=overwrite)  # somebody may have been faster
    if path.is_dir():
        replaced = path.parent / f".{path.name}.replaced-{os.getpid()}"
        path.rename(replaced)
        hidden.rename(path)
        shutil.rmtree(replaced)
    else:
        hidden.rename(path)


def digest_of(value: object) -> str:
    """A short name for any JSON value, the same wherever it is computed."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
