"""Dumps: a page is read by itself, wherever the file is cut and whatever is wrong with its neighbours."""

import bz2
import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ropewalk.errors import UsageError
from ropewalk.workloads.mediawiki_xml import MediaWikiXml
from ropewalk.workloads.reading import files
from ropewalk.workloads.reading.files import parts_of
from ropewalk.workloads.reading.packets import distinct_names, distinct_pairs

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo><namespaces><namespace key="0" case="first-letter" /><namespace key="1">Talk</namespace></namespaces></siteinfo>
"""
TAIL = "</mediawiki>\n"


def revision(contributor: str, time: str = "2010-05-01T12:00:00Z", text: str = "a &lt;page> of text") -> str:
    return f"<revision><id>1</id><timestamp>{time}</timestamp>{contributor}<text>{text}</text></revision>"


def by(name: str) -> str:
    return f"<contributor><username>{name}</username><id>7</id></contributor>"


def page(title: str, *revisions: str, ns: str = "<ns>0</ns>") -> str:
    return f"  <page>\n<title>{title}</title>{ns}<id>3</id>{''.join(revisions)}</page>\n"


def packed(batches: list[pa.RecordBatch], read: Callable, *kinds: str) -> list[dict]:
    wanted = [batch for batch in batches if len(batch) and batch.column("kind")[0].as_py() in kinds]
    return [row for batch in read(iter(wanted)) for row in batch.to_pylist()]


def read(file: Path, source: MediaWikiXml | None = None, prefixes: dict | None = None):
    """Pairs, counts (revisions kept among them), and rejects as (position in the file, text, reason)."""
    pairs: set[tuple[str, str]] = set()
    counts: Counter[str] = Counter()
    rejects: list[tuple[int, str, str]] = []
    before = revisions = 0
    for part in parts_of([file]):
        batches = list((source or MediaWikiXml()).read(part, prefixes or {}))
        found = [row for batch in batches for row in batch.to_pylist()]
        name = {(row["kind"], row["id"]): row["name"] for row in packed(batches, distinct_names, "node", "topic")}
        told = packed(batches, distinct_pairs, "pairs")
        pairs.update((name["node", row["node"]], name["topic", row["topic"]]) for row in told)
        revisions += sum(row["rows"] for row in found if row["kind"] == "pairs")
        counts.update({row["text"]: row["rows"] for row in found if row["kind"] == "count"})
        rejects += [(before + row["position"], row["text"], row["reason"]) for row in found if row["kind"] == "reject"]
        before += sum(row["position"] for row in found if row["kind"] == "size")
    counts["revisions"] = revisions
    return pairs, counts, rejects


def test_editors_and_pages(tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(
        HEAD
        + page("One", revision(by("Ann")), revision(by("Bob")), revision(by("Ann")))
        + page("Zwei &amp; drei", revision(by("Bøb &lt;3")), revision("<contributor><ip>10.0.0.1</ip></contributor>"))
        + page(
            "Three", revision('<contributor deleted="deleted" />'), revision("<contributor><username /></contributor>")
        )
        + TAIL
    )
    pairs, counts, rejects = read(tmp_path / "dump")
    assert pairs == {("Ann", "One"), ("Bob", "One"), ("Bøb <3", "Zwei & drei")}
    assert counts == {
        "pages": 3,
        "page tags": 3,
        "revisions": 4,
        "by IP address": 1,
        "by deleted contributors": 1,
        "by contributors without a name": 1,
    }
    assert rejects == []


def test_namespaces(tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(
        HEAD
        + page("Talk:One", revision(by("Ann")), ns="<ns>1</ns>")
        + page("One", revision(by("Ann")))
        + page("Talk:Old", revision(by("Ann")), ns="")  # as before 2012: the prefix tells
        + page("Old: a story", revision(by("Ann")), ns="")
        + TAIL
    )
    prefixes = {"Talk": "1"}
    articles, counts, _ = read(tmp_path / "dump", prefixes=prefixes)
    assert {title for _, title in articles} == {"One", "Old: a story"}
    assert counts["in other namespaces"] == 2
    talk, _, _ = read(tmp_path / "dump", MediaWikiXml(namespace="1"), prefixes)
    assert {title for _, title in talk} == {"Talk:One", "Talk:Old"}
    everything, _, _ = read(tmp_path / "dump", MediaWikiXml(namespace="all"), prefixes)
    assert len(everything) == 4


@pytest.mark.parametrize(
    ("since", "until", "kept"),
    [
        (None, None, "abcd"),
        ("2010", None, "bcd"),
        (None, "2010-05", "abc"),
        ("2010-05-01", "2010-05-01", "b"),
        (None, "2010-05-02T00:00:00Z", "abc"),
        ("2010-05-01T12:00:01Z", "2010-05-31", "c"),
    ],
)
def test_times(tmp_path: Path, since: str | None, until: str | None, kept: str) -> None:
    times = {
        "a": "2009-12-31T23:59:59Z",
        "b": "2010-05-01T12:00:00Z",
        "c": "2010-05-02T00:00:00Z",
        "d": "2010-06-01T00:00:00Z",
    }
    (tmp_path / "dump").write_text(
        HEAD + page("One", *(revision(by(name), time) for name, time in times.items())) + TAIL
    )
    pairs, counts, _ = read(tmp_path / "dump", MediaWikiXml(since=since, until=until))
    assert "".join(sorted(name for name, _ in pairs)) == kept
    assert counts["at other times"] == 4 - len(kept)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("  <page>\n<title>Bad</title><revision></page>\n", "the page is malformed (mismatched tag)"),
        (
            page("Bad", revision(by("Eve"), text="a & b")),
            "the page is malformed (not well-formed (invalid token))",
        ),
        ("  <page><title>Bad</title><ns>0</ns>\n", "the page has no end"),
        ("  <page><ns>0</ns></page>\n", "the page has no title"),
        (
            page("Bad", revision(by("Eve"), text="\udcff")),
            "the page is malformed (not well-formed (invalid token))",
        ),
    ],
)
def test_a_bad_page_costs_that_page_only(tmp_path: Path, broken: str, reason: str) -> None:
    good = [page(f"Page {number}", revision(by("Ann"))) for number in range(20)]
    text = HEAD + "".join(good[:7]) + broken + "".join(good[7:]) + TAIL
    (tmp_path / "dump").write_bytes(text.encode("utf-8", "surrogateescape"))
    pairs, counts, rejects = read(tmp_path / "dump")
    assert len(pairs) == 20
    assert counts == {"pages": 21, "page tags": 21, "revisions": 20}
    ((position, shown, found),) = rejects
    assert found == reason
    assert text.encode("utf-8", "surrogateescape")[position:].startswith(b"<page>")
    assert shown.startswith("<page>")


def test_a_dump_that_breaks_off_keeps_what_came_before(tmp_path: Path) -> None:
    text = HEAD + "".join(page(f"Page {number}", revision(by("Ann"))) for number in range(20))
    (tmp_path / "plain").write_text(text[:-10])
    pairs, _, rejects = read(tmp_path / "plain")
    assert len(pairs) == 19
    assert [reason for _, _, reason in rejects] == ["the page has no end"]
    packed = gzip.compress(text.encode())
    (tmp_path / "dump.gz").write_bytes(packed[:-20])
    pairs, _, rejects = read(tmp_path / "dump.gz")
    assert len(pairs) >= 10
    assert rejects[-1][2] == "the archive ends early"


def test_a_page_both_malformed_and_endless_is_rejected_once(tmp_path: Path) -> None:
    (tmp_path / "dump").write_text(
        HEAD + "<page><title>Bad</title>\x08" + "x" * 1_500_000 + page("Good", revision(by("Ann"))) + TAIL
    )
    pairs, counts, rejects = read(tmp_path / "dump")
    assert pairs == {("Ann", "Good")}
    assert counts["pages"] == 2
    assert [reason for _, _, reason in rejects] == ["the page is malformed (not well-formed (invalid token))"]


def test_a_revision_without_a_time_is_in_no_time(tmp_path: Path) -> None:
    text = HEAD + page("One", f"<revision>{by('Ann')}</revision>") + TAIL
    (tmp_path / "dump").write_text(text)
    assert read(tmp_path / "dump")[0] == {("Ann", "One")}
    assert read(tmp_path / "dump", MediaWikiXml(until="2012"))[0] == set()
    assert read(tmp_path / "dump", MediaWikiXml(since="2012"))[0] == set()


def test_utf_16(tmp_path: Path) -> None:
    text = HEAD + page("Страница", revision(by("Иван"))) + TAIL
    (tmp_path / "dump").write_bytes(bz2.compress(text.encode("utf-16")))
    assert read(tmp_path / "dump")[0] == {("Иван", "Страница")}


PAGES = st.lists(
    st.one_of(
        st.tuples(
            st.text("abc<&", min_size=1, max_size=8), st.lists(st.sampled_from(["Ann", "Bob", "Cyd"]), max_size=4)
        ),
        st.just(("broken", None)),
        st.just(("endless", None)),
    ),
    max_size=12,
)


@settings(max_examples=60)
@given(pages=PAGES, size=st.integers(1, 500), packed=st.booleans())
def test_cuts_change_nothing(tmp_path_factory: pytest.TempPathFactory, pages, size: int, packed: bool) -> None:
    text = HEAD
    expected: Counter = Counter()
    for number, (title, editors) in enumerate(pages):
        if editors is None:
            text += "<page><title>x</title><revision></page>" if title == "broken" else "<page><title>y</title>"
        else:
            escaped = title.replace("&", "&amp;").replace("<", "&lt;")
            text += page(f"{number} {escaped}", *(revision(by(name)) for name in editors))
            expected.update((name, f"{number} {title}") for name in editors)
    file = tmp_path_factory.mktemp("dump") / "dump"
    data = (text + TAIL).encode()
    file.write_bytes(
        b"".join(bz2.compress(data[start : start + 97], 1) for start in range(0, len(data), 97)) if packed else data
    )
    whole = read(file)[2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "PLAIN_PART", size)
        patch.setattr(files, "BZIP2_PART", size)
        pairs, counts, rejects = read(file)
    assert pairs == set(expected)
    assert counts["revisions"] == expected.total()
    assert counts["pages"] == counts["page tags"] == len(pages)
    assert len(rejects) == sum(editors is None for _, editors in pages)
    assert all(
        data[position:].startswith(shown.encode()) and shown.startswith("<page>") for position, shown, _ in rejects
    )
    assert rejects == whole


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"namespace": "articles"}, "namespace is 'articles', but must be numbers such as 0,4, or `all`."),
        ({"until": "2012-13-01"}, "until is '2012-13-01', but must be a time such as"),
        ({"since": "last year"}, "since is 'last year', but must be a time such as"),
        ({"since": "2012", "until": "2011-05"}, "since 2012 is after until 2011-05; exchange them."),
    ],
)
def test_impossible_wishes_are_refused(wrong: dict, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence.replace(".", r"\.")):
        MediaWikiXml(**wrong)
