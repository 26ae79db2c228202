import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ropewalk.tables.session import Session, opened

# No Java that tests start lives long enough for its slower compiler to pay.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m")
settings.register_profile("ropewalk", deadline=None, derandomize=True, max_examples=100)
settings.load_profile("ropewalk")


@pytest.fixture(scope="session")
def spark() -> Iterator[Session]:
    """One Spark session for all tests: starting it is the dear part."""
    with opened("local[2]") as session:
        session.conf.set("spark.sql.shuffle.partitions", "4")  # tiny rows: more partitions are only overhead
        yield session


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium."""
    from browsing import chromium  # noqa: PLC0415  most tests have no use for its driver

    with chromium() as found:
        yield found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
