"""Every source keeps the contract, whatever it reads: pairs once each, nothing lost unsaid, packing and cuts of no account."""

import bz2
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ropewalk.errors import InputError
from ropewalk.experiments.ingest import document_of
from ropewalk.tables.session import Session
from ropewalk.workloads.adjacency import Adjacency
from ropewalk.workloads.catalogue import SOURCES
from ropewalk.workloads.contract import Source
from ropewalk.workloads.edges import Edges
from ropewalk.workloads.mediawiki_csv import MediaWikiCsv
from ropewalk.workloads.mediawiki_xml import MediaWikiXml
from ropewalk.workloads.reading import files
from ropewalk.workloads.reading.gather import Gathered
from ropewalk.workloads.statuses import Statuses


def contributor(name: str) -> str:
    return f"<revision><timestamp>2012-01-01T00:00:00Z</timestamp><contributor><username>{name}</username></contributor></revision>"


def message(author: str, friends: list[str]) -> bytes:
    return json.dumps({"author": author, "time": 1e9, "text": f"hello #{author * 4}", "friends": friends}).encode()


@dataclass(frozen=True)
class Sample:
    """A small input with a bad row and a row that is there twice."""

    source: Source
    data: bytes
    pairs: set[tuple[str, str]]
    bad_at: int
    reason: str
    totals: tuple[int, int, int, int]  # kept, duplicates, left_out, rejected


SAMPLES = {
    "edges": Sample(
        Edges(header=True, node="user", topic="group"),
        b'user,since,group\nann,1,news\nbob,1,sport\nann,2,news\nc\xff,1,news\n"cyd","1,5",news\n',
        {("ann", "news"), ("bob", "sport"), ("cyd", "news")},
        5,
        "the line is not UTF-8",
        (3, 1, 0, 1),
    ),
    "adjacency": Sample(
        Adjacency(key_sep="\\t"),
        b"ann\tnews,sport\nbob\tsport,sport\ncyd\t\n\tnews\n",
        {("ann", "news"), ("ann", "sport"), ("bob", "sport")},
        4,
        "the list has no key",
        (3, 1, 1, 1),
    ),
    "mediawiki-xml": Sample(
        MediaWikiXml(),
        (
            f"<mediawiki>\n<page><title>News</title><ns>0</ns>{contributor('ann')}{contributor('ann')}</page>"
            f"<page><title>Talk:News</title><ns>1</ns>{contributor('bob')}</page>"
            f"<page><title>Broken</title><ns>0</page><page><title>Sport</title><ns>0</ns>{contributor('bob')}</page></mediawiki>"
        ).encode(),
        {("ann", "News"), ("bob", "Sport")},
        446,  # where its tag begins
        "the page is malformed (mismatched tag)",
        (2, 1, 1, 1),
    ),
    "mediawiki-csv": Sample(
        MediaWikiCsv(),
        (
            b"page_id,page_title,page_ns,revision_id,timestamp,contributor_id,contributor_name,bytes\n"
            b"1,|News|,0,1,2012-01-01T00:00:00Z,7,|ann|,5\n1,|News|,0,2,2012-01-01T00:00:00Z,7,|ann|,5\n"
            b'2,|Sport, and "more"|,0,3,2012-01-01T00:00:00Z,8,|bob|,5\n2,|Sport|,0,4,2012-01-01T00:00:00Z,1.2.3.4,Anonymous,5\n'
            b"3,|News,0,5,2012-01-01T00:00:00Z,7,|ann|,5\n"
        ),
        {("ann", "News"), ("bob", 'Sport, and "more"')},
        6,
        "its quotes do not match",
        (2, 1, 1, 1),
    ),
    "statuses": Sample(
        Statuses(),
        b"\n".join(
            [
                message("ann", ["bob", "zoe"]),
                message("bob", ["ann"]),
                message("bob", ["ann"]),
                b'{"author": "bob", "text"',
                message("cyd", ["zoe"]),
            ]
        ),
        {("ann", "bob"), ("bob", "ann")},
        4,
        "the line is not JSON",
        (2, 1, 1, 1),
    ),
}
EVERY = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


@pytest.fixture
def gathered(spark: Session, tmp_path: Path):
    done: list[Gathered] = []

    def gather(source: Source, *contents: bytes) -> Gathered:
        paths = [tmp_path / f"file-{len(done)}-{number}" for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        done.append(source.gathered(spark, paths))
        return done[-1]

    yield gather
    for each in done:
        each.unpersist()


def pairs_of(found: Gathered) -> list[tuple[str, str]]:
    name = {(row["kind"], row["id"]): row["name"] for row in found.names.collect()}
    return sorted((name["node", row["node"]], name["topic", row["topic"]]) for row in found.subscriptions.collect())


def test_every_source_has_a_sample() -> None:
    assert SAMPLES.keys() == SOURCES.keys()


@EVERY
@pytest.mark.parametrize(
    "pack",
    [
        pytest.param(bytes, id="plain"),
        pytest.param(gzip.compress, id="gz", marks=pytest.mark.thorough),
        pytest.param(bz2.compress, id="bz2", marks=pytest.mark.thorough),
    ],
)
def test_what_it_reads(gathered: Callable[..., Gathered], sample: Sample, pack) -> None:
    found = gathered(sample.source, pack(sample.data))
    assert pairs_of(found) == sorted(sample.pairs)
    said = document_of(found.totals, len(sample.pairs))
    assert tuple(said[name] for name in ("kept", "duplicates", "left_out", "rejected")) == sample.totals
    assert said["read"] == sum(sample.totals)
    (reject,) = found.rejects.collect()
    assert reject["position"] == sample.bad_at
    assert reject["reason"].startswith(sample.reason)
    assert reject["file"].endswith("file-0-0")
    assert reject["text"]


@pytest.mark.thorough
@EVERY
def test_cuts_and_several_files_change_nothing(
    gathered: Callable[..., Gathered], sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PLAIN_PART", len(sample.data) // 3)  # in the middle of lines
    found = gathered(sample.source, sample.data, sample.data)
    assert pairs_of(found) == sorted(sample.pairs)
    assert found.totals.rejected == 2 * sample.totals[3]
    assert {row["position"] for row in found.rejects.collect()} == {sample.bad_at}
    assert len({row["file"] for row in found.rejects.collect()}) == 2


@pytest.mark.parametrize("name", ["edges", "adjacency", "mediawiki-xml", "mediawiki-csv"])
def test_pairs_become_distinct_in_as_many_tasks_as_there_are_buckets(
    gathered: Callable[..., Gathered], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LEAST_BUCKETS", 8)
    found = gathered(SAMPLES[name].source, SAMPLES[name].data)
    assert found.subscriptions.rdd.getNumPartitions() == 8


@EVERY
def test_an_empty_file_is_nothing(gathered: Callable[..., Gathered], sample: Sample) -> None:
    try:
        found = gathered(sample.source, b"")
    except InputError as error:
        assert "the first line" in str(error) or "no header" in str(error)  # noqa: PT017 (either is right)
    else:
        assert found.totals.read == 0
        assert pairs_of(found) == []
