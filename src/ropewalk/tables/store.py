"""A store is a folder of Parquet tables with a manifest. It appears whole or not at all.

    FOLDER/manifest.json            who made it, from what seed and settings, and a tally of every table
    FOLDER/subscriptions/*.parquet  one folder per table

A store is drafted in a hidden folder beside its place and renamed when it is complete, so a full disk or Ctrl-C leaves
either the old store or nothing. A process that is killed outright may leave a hidden folder (or, in the instant between
the two renames that replace a store, the old one under a hidden name); the next to write there puts that right.
Writing and reading the tables themselves is the business of `frames`.
"""

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    def read(cls, file: Path) -> "Manifest":
        """Read a manifest file back."""
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            if found["format"] != FORMAT:
                raise InputError(
                    f"{file} has format {found['format']}, but version {__version__} reads format {FORMAT};"
                    " make the store again with this version."
                )
            return cls(
                name=str(found["name"]),
                made_by=str(found["made_by"]),
                seed=int(found["seed"]),
                settings=dict(found["settings"]),
                defaults=dict(found["defaults"]),
                digest=str(found["digest"]),
                version=str(found["version"]),
                tables={name: Tally(tally["rows"], tally["digest"]) for name, tally in found["tables"].items()},
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{file} is not a manifest of a store ({error!r}); make the store again.") from error


@dataclass(frozen=True, slots=True)
class Store:
    """A complete store on disk."""

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: Path) -> "Store":
        """The store at `path`."""
        if not path.is_dir():
            raise InputError(f"{path} is not a folder; give one that `ropewalk generate`, `ingest` or `universe` made.")
        manifest = path / MANIFEST
        if not manifest.is_file():
            raise InputError(
                f"{path} has no {MANIFEST}, so it is not a store; give one that `ropewalk generate`, `ingest` or `universe` made."
            )
        return cls(path, Manifest.read(manifest))

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
    path = path.resolve()
    _put_right(path)
    _refuse_if_taken(path, manifest, overwrite=overwrite)
    hidden = _hidden(path, "draft")
    new_folders = [folder for folder in path.parents if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden.mkdir()
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); choose another output folder.") from error
    try:
        draft = Draft(hidden, manifest)
        yield draft
        (hidden / MANIFEST).write_text(draft.manifest.to_json() + "\n", encoding="utf-8")
        _refuse_if_taken(path, manifest, overwrite=overwrite)  # somebody may have been faster
        _put_in_place(hidden, path)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        with suppress(OSError):  # where something lies in them they stay
            for folder in new_folders:
                folder.rmdir()


def _hidden(path: Path, what: str) -> Path:
    return path.parent / f".{path.name}.{what}-{os.getpid()}"


def _put_right(path: Path) -> None:
    """Clear away what makers of `path` that were killed outright have left."""
    for what in ("replaced", "draft"):
        for left in path.parent.glob(f".{glob.escape(path.name)}.{what}-*"):
            process = left.name.rpartition("-")[2]
            if process.isdigit() and int(process) != os.getpid() and _lives(int(process)):
                continue
            if what == "replaced" and not path.exists():
                left.rename(path)
            else:
                shutil.rmtree(left, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _refuse_if_taken(path: Path, manifest: Manifest, *, overwrite: bool) -> None:
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not (path / MANIFEST).is_file():
        raise UsageError(
            f"{path} exists and is not a store of ours, so it is left alone; choose another output folder."
        )
    if not overwrite:
        raise UsageError(f"{path} already holds a store; choose another output folder or pass --overwrite.")
    made_by = Manifest.read(path / MANIFEST).made_by
    if made_by.split()[0] != manifest.made_by.split()[0]:
        raise UsageError(
            f"{path} holds what `{made_by}` made, which `{manifest.made_by}` does not replace;"
            " choose another output folder."
        )


def _put_in_place(hidden: Path, path: Path) -> None:
    replaced = _hidden(path, "replaced")
    try:
        if path.exists():
            path.rename(replaced)
        hidden.rename(path)
    except BaseException:
        if replaced.exists() and not path.exists():
            replaced.rename(path)
        raise
    finally:
        if path.exists():
            shutil.rmtree(replaced, ignore_errors=True)


def digest_of(value: object) -> str:
    """A short name for any JSON value, the same wherever it is computed."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
