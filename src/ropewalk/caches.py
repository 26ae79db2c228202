"""Where this user's files that can be made again are kept: compiled kernels, the shim of a Java runtime.

Standard library only.
"""

import os
import tempfile
from functools import cache
from pathlib import Path


@cache
def cache_folder(name: str) -> Path:
    """A folder that only this user can write to: in the cache home, or a new temporary one where there is no home."""
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = home / "ropewalk" / name
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # a read-only home, or a user that has none, as in many containers
        folder = Path(tempfile.mkdtemp(prefix=f"ropewalk-{name}-"))
    return folder
