"""A source of edits: dumps as Wikimedia publishes them. A page is a topic, whoever edited it under a name is a node.

A dump is cut where pages begin, so that parts of it are read in parallel, and a page is parsed by itself: one that is malformed
is rejected, and the next is read as if nothing had happened. A page is never held: of its revisions, which may be
gigabytes, only the names of contributors are kept. `<page>` cannot occur in the text of a page, where it is written `&lt;page>`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from xml.parsers import expat

import pyarrow as pa
from pyspark.sql import SparkSession

from ropewalk.errors import RunError
from ropewalk.workloads.mediawiki import DELETED, IP, LEFT_OUT, NAMELESS, OTHER_NAMESPACE, OTHER_TIME, Wanted
from ropewalk.workloads.reading.files import Gap, Part, head_of, parts_of, pieces
from ropewalk.workloads.reading.gather import Gathered, gather, names_of_parts, spread
from ropewalk.workloads.reading.packets import SHOWN, Ledger, Reject, counts, rejects, size_of

PAGE, END = b"<page>", b"</page>"
PAGES, TAGS = "pages", "page tags"
TEXTS = {"title", "ns", "timestamp", "username", "ip"}  # the elements whose text is wanted
SIBLINGS = {"title": "page", "ns": "page", "timestamp": "revision", "username": "contributor", "ip": "contributor"}
HANDED_ON = 50_000  # pairs in a batch
HEADER = 2**20  # bytes in which the names of namespaces are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaWikiXml(Wanted):
    """A revision is one row of the input; a page that cannot be read is one row that is rejected."""

    name: ClassVar[str] = "mediawiki-xml"
    sentence: ClassVar[str] = "MediaWiki dumps, current or full history, plain, .gz or .bz2: editors and pages."

    def gathered(self, spark: SparkSession, files: Sequence[Path]) -> Gathered:
        """Every revision of every page; it fails if pages were lost on the way."""
        parts = parts_of(files)
        prefixes = {str(file.absolute()): _prefixes(head_of(file, HEADER)) for file in files}

        def read(part: Part) -> Iterator[pa.RecordBatch]:
            return self.read(part, prefixes[part.file])

        gathered = gather(
            spread(spark, parts, read), names_of_parts(parts, files), buckets=parts[0].buckets, left_out=LEFT_OUT
        )
        found = gathered.totals.counts
        if found.get(PAGES, 0) != found.get(TAGS, 0):
            gathered.unpersist()
            raise RunError(
                f"{found.get(TAGS, 0)} pages begin in the dump, but {found.get(PAGES, 0)} were read;"
                " this should not happen, please report it."
            )
        return gathered

    def read(self, part: Part, prefixes: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        """The rows of the pages that begin in one part."""
        cutter, ledger = Cutter(part), Ledger(part.buckets)
        nodes: list[str] = []
        topics: list[str] = []
        rows: list[int] = []
        counted = dict.fromkeys((PAGES, *LEFT_OUT), 0)
        page: Page | None = None
        for piece in cutter:
            if isinstance(piece, Begin):
                page = Page(self, prefixes)
                counted[PAGES] += 1
            elif isinstance(piece, Broken):
                if page is not None or not piece.in_page:  # a page is rejected once, however much is wrong with it
                    yield rejects(part, [Reject(piece.at, piece.beginning, piece.reason)])
                page = None
            elif page is not None and (reason := page.read(piece, cutter.at_end)):
                yield rejects(part, [Reject(cutter.began_at, cutter.beginning, reason)])
                page = None
            elif page is not None and cutter.at_end:
                for node, edits in page.edits.items():
                    nodes.append(node)
                    topics.append(page.title)
                    rows.append(edits)
                for name, edits in page.left_out.items():
                    counted[name] += edits
                page = None
            if len(nodes) >= HANDED_ON:
                yield from _pairs(ledger, nodes, topics, rows)
        yield from _pairs(ledger, nodes, topics, rows)
        yield from ledger.rest()
        counted[TAGS] = cutter.tags
        yield counts({name: count for name, count in counted.items() if count})
        yield size_of(part, cutter.size)


@dataclass(frozen=True, slots=True)
class Begin:
    """A page begins."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The dump is broken here, and with it the page that began at `at`, if one did."""

    at: int
    beginning: bytes
    reason: str
    in_page: bool


