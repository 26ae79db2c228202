"""The base install stands alone: built as a wheel, put into an environment that has nothing of the lab."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
UV = Path(sys.executable).parent / "uv"
LAB = ["pyspark", "numba", "numpy", "pyarrow", "pandas", "matplotlib", "jinja2", "powerlaw", "scipy"]


def run(*command: object) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=clean)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the base install only, from the pinned and hashed packages."""
    folder = tmp_path_factory.mktemp("base")
    tree = folder / "tree"
    files = run("git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "src", "pyproject.toml", "README.md")
    for name in files.stdout.splitlines():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes((ROOT / name).read_bytes())
    python = folder / "venv" / "bin" / "python"
    for step in (
        (UV, "build", "--wheel", "--no-build-isolation", "--python", sys.executable, "-o", folder / "dist", tree),
        (UV, "venv", "--python", sys.executable, folder / "venv"),
        (UV, "pip", "install", "--python", python, "--require-hashes", "-r", ROOT / "requirements" / "base.txt"),
    ):
        done = run(*step)
        assert done.returncode == 0, done.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    done = run(UV, "pip", "install", "--python", python, "--no-deps", wheel)
    assert done.returncode == 0, done.stderr
    return python.parent


def test_nothing_of_the_lab_is_there(base: Path) -> None:
    installed = json.loads(run(UV, "pip", "list", "--python", base / "python", "--format", "json").stdout)
    names = {package["name"] for package in installed}
    assert "ropewalk" in names
    assert names.isdisjoint(LAB)


def test_the_base_imports(base: Path) -> None:
    modules = (
        "ropewalk ropewalk.errors ropewalk.ids ropewalk.seeds ropewalk.tables.schema ropewalk.tables.store"
        " ropewalk.protocols.catalogue ropewalk.protocols.stan ropewalk.protocols.stan.settings ropewalk.cli.main"
        " ropewalk.protocols.stan.node ropewalk.engines.sim.timed ropewalk.engines.sim.rounds ropewalk.engines.sim.record"
        " ropewalk.engines.sim.invariants.watch"
    )
    done = run(base / "python", "-c", "; ".join(f"import {module}" for module in modules.split()))
    assert done.returncode == 0, done.stderr


def test_the_base_knows_its_verbs_and_its_doctor(base: Path) -> None:
    assert "simulate" in run(base / "ropewalk", "--help").stdout
    done = run(base / "ropewalk", "doctor", "--json")
    assert done.returncode == 0, done.stderr
    (lab,) = [check for check in json.loads(done.stdout)["checks"] if check["what"] == "lab"]
    assert lab["found"] == "not installed"
    assert "pip install 'ropewalk[lab]'" in lab["advice"]


@pytest.mark.parametrize("verb", [["demo"], ["generate", "grid", "--out", "x"], ["simulate", "stan", "x"]])
def test_a_verb_that_needs_the_lab_says_how_to_get_it(base: Path, verb: list[str], elsewhere: Path) -> None:
    done = run(base / "ropewalk", *verb)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ropewalk: error: {verb[0]} needs ")
    assert done.stderr.endswith("which is in the extra `lab`; pip install 'ropewalk[lab]'.\n")


def test_the_dashboard_says_how_to_get_it(base: Path, elsewhere: Path) -> None:
    done = run(base / "ropewalk", "dashboard", ".")
    assert done.returncode == 2
    assert done.stderr.endswith("which is in the extra `dashboard`; pip install 'ropewalk[dashboard]'.\n")
    checks = {check["what"]: check for check in json.loads(run(base / "ropewalk", "doctor", "--json").stdout)["checks"]}
    assert checks["dashboard"]["found"] == "not installed"
    assert "pip install 'ropewalk[dashboard]'" in checks["dashboard"]["advice"]


def test_the_dashboard_works_with_its_extra_and_without_the_lab(base: Path, tmp_path: Path) -> None:
    """Its packages, as pinned for everybody, in an environment of their own beside the base."""
    names = ("starlette", "uvicorn", "anyio", "h11", "idna", "typing-extensions", "typing_extensions", "sniffio")
    kept: list[str] = []
    taking = False
    for line in (ROOT / "requirements" / "dev.txt").read_text().splitlines():
        if line and not line.startswith((" ", "#")):
            taking = line.split("==")[0] in names
        kept += [line] if taking else []
    (tmp_path / "extra.txt").write_text("\n".join(kept))
    there = tmp_path / "there"
    options = ("--require-hashes", "--no-deps", "--target", there, "-r", tmp_path / "extra.txt")
    done = run(UV, "pip", "install", "--python", base / "python", *options)
    assert done.returncode == 0, done.stderr
    words = "import sys; sys.path.append(sys.argv[1]); from ropewalk.cli.main import main; sys.exit(main(['dashboard', '.', '--replay']))"
    (tmp_path / "empty").mkdir()
    done = subprocess.run(
        [base / "python", "-c", words, there], capture_output=True, text=True, check=False, cwd=tmp_path / "empty"
    )
    assert (done.returncode, "holds no telemetry" in done.stderr) == (3, True), done.stderr


def test_the_wheel_carries_what_is_not_code(base: Path) -> None:
    found = run(base / "python", "-c", "import ropewalk; print(ropewalk.__path__[0])").stdout.strip()
    for name in (
        "py.typed",
        "report/page.html.j2",
        "tables/log4j2.properties",
        "dashboard/page/index.html",
        "dashboard/page/main.js",
    ):
        assert (Path(found) / name).is_file(), name


def test_the_pins_name_no_host_and_miss_no_hash() -> None:
    for file in sorted((ROOT / "requirements").glob("*.txt")):
        text = file.read_text()
        assert "://" not in text, file
        pins = [line for line in text.splitlines() if "==" in line and not line.lstrip().startswith("#")]
        assert pins
        assert all(line.endswith("\\") for line in pins), file


def test_the_base_pins_are_those_of_the_lab() -> None:
    def pins(name: str) -> set[str]:
        lines = (ROOT / "requirements" / name).read_text().splitlines()
        return {line.split(" ")[0] for line in lines if "==" in line and not line.lstrip().startswith("#")}

    assert pins("base.txt") <= pins("dev.txt")
