"""Other machines and other places than the developer's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ropewalk
from ropewalk.cli.main import main
from ropewalk.tables.session import Session
from ropewalk.tables.store import Store


def run(code: str, *arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", code, *arguments]
    changed = os.environ | environment
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=changed)


@pytest.mark.long  # a JVM that compiles and runs on one core takes a minute for what is seconds elsewhere
def test_one_core_and_four_gibibytes_give_the_same_store(spark: Session, tmp_path: Path) -> None:
    universe = str(tmp_path / "universe")
    assert main(["generate", "grid", "--set", "fig6", "--out", universe]) == 0
    command = ["simulate", "stan", universe, "--rounds", "2", "--out"]
    small = (
        "import os, sys; os.sched_setaffinity(0, {0}) if hasattr(os, 'sched_setaffinity') else None;"
        "from ropewalk.tables import session; session.memory_bytes = lambda: 4 * 2**30;"
        "from ropewalk.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    done = run(small, *command, "small", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert main([*command, str(tmp_path / "usual")]) == 0
    assert Store.open(tmp_path / "small").manifest.to_json() == Store.open(tmp_path / "usual").manifest.to_json()


@pytest.mark.thorough
def test_a_package_in_a_folder_with_a_space_starts_spark_in_spite_of_a_strange_environment(tmp_path: Path) -> None:
    package = tmp_path / "my projects" / "ropewalk"
    shutil.copytree(Path(ropewalk.__file__).parent, package)
    code = (
        "import ropewalk; from ropewalk.tables.session import opened\n"
        "with opened('local[1]') as spark:\n"
        "    print(ropewalk.__file__, spark.range(7).count(), spark.conf.get('spark.sql.ansi.enabled'))"
    )
    (tmp_path / "spark-defaults.conf").write_text("spark.sql.ansi.enabled false\n")  # of a cluster that is not asked
    strange = {
        "PYTHONPATH": str(package.parent),
        "SPARK_REMOTE": "sc://nowhere",
        "SPARK_HOME": "/no/such/spark",
        "SPARK_CONF_DIR": str(tmp_path),
        "PYSPARK_SUBMIT_ARGS": "--conf spark.sql.ansi.enabled=false pyspark-shell",
    }
    done = run(code, folder=tmp_path, **strange)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{package}/__init__.py 7 true\n"
    assert done.stderr == ""  # Spark's words are kept off the terminal
