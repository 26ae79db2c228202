"""The package as one file, and kernels that are compiled from it."""

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import ropewalk
from ropewalk.arrays import compiled
from ropewalk.arrays.hashing import seeded
from ropewalk.caches import cache_folder
from ropewalk.tables.shipping import package_file

HERE = Path(ropewalk.__file__).parent
IN_A_ZIP = """
import ropewalk, sys
from ropewalk.arrays import compiled, hashing
print(ropewalk.__file__.startswith(sys.argv[1]), hashing.seeded(3), compiled.content_digest(), sum(hashing.seeded.stats.cache_hits.values()))
"""


def test_everything_but_leftovers_is_in_the_file_and_it_is_gone_afterwards() -> None:
    with package_file() as package:
        names = set(zipfile.ZipFile(package).namelist())
        first = package.read_bytes()
        assert {f"ropewalk/{path.relative_to(HERE).as_posix()}" for path in HERE.rglob("*.py")} <= names
        assert "ropewalk/tables/log4j2.properties" in names
        assert not [name for name in names if "__pycache__" in name]
    assert not package.parent.exists()
    with package_file() as again:
        assert again.read_bytes() == first


def test_a_zip_finds_the_kernels_that_the_installed_package_has_compiled(tmp_path: Path) -> None:
    expected = seeded(3)  # compiled here, and kept
    with package_file() as package:
        moved = tmp_path / "somewhere" / "else.zip"  # as in the scratch folder of an executor
        moved.parent.mkdir()
        moved.write_bytes(package.read_bytes())
    words = [sys.executable, "-c", IN_A_ZIP, str(moved)]
    environment = os.environ | {"PYTHONPATH": str(moved)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout.split() == ["True", str(expected), compiled.content_digest(), "1"]


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A user whose home is a file, as good as none; temporary files go to a folder of this test."""
    (tmp_path / "home").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cache_folder.cache_clear()
    yield tmp_path
    cache_folder.cache_clear()


def test_processes_without_a_home_share_a_cache(homeless: Path) -> None:
    assert cache_folder("kernels") == homeless / f"ropewalk-{os.getuid()}" / "kernels"


def test_a_cache_that_others_can_write_to_is_not_used(homeless: Path) -> None:
    own = homeless / f"ropewalk-{os.getuid()}"
    own.mkdir()
    own.chmod(0o777)
    assert cache_folder("kernels").parent == homeless
