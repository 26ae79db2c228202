"""Traces into stores, by the command line: totals, rejects, rates, publications, and what happens when all is bad."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ropewalk.cli.main import main
from ropewalk.ids import identify
from ropewalk.tables.frames import problems_of, read_table
from ropewalk.tables.schema import NAMES, PUBLICATIONS, REJECTS, SUBSCRIPTIONS, TOPICS, Table
from ropewalk.tables.session import Session
from ropewalk.tables.store import Store


@pytest.fixture
def ingest(spark: Session, elsewhere: Path, capsys: pytest.CaptureFixture[str]):
    def run(*arguments: str) -> tuple[int, dict, str]:
        code = main(["ingest", *arguments, "--out", "u", "--json"])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else {}, err

    return run


def rows(spark: Session, table: Table) -> list[dict]:
    return [row.asDict() for row in read_table(spark, Store.open(Path("u")), table).collect()]


def test_edges_with_rates(ingest, spark: Session, elsewhere: Path) -> None:
    Path("a.csv").write_text("who,what,often\nann,news,2.5\nbob,news,4\nann,sport,1e1\ncyd,news,seldom\ncyd,news,-1\n")
    Path("b.csv.gz").write_bytes(gzip.compress(b"what,who,often\nnews,dan,0\n,dan,1\n"))
    code, said, _ = ingest(
        "edges",
        "a.csv",
        "b.csv.gz",
        "--header",
        "--node",
        "who",
        "--topic",
        "what",
        "--rate",
        "often",
        "--max-reject-share",
        "0.5",
    )
    assert code == 0
    assert {name: said[name] for name in ("read", "kept", "duplicates", "left_out", "rejected")} == {
        "read": 7,
        "kept": 4,
        "duplicates": 0,
        "left_out": 0,
        "rejected": 3,
    }
    assert (said["nodes"], said["topics"], said["subscriptions"]) == (3, 2, 4)
    assert {row["topic"]: row["rate"] for row in rows(spark, TOPICS)} == {
        identify("news"): 4.0,
        identify("sport"): 10.0,
    }
    assert {(row["node"], row["topic"]) for row in rows(spark, SUBSCRIPTIONS)} == {
        (identify(node), identify(topic))
        for node, topic in (("ann", "news"), ("bob", "news"), ("ann", "sport"), ("dan", "news"))
    }
    assert sorted((row["file"], row["position"], row["reason"]) for row in rows(spark, REJECTS)) == [
        ("a.csv", 5, "the rate is not a number of 0 or more"),
        ("a.csv", 6, "the rate is not a number of 0 or more"),
        ("b.csv.gz", 3, "the topic is empty"),
    ]
    assert problems_of(spark, Path("u")) == []


def test_edges_from_parquet(ingest, spark: Session, elsewhere: Path) -> None:
    table = [(1, "news", 2.0), (2, None, 1.0), (1, "news", 3.0), (3, "sport", -1.0)]
    spark.createDataFrame(table, "who long, what string, often double").coalesce(1).write.parquet(f"file:{elsewhere}/t")
    code, said, _ = ingest(
        "edges", "t", "--node", "who", "--topic", "what", "--rate", "often", "--max-reject-share", "0.5"
    )
    assert code == 0
    assert (said["read"], said["kept"], said["duplicates"], said["rejected"]) == (4, 1, 1, 2)
    assert [
        (row["position"], json.loads(row["text"])["who"])
        for row in sorted(rows(spark, REJECTS), key=lambda row: row["position"])
    ] == [(2, 2), (4, 3)]
    assert [row["rate"] for row in rows(spark, TOPICS)] == [3.0]


def test_lists_of_nodes_by_line(ingest, spark: Session, elsewhere: Path) -> None:
    Path("groups.txt").write_text("ann bob\n\ncyd  ann\n")
    code, _, _ = ingest("adjacency", "groups.txt", "--sep", " ", "--key", "line", "--lists", "nodes")
    assert code == 0
    assert {(row["node"], row["topic"]) for row in rows(spark, SUBSCRIPTIONS)} == {
        (identify(node), identify(line)) for node, line in (("ann", "1"), ("bob", "1"), ("cyd", "3"), ("ann", "3"))
    }


def test_too_many_rejects_leave_the_rejects_alone(ingest, spark: Session, elsewhere: Path) -> None:
    Path("a.csv").write_text("a,b\nc\nd,e\n")
    code, said, err = ingest("edges", "a.csv")
    assert (code, said) == (3, {})
    assert (
        "error: 1 of 3 rows were rejected (1 x 1 field found, 2 expected), more than --max-reject-share 0.05 allows;"
        " u-rejects holds them, and nothing was kept." in err
    )
    held = Store.open(Path("u-rejects"))
    assert [row["position"] for row in read_table(spark, held, REJECTS).collect()] == [2]
    assert held.manifest.tables.keys() == {"rejects"}
    assert not Path("u").exists()


def test_too_many_rejects_leave_an_older_store_alone(ingest, spark: Session, elsewhere: Path) -> None:
    Path("good.csv").write_text("a,b\n")
    Path("bad.csv").write_text("a\n")
    assert ingest("edges", "good.csv")[0] == 0
    assert ingest("edges", "bad.csv", "--overwrite")[0] == 3
    assert len(rows(spark, SUBSCRIPTIONS)) == 1


def test_two_names_with_one_id_are_refused(ingest, elsewhere: Path) -> None:
    Path("a.csv").write_text("alicealice000001,news\nJsaHXBzf5jAl1BYN,news\n")
    code, _, err = ingest("edges", "a.csv")
    assert code == 4
    assert "names: a key of (kind, id) is repeated" in err


def test_a_header_after_many_comments(ingest, elsewhere: Path) -> None:
    text = "# a comment\n" * 12_000 + "u,i\n" + "".join(f"{number},t\n" for number in range(20_000))
    Path("a.csv.gz").write_bytes(gzip.compress(text.encode()))
    code, said, _ = ingest("edges", "a.csv.gz", "--header", "--comment", "#")
    assert (code, said["kept"], said["left_out_by"]) == (0, 20_000, {"comment": 12_000})


def test_a_list_with_a_long_key_and_many_members(ingest, elsewhere: Path) -> None:
    Path("a.txt").write_text("k" * 20_000 + "," + ",".join(str(number) for number in range(150_000)) + "\n")
    code, said, _ = ingest("adjacency", "a.txt")
    assert (code, said["kept"], said["nodes"]) == (0, 150_000, 1)


def test_a_list_whose_key_is_not_ended_is_rejected(ingest, spark: Session, elsewhere: Path) -> None:
    Path("a.txt").write_text("ann\tnews,sport\nbob,news\ncyd\t\n")
    code, said, _ = ingest("adjacency", "a.txt", "--key-sep", "\\t", "--max-reject-share", "0.5")
    assert (code, said["kept"], said["left_out"], said["rejected"]) == (0, 2, 1, 1)
    assert [row["reason"] for row in rows(spark, REJECTS)] == ["there is no '\\\\t' that ends the list's key"]


def test_a_cut_off_archive_is_warned_of(ingest, elsewhere: Path) -> None:
    packed = gzip.compress("".join(f"{number},t\n" for number in range(50_000)).encode())
    Path("a.csv.gz").write_bytes(packed[: len(packed) // 2])
    code, said, err = ingest("edges", "a.csv.gz")
    assert (code, said["rejected"]) == (0, 1)
    assert said["kept"] > 10_000
    assert "warning: part of the input is missing: the archive ends early; see the table `rejects`." in err


def test_every_row_rejected_is_too_many_whatever_is_allowed(ingest, elsewhere: Path) -> None:
    Path("a.csv").write_text(",b\n")
    code, _, err = ingest("edges", "a.csv", "--max-reject-share", "1")
    assert code == 3
    assert "1 of 1 rows were rejected" in err


def test_an_empty_input(ingest, elsewhere: Path) -> None:
    Path("a.csv").touch()
    code, _, err = ingest("edges", "a.csv")
    assert code == 3
    assert "error: there is nothing in a.csv; give files that hold rows." in err
    assert sorted(os.listdir(elsewhere)) == ["a.csv"]  # noqa: PTH208


def test_a_filter_that_removes_everything_says_so(ingest, spark: Session, elsewhere: Path) -> None:
    Path("dump.xml").write_text(
        "<mediawiki><page><title>Talk:A</title><ns>1</ns><revision><contributor><username>x</username></contributor>"
        "</revision></page></mediawiki>"
    )
    code, said, err = ingest("mediawiki-xml", "dump.xml")
    assert code == 0
    assert "nothing was kept: all 1 rows were left out (1 in other namespaces)." in err
    assert (said["kept"], said["left_out"], said["nodes"], said["subscriptions"]) == (0, 1, 0, 0)
    assert rows(spark, SUBSCRIPTIONS) == []


@pytest.mark.thorough
def test_a_line_of_100_megabytes(ingest, spark: Session, elsewhere: Path) -> None:
    with Path("a.csv").open("wb") as opened:
        opened.write(b"a,b\n")
        opened.writelines(b"x" * 10**6 for _ in range(100))
        opened.write(b"\n" + b"c,d\n" * 50)
    code, said, _ = ingest("edges", "a.csv")
    assert code == 0
    assert (said["kept"], said["rejected"]) == (2, 1)
    (reject,) = rows(spark, REJECTS)
    assert (reject["position"], reject["text"]) == (2, "x" * 1000)
    assert reject["reason"] == "the line is longer than 1048576 bytes, the most that is read"


@pytest.mark.thorough
def test_statuses(ingest, spark: Session, elsewhere: Path) -> None:
    day = 86_400
    said: list[dict[str, Any]] = [
        {
            "user": {"name": "ann"},
            "time": "2009-11-01T00:00:00Z",
            "text": "one #Sail and #sea",
            "friends": ["bob", "gus"],
        },
        {
            "user": {"name": "bob"},
            "time": "Mon Nov 02 00:00:00 +0000 2009",
            "text": "two #sail #sail_boat",
            "friends": ["ann"],
        },
        {"user": {"name": "bob"}, "time": 1257033600 + 3 * day, "text": "three #sail", "friends": ["ann", "cyd"]},
        {
            "user": {"name": "cyd"},
            "time": "2009-11-03",
            "text": "too many",
            "friends": [f"friend-{i}" for i in range(5)],
        },
        {"user": {"name": "dan"}, "time": "2009-11-03", "text": "protected"},
        {"user": {"name": "eve"}, "time": "2009-11-03", "text": "alone", "friends": ["nobody"]},
    ]
    Path("crawl.jsonl").write_text("".join(json.dumps(each) + "\n" for each in said))
    with Path("crawl.jsonl").open("a") as opened:  # twice the same message, once with more friends
        opened.write(json.dumps(said[0] | {"friends": ["eve"]}) + "\n")
    code, found, err = ingest("statuses", "crawl.jsonl", "--author", "user.name", "--friend-cap", "4")
    assert code == 0, err
    assert (found["read"], found["kept"], found["duplicates"]) == (7, 3, 1)
    assert found["left_out_by"] == {
        "by authors whose friends are not known": 1,
        "by authors with no friend among the authors": 1,
        "by authors with too many friends": 1,
    }
    assert (found["nodes"], found["topics"], found["subscriptions"]) == (2, 3, 3)
    name = {(row["kind"], row["id"]): row["name"] for row in rows(spark, NAMES)}
    rates = {name["topic", row["topic"]]: row["rate"] for row in rows(spark, TOPICS)}
    # Uses on day 0, 1 and 3: the least-squares line of 0, 1, 2 through them rises by 9/14 a day.
    assert rates["#sail"] == pytest.approx(9 / 14)
    assert rates["bob"] == pytest.approx(0.5)
    assert rates["ann"] is None
    assert "#sea" not in rates
    assert "#sail_boat" not in rates
    events = {row["content"]: row for row in rows(spark, PUBLICATIONS)}
    assert events.keys() == {"one #Sail and #sea", "two #sail #sail_boat", "three #sail"}
    second = events["two #sail #sail_boat"]
    assert (second["run"], name["node", second["publisher"]], second["at"], second["size"]) == (
        "workload",
        "bob",
        1257120000.0,
        20,
    )
    assert [name["topic", topic] for topic in second["topics"]] == ["bob", "#sail"]
    assert problems_of(spark, Path("u")) == []


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (
            ("gpx", "x"),
            2,
            "format 'gpx' is not known; choose one of: adjacency, edges, mediawiki-csv, mediawiki-xml, statuses.",
        ),
        (("edges", "nowhere.csv"), 3, "nowhere.csv does not exist; give the file to read."),
        (("edges", "a.csv", "--node", "1", "--topic", "1"), 2, "the columns 1, 1 are not different"),
        (("edges", "a.csv", "--node", "who"), 2, "column 'who' is named, but no header is read; pass --header"),
        (
            ("edges", "a.csv", "--header", "--node", "b"),
            2,
            "b and 1 are not different columns of a.csv; name one column",
        ),
        (("statuses", "a.csv", "--author", "a'b"), 2, "author is \"a'b\", but must be a field's name"),
        (("edges", "a.csv", "--header", "--node", "who"), 3, "a.csv has no column 'who'; it has: 'a', 'b'."),
        (
            ("edges", "a.csv", "--topic", "7"),
            3,
            "a.csv has no column 7 (counted from 0): its first line has 2 fields; is --sep right?",
        ),
        (("mediawiki-csv", "a.csv"), 3, "the first line of a.csv must name the columns page_title, page_ns"),
        (("adjacency", "a.csv", "--key", "line", "--key-sep", ":"), 2, "key-sep ends the first field"),
    ],
)
def test_what_cannot_be_is_refused(
    ingest, elsewhere: Path, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    Path("a.csv").write_text("a,b\n")
    found, _, err = ingest(*arguments)
    assert (found, sentence in err) == (code, True), err
    assert not Path("u").exists()
