"""One way to compile a kernel: numba, cached on disk, typed for the checker as the function it was.

Numba's own cache looks only at the file a kernel stands in: after a change to a function that it calls from another
module, the old machine code would go on running. So the cache folder is named after the content of every module that
holds or calls kernels, and a change to one of them starts an empty one. Processes of one machine share it.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
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


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile on first call; wrap-around integers, IEEE floats (no fast-math: sums must not depend on the machine)."""
    _use_own_cache()
    return cast("Callable[P, R]", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


@cache
def _use_own_cache() -> None:
    config = cast("Any", numba.config)
    if config.CACHE_DIR:  # NUMBA_CACHE_DIR is set: the user has decided
        return
    kernels = cache_folder("kernels")
    folder = kernels / _content_digest()
    folder.mkdir(exist_ok=True)
    config.CACHE_DIR = str(folder)
    with suppress(OSError):  # another process may be tidying, too
        os.utime(folder)
        by_age = sorted(kernels.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for stale in by_age[KEPT_CACHES:]:
            shutil.rmtree(stale, ignore_errors=True)


def _content_digest() -> str:
    package = Path(__file__).parent.parent
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"ropewalk.arrays" in source or path.parent == package:
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(source)
    return digest.hexdigest()


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """For the innermost steps of a kernel: written into whoever calls them, so that a call costs nothing."""
    return cast("Callable[P, R]", numba.njit(inline="always", error_model="numpy")(function))