class Cutter:
    """Cuts the stream of a part into pages: Begin, bytes of the page, and so on; or Broken, if a page has no end.

    Pages belong to the part in which their tag begins. Apart from that, and by other means, their tags are counted.
    """

    def __init__(self, part: Part) -> None:
        self._part = part
        self._inside = False
        self._left = b""  # of the stream, not yet looked at: a tag may be cut in two
        self._at = 0  # where that is in the part
        self._next = 0  # how much of it has been looked at, after all, while it is being cut
        self._seen = b""  # the end of what tags have been counted in
        self.size = 0  # bytes of the part
        self.tags = 0
        self.began_at = 0  # where the current page began,
        self.beginning = b""  # and how
        self.at_end = False  # whether the bytes just handed over end the page

    def __iter__(self) -> Iterator[Begin | Broken | bytes]:
        for own, piece in pieces(self._part):
            if isinstance(piece, Gap):
                if own or self._inside:
                    yield self._broken(piece.reason)
                if not own:
                    return
                self._at += len(self._left)
                self._left, self._seen = b"", b""
                continue
            self._count(piece, own)
            if own:
                self.size += len(piece)
            self._left += piece
            yield from self._cut()
            if not own and not self._inside and self._at >= self.size:
                return
        if self._inside:
            yield self._broken("the page has no end")

    def _count(self, piece: bytes, own: bool) -> None:
        """Count the tags that begin in the part: one may end in the first bytes past it."""
        counted = self._seen + (piece if own else piece[: len(PAGE) - 1])
        self.tags += counted.count(PAGE)
        self._seen = counted[-(len(PAGE) - 1) :] if own else b""

    def _cut(self) -> Iterator[Begin | Broken | bytes]:
        while True:
            begin = self._left.find(PAGE, self._next)
            end = self._left.find(END, self._next) if self._inside else -1
            if self._inside and end >= 0 and (begin < 0 or end < begin):
                yield self._handed(end + len(END), at_end=True)
                self._inside = False
            elif begin >= 0:
                if self._inside:
                    yield self._handed(begin, at_end=False)
                    yield self._broken("the page has no end")
                self._next = begin
                if self._at + begin >= self.size:
                    break  # the next part's
                self._inside, self.began_at, self.beginning = True, self._at + begin, b""
                yield Begin()
                yield self._handed(begin + len(PAGE), at_end=False)
            else:
                ready = max(self._next, len(self._left) - len(END) + 1)
                if self._inside and ready > self._next:
                    yield self._handed(ready, at_end=False)
                self._next = ready
                break
        self._at += self._next
        self._left, self._next = self._left[self._next :], 0

    def _handed(self, end: int, *, at_end: bool) -> bytes:
        piece = self._left[self._next : end]
        self._next = end
        if len(self.beginning) < SHOWN:
            self.beginning += piece[:SHOWN]
        self.at_end = at_end
        return piece

    def _broken(self, reason: str) -> Broken:
        inside, self._inside = self._inside, False
        at, beginning = (self.began_at, self.beginning) if inside else (self._at, b"")
        return Broken(at, beginning[:SHOWN], reason, inside)


class Page:
    """One page, parsed as its bytes come: its title, and how many revisions each contributor has."""

    def __init__(self, wanted: Wanted, prefixes: Mapping[str, str]) -> None:
        self.edits: dict[str, int] = {}
        self.left_out: dict[str, int] = {}
        self.title = ""
        self._namespace = ""
        self._wanted = wanted
        self._namespaces = wanted.namespaces
        self._prefixes = prefixes
        self._inside: list[str] = []
        self._text: list[str] = []
        self._revision: dict[str, str] = {}
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def read(self, piece: bytes, is_last: bool) -> str | None:
        """Parse more of the page; the answer is why it cannot be used, if it cannot."""
        try:
            self._parser.Parse(piece, is_last)
        except expat.ExpatError as error:
            return f"the page is malformed ({expat.ErrorString(error.code)})"
        if is_last and not self.title:
            return "the page has no title"
        return None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "revision":
            self._revision = {}
        elif name == "contributor" and attributes.get("deleted"):
            self._revision["deleted"] = "deleted"
        if name in TEXTS and self._inside and self._inside[-1] == SIBLINGS[name]:
            self._text = []
            self._parser.CharacterDataHandler = self._text.append
        self._inside.append(name)

    def _end(self, name: str) -> None:
        self._inside.pop()
        if self._parser.CharacterDataHandler is not None:
            self._parser.CharacterDataHandler = None
            text = "".join(self._text)
            if name == "title":
                self.title = text
            elif name == "ns":
                self._namespace = text
            else:
                self._revision[name] = text
        elif name == "revision":
            self._count(self._revision)

    def _count(self, revision: dict[str, str]) -> None:
        reason = self._reason_to_leave_out(revision)
        if reason is None:
            name = revision["username"]
            self.edits[name] = self.edits.get(name, 0) + 1
        else:
            self.left_out[reason] = self.left_out.get(reason, 0) + 1

    def _reason_to_leave_out(self, revision: dict[str, str]) -> str | None:
        if self._namespaces is not None:
            # Dumps before 2012 have no <ns>: there the title's prefix tells.
            namespace = self._namespace or self._prefixes.get(self.title.partition(":")[0], "0")
            if namespace not in self._namespaces:
                return OTHER_NAMESPACE
        if not self._wanted.is_in_time(revision.get("timestamp", "")):
            return OTHER_TIME
        if revision.get("username"):
            return None
        if "ip" in revision:
            return IP
        return DELETED if "deleted" in revision else NAMELESS


def _pairs(ledger: Ledger, nodes: list[str], topics: list[str], rows: list[int]) -> Iterator[pa.RecordBatch]:
    """Enter the pairs so far; the lists are empty afterwards."""
    yield from ledger.pairs(pa.array(nodes, pa.string()), pa.array(topics, pa.string()), rows=sum(rows))
    for column in (nodes, topics, rows):
        column.clear()


def _prefixes(head: bytes) -> dict[str, str]:
    """The number of each namespace by the prefix of its titles, as the head of a dump says."""
    found = re.findall(rb'<namespace key="(-?\d+)"[^>]*>([^<]+)</namespace>', head)
    return {name.decode("utf-8", "replace"): key.decode() for key, name in found}
