"""What each verb prints and writes when all is well."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ropewalk import __version__
from ropewalk.cli import doctor
from ropewalk.cli.main import VERBS, main
from ropewalk.tables.frames import problems_of, struct_of
from ropewalk.tables.java import Search
from ropewalk.tables.machine import cores
from ropewalk.tables.schema import NAMES
from ropewalk.tables.session import Session
from ropewalk.tables.store import Store


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(verb in out and sentence.split(",")[0] in out for verb, sentence in VERBS.items())


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_explains_itself(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    assert main([verb, "--help"]) == 0
    out = capsys.readouterr().out
    assert VERBS[verb].split(",")[0].rstrip(".") in " ".join(out.split()), out
    assert "\\b" not in out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ropewalk {__version__}\n"


@pytest.mark.thorough
def test_generate_and_simulate(spark: Session, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "grid", "--set", "fig6", "--seed", "3", "--out", "u", "--json"]) == 0
    out, err = capsys.readouterr()
    made = json.loads(out)
    assert (made["nodes"], made["topics"], made["seed"]) == (100, 16, 3)
    assert err.startswith(f"ropewalk: version {__version__}, seed 3, settings ")
    store = Store.open(elsewhere / "u")
    assert store.manifest.defaults == {"overlay": "fixed", "connectivity": 0.99}
    assert store.manifest.tables["subscriptions"].rows == made["subscriptions"]
    assert problems_of(spark, elsewhere / "u") == []

    assert main(["simulate", "stan", "u", "--rounds", "2", "--json", "--report", "pages/run.html"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document)[:10] == [
        "run", "protocol", "engine", "seed", "nodes", "topics", "subscriptions", "rounds", "settings", "digest",
    ]  # fmt: skip
    for held in ("pvs", "connections"):
        for stage in ("initial", "final"):
            assert set(document[held][stage]) == {"mean", "p50", "p99", "max"}
    assert "by_round" not in document["pvs"]
    assert document["pvs"]["final"]["mean"] < document["pvs"]["initial"]["mean"]
    assert document["pvs"]["final"]["mean"] <= document["connections"]["final"]["mean"]
    assert set(document["seconds"]) >= {
        "survey the universe",
        "align the overlays and count",
        "write views and overlays",
    }
    assert document["out"] == f"runs/{document['run']}"
    assert Store.open(elsewhere / document["out"]).manifest.digest == document["digest"]
    page = (elsewhere / "pages" / "run.html").read_text()
    assert document["digest"] in page
    assert document["again"] == "ropewalk simulate stan UNIVERSE --seed 1 --rounds 2"
    assert document["again"] in page

    # What an earlier run kept is not lost to a later one that keeps less.
    assert main(["simulate", "stan", "u", "--rounds", "2", "--keep", "links"]) == 0
    capsys.readouterr()
    assert main(["simulate", "stan", "u", "--rounds", "2"]) == 2
    assert "is this run with links kept, which would be lost; pass --keep links" in capsys.readouterr().err
    assert main(["simulate", "stan", "u", "--rounds", "2", "--keep", "links"]) == 0
    capsys.readouterr()
    shutil.rmtree(elsewhere / "runs")

    # The same run again takes the same place and has the same digest; the table shows what the document says.
    assert main(["simulate", "stan", "u", "--rounds", "2"]) == 0
    table = capsys.readouterr().out
    assert f"digest {document['digest']}" in table
    before, after = (document["pvs"][stage]["mean"] for stage in ("initial", "final"))
    assert f"{before:.1f} -> {after:.1f}" in table


@pytest.mark.thorough
def test_a_workload_that_says_nothing_is_run_with_fixed_views_at_099(
    spark: Session, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "grid", "--set", "fig6", "--out", "u"]) == 0
    file = elsewhere / "u" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"defaults": {}}))
    capsys.readouterr()
    assert main(["simulate", "stan", "u", "--rounds", "1", "--json"]) == 0
    settings = json.loads(capsys.readouterr().out)["settings"]
    assert (settings["overlay"], settings["connectivity"]) == ("fixed", 0.99)


@pytest.mark.timeout(180)
def test_demo(spark: Session, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    report, headline = capsys.readouterr().out.splitlines()[-2:]
    assert report == "report: ropewalk-demo/report.html"
    assert headline.startswith("per node, before -> after: LVS ")
    assert "PVS " in headline
    assert "connections " in headline
    page = (elsewhere / "ropewalk-demo" / "report.html").read_text()
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org/", "")  # namespaces only: nothing is fetched
    assert "https://" not in page
    assert len(page) < 200_000


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is True
    found = {check["what"]: check["found"] for check in document["checks"]}
    assert set(found) == {
        "Python",
        "memory",
        "cores",
        "scratch disk",
        "lab",
        "dashboard",
        "Java",
        "Spark runs on",
        "tests, benchmarks",
    }
    assert found["cores"] == str(cores())
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert all(what in out for what in found)
    assert len(out.splitlines()) <= 24  # one screen


def test_doctor_finds_no_fault_where_what_only_tests_and_benchmarks_use_is_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "BESIDES", ("nothing-of-that-name", "also-not-here"))
    assert main(["doctor", "--json"]) == 0
    check = json.loads(capsys.readouterr().out)["checks"][-1]
    assert check["ok"] is True
    assert "nothing-of-that-name, also-not-here" in check["advice"]


def _besides(folder: Path, monkeypatch: pytest.MonkeyPatch, *programs: str) -> dict[str, Any]:
    """What is said of tests and benchmarks where these programs are there, and no others."""
    for program in programs:
        (folder / program).write_text("")
        (folder / program).chmod(0o700)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(doctor, "SBIN", "")
    return doctor._besides()


def test_doctor_says_which_browser_and_brokers_are_there_and_which_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = _besides(tmp_path, monkeypatch, "redis-server", "nats-server")
    assert check["found"] == "redis-server, nats-server"
    assert check["advice"].startswith("without chromium, mosquitto: ")
    check = _besides(tmp_path, monkeypatch, "google-chrome", "mosquitto")  # which tests take for one
    assert check["found"] == "chromium, redis-server, mosquitto, nats-server"
    assert check["advice"] == ""


def test_doctor_looks_for_what_is_installed_where_every_change_is_tried() -> None:
    words = (Path(__file__).parents[2] / ".ci" / "run").read_text()
    assert f"for program in {' '.join(doctor.BESIDES)}; do" in words


def test_doctor_says_that_the_scratch_folder_is_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/no/such/folder,/tmp")
    assert main(["doctor"]) == 1
    assert "/no/such/folder is not a folder" in capsys.readouterr().out


def test_no_verb_at_all_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Usage: ropewalk" in capsys.readouterr().err


def test_check(spark: Session, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "grid", "--set", "fig6", "--out", "u"]) == 0
    capsys.readouterr()
    assert main(["check", "u"]) == 0
    assert capsys.readouterr().out == "u: sound\n"
    names = spark.read.parquet(f"file:{elsewhere}/u/names").filter("name != 'topic-0'").collect()
    spark.createDataFrame(names, struct_of(NAMES)).write.mode("overwrite").parquet(f"file:{elsewhere}/u/names")
    assert main(["check", "u", "--json"]) == 3
    problems = json.loads(capsys.readouterr().out)["problems"]["u"]
    assert "names: is not what its manifest tallied" in problems
    assert [problem.partition(":")[0] for problem in problems if problem.endswith("does not occur in names")] == [
        "subscriptions",
        "topics",
    ]


def test_doctor_says_that_spark_cannot_run_where_it_was_told_to(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_MASTER", "spark://head")
    assert main(["doctor", "--json"]) == 1
    (found,) = (check for check in json.loads(capsys.readouterr().out)["checks"] if not check["ok"])
    assert found["what"] == "Spark runs on"
    assert "spark://host:7077" in found["advice"]


def test_doctor_without_java_says_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_java", lambda: Search(None, ()))
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "MISSING" in out
    assert "ropewalk[java]" in out


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_describe(spark: Session, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "grid", "--set", "fig6", "--out", "u"]) == 0
    capsys.readouterr()
    before = sorted(path.name for path in (elsewhere / "u").rglob("*"))
    assert main(["describe", "u", "--draws", "1000", "--json", "--report", "pages/u.html"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document)[:5] == ["universe", "seed", "nodes", "topics", "subscriptions"]
    assert (document["nodes"], document["topics"]) == (100, 16)
    for spread, many in (("subscribers_per_topic", "topics"), ("subscriptions_per_node", "nodes")):
        assert document[spread]["mean"] == document["subscriptions"] / document[many]
        assert (
            document[spread]["min"] <= document[spread]["median"] <= document[spread]["p90"] <= document[spread]["max"]
        )
    assert document["subscribers_per_topic"]["power_law"]["exponent"] is None  # 16 values say nothing
    assert document["topic_correlation"]["pairs"] == 16 * 15 // 2
    assert set(document["node_correlation"]["significant"]) == {"90", "95", "98", "99"}
    assert document["overlap"]["draws"] == 1000
    assert document["overlap"]["J/J0"]["value"] > 1  # who is near shares interests
    assert sorted(path.name for path in (elsewhere / "u").rglob("*")) == before
    page = (elsewhere / "pages" / "u.html").read_text()
    assert page.count("<svg") == 3
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page
    assert len(page) < 400_000

    assert main(["describe", "u", "--draws", "1000"]) == 0
    table = capsys.readouterr().out
    assert f"{document['overlap']['J']['value']:.4f}" in table
    assert "subscribers per topic: No power law was fitted: there are 16 values" in table
