"""`ropewalk doctor`: what this machine has for Ropewalk, in one screen, and what to do about what is missing."""

import os
import platform
import shutil
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ropewalk import __version__
from ropewalk.cli import options
from ropewalk.cli.talk import show_json
from ropewalk.errors import UsageError
from ropewalk.tables.java import OLDEST, find_java
from ropewalk.tables.machine import cores, memory_bytes, on_memory
from ropewalk.tables.masters import recognised

GIB = 2**30
LAB = ("pyspark", "numba", "numpy", "pyarrow", "pandas", "matplotlib", "jinja2", "powerlaw", "scipy")
DASHBOARD = ("starlette", "uvicorn")
GET_DASHBOARD = "pip install 'ropewalk[dashboard]'"
GET_LAB = "pip install 'ropewalk[lab]'"
BESIDES = ("chromium", "redis-server", "mosquitto", "nats-server")  # a browser for tests, brokers to be measured beside
ALSO_CALLED = {"chromium": ("chromium-browser", "google-chrome", "chrome")}
SBIN = "/usr/sbin:/usr/local/sbin"  # where Debian puts some of them, which is not on everybody's path
LITTLE_MEMORY = 3 * GIB
LITTLE_DISK = 5 * GIB


@click.command()
@options.as_json
@options.debug
def command(as_json: bool) -> None:
    """Say what this machine has, and what to do about what is missing.

    Exit code 1 if something that is installed cannot work.
    """
    checks = [_python(), _machine_memory(), _cores(), _disk(), *_packages(), _dashboard()]
    if _installed("pyspark"):
        checks += [_java(), _master()]
    checks.append(_besides())
    if as_json:
        show_json({"version": __version__, "ok": all(check["ok"] for check in checks), "checks": checks})
    else:
        _show(checks)
    if not all(check["ok"] for check in checks):
        raise click.exceptions.Exit(1)


def _check(what: str, found: str, *, ok: bool = True, advice: str = "") -> dict[str, Any]:
    return {"what": what, "found": found, "ok": ok, "advice": advice}


def _python() -> dict[str, Any]:
    return _check("Python", f"{platform.python_version()}, {sys.executable}")


def _cores() -> dict[str, Any]:
    return _check("cores", str(cores()))


def _machine_memory() -> dict[str, Any]:
    memory = memory_bytes()
    advice = "Spark may run out of it; small universes only" if memory < LITTLE_MEMORY else ""
    return _check("memory", f"{memory / GIB:.1f} GiB", advice=advice)


def _disk() -> dict[str, Any]:
    scratch = Path(os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")[0])
    if not scratch.is_dir():
        return _check("scratch disk", f"{scratch} is not a folder", ok=False, advice="set SPARK_LOCAL_DIRS to one")
    free = shutil.disk_usage(scratch).free
    advice = "set SPARK_LOCAL_DIRS to a folder with more" if free < LITTLE_DISK else ""
    if on_memory(scratch):
        advice = "it takes memory, not disk: set SPARK_LOCAL_DIRS to a folder on disk for large universes"
    return _check("scratch disk", f"{free / GIB:.1f} GiB free in {scratch}", advice=advice)


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _packages() -> list[dict[str, Any]]:
    found = {package: _installed(package) for package in LAB}
    if not any(found.values()):
        return [_check("lab", "not installed", advice=f"nodes work without; for all other verbs: {GET_LAB}")]
    missing = ", ".join(package for package, number in found.items() if number is None)
    have = ", ".join(f"{package} {number}" for package, number in found.items() if number is not None)
    advice = f"{missing} missing: {GET_LAB}" if missing else ""
    return [_check("lab", have, ok=not missing, advice=advice)]


def _dashboard() -> dict[str, Any]:
    found = {package: _installed(package) for package in DASHBOARD}
    have = ", ".join(f"{package} {number}" for package, number in found.items() if number is not None)
    advice = "" if all(found.values()) else f"only `dashboard` needs it: {GET_DASHBOARD}"
    return _check("dashboard", have or "not installed", advice=advice)


def _java() -> dict[str, Any]:
    search = find_java()
    if search.java is None:
        found = "; ".join(search.passed_over) or "none in JAVA_HOME or on PATH"
        advice = f"install Java {OLDEST} or newer, or: pip install 'ropewalk[java]'"
        return _check("Java", found, ok=False, advice=advice)
    advice = "; ".join(f"passed over: {reason}" for reason in search.passed_over)
    return _check("Java", f"{search.java.version}, {search.java.home} (by {search.java.origin})", advice=advice)


def _master() -> dict[str, Any]:
    for name in ("SPARK_REMOTE", "SPARK_MASTER"):
        if value := os.environ.get(name):
            try:
                recognised(value, name)
            except UsageError as error:
                return _check("Spark runs on", value, ok=False, advice=str(error))
            return _check("Spark runs on", f"{value} (by {name})")
    elsewhere = os.environ.get("SPARK_HOME")
    advice = f"SPARK_HOME={elsewhere} is not used when Spark runs here" if elsewhere else ""
    return _check("Spark runs on", "this machine", advice=advice)


def _besides() -> dict[str, Any]:
    """What only tests and benchmarks use: that it is not here is no fault."""
    missing = [each for each in BESIDES if not any(map(_on_path, (each, *ALSO_CALLED.get(each, ()))))]
    have = ", ".join(each for each in BESIDES if each not in missing) or "none of what they can use"
    advice = (
        f"without {', '.join(missing)}: those that need it are skipped, and nothing else needs it" if missing else ""
    )
    return _check("tests, benchmarks", have, advice=advice)


def _on_path(program: str) -> bool:
    return bool(shutil.which(program) or shutil.which(program, path=SBIN))


def _show(checks: list[dict[str, Any]]) -> None:
    table = Table(title=f"ropewalk {__version__}", show_header=False, title_justify="left", box=None)
    for check in checks:
        mark = "ok" if check["ok"] else "MISSING"
        found = check["found"] + (f"\n-> {check['advice']}" if check["advice"] else "")
        table.add_row(check["what"], mark, Text(found))  # not markup: `ropewalk[lab]` is no tag
    Console().print(table)
