import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ropewalk.caches import cache_folder
from ropewalk.tables import java


def fake_java(folder: Path, version: str | None, home: Path | None = None) -> Path:
    """A `bin/java` that answers `-version`, or fails."""
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    said = f"    java.home = {home or folder}\n    java.specification.version = {version}\n"
    answer = "exit 1" if version is None else f"cat >&2 <<'END'\nProperty settings:\n{said}END"
    executable.write_text(f"#!/bin/sh\nPATH={os.defpath}\n{answer}\n")
    executable.chmod(0o755)
    return executable


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine that has no Java at all."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "path" / "bin"))
    monkeypatch.setattr(java, "find_spec", lambda _: None)
    java.find_java.cache_clear()
    cache_folder.cache_clear()
    yield tmp_path
    java.find_java.cache_clear()
    cache_folder.cache_clear()


@pytest.mark.parametrize(("said", "version"), [("17", 17), ("25", 25)])
def test_the_one_on_the_path_is_found(bare: Path, said: str, version: int) -> None:
    fake_java(bare / "path", said)
    found = java.find_java().java
    assert found == java.Java(bare / "path", version, "PATH")


def test_a_wrapper_on_the_path_says_where_it_leads(bare: Path) -> None:
    fake_java(bare / "path", "21", home=bare / "really" / "here")
    found = java.find_java().java
    assert found is not None
    assert found.home == bare / "really" / "here"


def test_java_home_comes_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(bare / "path", "17")
    fake_java(bare / "home", "21")
    monkeypatch.setenv("JAVA_HOME", str(bare / "home"))
    found = java.find_java().java
    assert found is not None
    assert (found.version, found.origin) == (21, "JAVA_HOME")


def test_a_java_home_is_taken_as_it_is_given(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child process inherits the shim as JAVA_HOME; the runtime behind it would not start Spark."""
    fake_java(bare / "shim", "25", home=bare / "behind")
    monkeypatch.setenv("JAVA_HOME", str(bare / "shim"))
    found = java.find_java().java
    assert found is not None
    assert found.home == bare / "shim"


def test_one_that_is_too_old_or_broken_is_passed_over_and_said(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(bare / "path", "1.8")
    fake_java(bare / "home", None)
    monkeypatch.setenv("JAVA_HOME", str(bare / "home"))
    search = java.find_java()
    assert search.java is None
    broken, old = search.passed_over
    assert "does not run" in broken
    assert "is Java 8, but Spark needs 17 or newer" in old


def test_none_at_all_is_said(bare: Path) -> None:
    assert java.find_java() == java.Search(None, ())
    assert java.main() == 3


def test_the_shim_drops_one_option_and_hands_all_others_on(bare: Path) -> None:
    real = bare / "real" / "java"
    real.parent.mkdir()
    real.write_text('#!/bin/sh\nfor argument do echo "[$argument]"; done\n')
    real.chmod(0o755)
    shim = java._shimmed(real) / "bin" / "java"
    arguments = ["-cp", "a b:c", "--add-modules=jdk.incubator.vector", "--add-modules=x", "", "$HOME"]
    path = {"PATH": os.defpath}
    said = subprocess.run([shim, *arguments], capture_output=True, text=True, check=True, env=path).stdout
    assert said.splitlines() == ["[-cp]", "[a b:c]", "[--add-modules=x]", "[]", "[$HOME]"]
