"""One way to compile a kernel: numba, cached on disk, typed for the checker as the function it was.

Numba's own cache looks only at the file a kernel stands in: after a change to a function that it calls from another
module, the old machine code would go on running. And it goes by the path of that file, which on a cluster is that of a
zip in the scratch folder of one executor of one run. So ours goes by content: its folder is named after every module
that holds or calls kernels, a change to one of them starts an empty one, and all processes of one machine share it,
wherever each has its copy of this package.
"""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np

from ropewalk.caches import cache_folder

P = ParamSpec("P")
R = TypeVar("R")

Long = int | np.int64  # what a kernel takes as a number: numba makes no difference
Index = np.uint64  # a place in an array, in inner loops: numba need not ask whether it counts from the end

KEPT_CACHES = 4  # older folders belong to code that is no longer there
IN_USE_FOR = 86_400.0  # seconds: one that a running process may still write to is not removed


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile on first call; wrap-around integers, IEEE floats (no fast-math: sums must not depend on the machine)."""
    config = cast("Any", numba.config)
    before = config.CACHE_LOCATOR_CLASSES
    config.CACHE_LOCATOR_CLASSES = (
        f"{__name__}.{ByContent.__name__}"  # asked for while a kernel is declared, so ours only
    )
    try:
        return cast("Callable[P, R]", numba.njit(cache=True, nogil=True, error_model="numpy")(function))
    finally:
        config.CACHE_LOCATOR_CLASSES = before


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """For the innermost steps of a kernel: written into whoever calls them, so that a call costs nothing."""
    return cast("Callable[P, R]", numba.njit(inline="always", error_model="numpy")(function))


class ByContent:
    """Where the machine code of a kernel is kept, and what it was made from: numba asks, by these names."""

    def __init__(self, function: Callable[..., object], file: str) -> None:
        self._py_file = file  # numba names it in warnings
        self._line = function.__code__.co_firstlineno
        self._folder = _folder() / function.__module__

    @classmethod
    def from_function(cls, function: Callable[..., object], file: str) -> "ByContent":
        """The place for one kernel."""
        place = cls(function, file)
        place.ensure_cache_path()
        return place

    def ensure_cache_path(self) -> None:
        """Make the folder, if it is not there yet."""
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        """The folder for machine code."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """What the machine code must have been made from to be used."""
        return content_digest()

    def get_disambiguator(self) -> str:
        """What tells functions of one name in one module apart."""
        return str(self._line)


@cache
def _folder() -> Path:
    """The cache of this version of the code; those of long ago are removed."""
    told = cast("Any", numba.config).CACHE_DIR  # NUMBA_CACHE_DIR: the user has decided
    kernels = Path(told) if told else cache_folder("kernels")
    folder = kernels / content_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:  # no longer writable, as a home that a container has only to read
        return Path(tempfile.mkdtemp(prefix="ropewalk-kernels-"))
    if not told:
        with suppress(OSError):  # another process may be tidying, too
            os.utime(folder)
            by_age = sorted(kernels.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
            for old in by_age[KEPT_CACHES:]:
                if time.time() - old.stat().st_mtime > IN_USE_FOR:
                    shutil.rmtree(old, ignore_errors=True)
    return folder


@cache
def content_digest() -> str:
    """A name for all code that machine code is made from: the same for a folder, an installed package and a zip."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for name, source in _modules(files("ropewalk"), ""):
        # A tuple that kernels take is part of them, wherever it is declared.
        if b"ropewalk.arrays" in source or b"(NamedTuple)" in source or "/" not in name:
            digest.update(name.encode())
            digest.update(source)
    return digest.hexdigest()


def _modules(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Every module of a package, by its path in it, in the order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _modules(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield prefix + entry.name, entry.read_bytes()
