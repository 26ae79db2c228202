"""This package as one file, for machines that do not have it: executors of a cluster, a Connect server.

What is shipped goes before what may be installed there, so that all run the very code that the command runs. The other
packages that tasks import (numpy, numba, pyarrow, pandas) must be there already. Standard library only.
"""

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ropewalk import __version__

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever it is made
_LEFT_OUT = ("__pycache__",)


@contextmanager
def package_file() -> Iterator[Path]:
    """A zip of this package, for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="ropewalk-package-") as folder:
        path = Path(folder) / f"ropewalk-{__version__}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in _contents(files("ropewalk"), "ropewalk/"):
                archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), content, zipfile.ZIP_DEFLATED)
        yield path


def _contents(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name in _LEFT_OUT:
            continue
        if entry.is_dir():
            yield from _contents(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry.read_bytes()
