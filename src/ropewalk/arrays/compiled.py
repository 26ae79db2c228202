"""One way to compile a kernel: numba, cached on disk, typed for the checker as the function it was.

Numba's own cache looks only at the file a kernel stands in: after a change to a function that it calls from another
module, the old machine code would go on running. So the cache folder is named after the content of every module that
holds or calls kernels, and a change to one of them starts an empty one. Spark's Python workers share it, so each kernel
is compiled once per machine.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

Long = int | np.int64  # what a kernel takes as a number: numba makes no difference

KEPT_CACHES = 4  # older folders belong to code that is no longer there


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile on first call; wrap-around integers, IEEE floats (no fast-math: results must not depend on the machine)."""
    return cast("Callable[P, R]", numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def compiled_parallel(function: Callable[P, R]) -> Callable[P, R]:
    """As `compiled`, with `numba.prange` loops spread over threads."""
    return cast("Callable[P, R]", numba.njit(cache=True, nogil=True, parallel=True, error_model="numpy")(function))


def _content_digest() -> str:
    package = Path(__file__).parent.parent
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"ropewalk.arrays" in source:
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(source)
    return digest.hexdigest()


def _use_own_cache() -> None:
    config = cast("Any", numba.config)
    if config.CACHE_DIR:  # NUMBA_CACHE_DIR is set: the user has decided
        return
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ropewalk" / "kernels"
    folder = home / _content_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"ropewalk-kernels-{os.getuid()}" / folder.name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.utime(folder)
    config.CACHE_DIR = str(folder)
    by_age = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for stale in by_age[KEPT_CACHES:]:
        shutil.rmtree(stale, ignore_errors=True)


_use_own_cache()
