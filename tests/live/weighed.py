"""The package as `python -m ropewalk` runs it; at a signal it gives back what nobody uses, and writes down what it takes then.

`python weighed.py FILE ARGUMENT ...`: each time it is asked, by SIGUSR1, a line of JSON goes to the end of the file.
"""

import ctypes
import gc
import json
import os
import runpy
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


def trim() -> None:
    """Have the allocator give back what nobody uses: it is no growth, and as much as the worst moment took. (tracemalloc would not do: it grows itself.)"""
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def resident() -> int:
    """Bytes that this process takes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    to = Path(sys.argv.pop(1))

    def weigh(*_: Any) -> None:
        trim()
        with to.open("a") as file:
            file.write(json.dumps({"resident": resident(), "blocks": sys.getallocatedblocks()}) + "\n")

    signal.signal(signal.SIGUSR1, weigh)
    runpy.run_module("ropewalk", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
