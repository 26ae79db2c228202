"""Brokers, each started for a run on a free port of this machine, with a folder of its own, and ended after it."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

BESIDES = "/usr/sbin:/usr/local/sbin"  # where Debian puts some of them, which is not on everybody's path
UP = 10.0  # seconds in which one answers

Command = Callable[[str, int, Path], list[str]]
"""How it is started: the program, the port, and the folder."""


def found(program: str) -> str | None:
    """Where a program is."""
    return shutil.which(program) or shutil.which(program, path=BESIDES)


def missing(program: str, *packages: str) -> Callable[[], str]:
    """Says what is not installed, of a server (none: "") and of a client."""

    def why() -> str:
        if program and found(program) is None:
            return f"{program} is not installed"
        gone = [package for package in packages if not find_spec(package)]
        return f"the Python package {gone[0]} is not installed: `make bench-live` adds it" if gone else ""

    return why


def serving(program: str, command: Command) -> Callable[[], AbstractContextManager[str]]:
    """The port at which it answers, while it runs."""

    @contextmanager
    def served() -> Iterator[str]:
        path = found(program)
        assert path is not None
        with TemporaryDirectory() as folder, Path(folder, "log").open("wb") as log:
            port = free_port()
            process = subprocess.Popen(command(path, port, Path(folder)), stdout=log, stderr=log, cwd=folder)
            try:
                _await(process, port)
                yield str(port)
            finally:
                process.kill()  # it has nothing to save
                process.wait()

    return served


def free_port() -> int:
    """One at which nobody listens, as yet."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _await(process: "subprocess.Popen[bytes]", port: int) -> None:
    until = time.monotonic() + UP
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=UP).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return
