"""Where this user's files that can be made again are kept: compiled kernels, the shim of a Java runtime.

Standard library only.
"""

import os
import stat
import tempfile
from functools import cache
from pathlib import Path


@cache
def cache_folder(name: str) -> Path:
    """A folder that only this user can write to: in the cache home; else where temporary files go.

    Processes of one user share it, unless somebody else has taken its name there.
    """
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return _writable(home / "ropewalk" / name)
    except (OSError, RuntimeError):  # a read-only home, or a user that has none, as in many containers
        pass
    try:
        own = Path(tempfile.gettempdir()) / f"ropewalk-{os.getuid()}"
        own.mkdir(mode=0o700, exist_ok=True)
        known = own.lstat()
        if known.st_uid == os.getuid() and known.st_mode == stat.S_IFDIR | stat.S_IRWXU:  # a folder, closed to others
            return _writable(own / name)
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix=f"ropewalk-{name}-"))


def _writable(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
    return folder
