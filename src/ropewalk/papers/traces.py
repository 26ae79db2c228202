"""The public traces that claims are also measured on, where somebody has them: their files, and how they are read and cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ropewalk.universes.sample import Cut, Population, Rule
from ropewalk.workloads.adjacency import Adjacency
from ropewalk.workloads.contract import Source
from ropewalk.workloads.edges import Edges


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace by its public file names (docs/traces.md), and which rule of StaN 3.1 cuts universes out of it."""

    title: str
    source: Source
    files: tuple[str, ...]
    rule: Rule
    population: Population

    def cut(self, seeds: int, candidates: int) -> Cut:
        """How a universe of this trace is cut from so many seeds."""
        return Cut(rule=self.rule, seeds=seeds, population=self.population, candidates=candidates)


# The population of LiveJournal is to the letter of StaN 3.1, which comes nearer to the paper's sizes there
# (docs/papers/stan.md, B-T1); elsewhere that reading would take nearly the whole trace.
TRACES: dict[str, Trace] = {
    "livejournal": Trace(
        title="LiveJournal friends",
        source=Adjacency(key_sep="\\t"),
        files=("soc-LiveJournal1Adj.txt.gz",),
        rule="livejournal",
        population="closed",
    ),
    "gowalla": Trace(
        title="Gowalla check-ins",
        source=Adjacency(sep=" "),
        files=("gowalla.txt.gz",),
        rule="wikipedia",
        population="seeds",
    ),
    "twitter": Trace(
        title="Twitter follows",
        source=Edges(sep="\\t"),
        files=("follows.tsv.gz",),
        rule="livejournal",
        population="closed",
    ),
    "github": Trace(
        title="GitHub watches",
        source=Edges(sep=":"),
        files=("data.mediumlarge.gz", "data.medium.gz"),
        rule="wikipedia",
        population="seeds",
    ),
    "youtube": Trace(
        title="YouTube groups",
        source=Edges(sep="\\t"),
        files=("release-youtube-groupmemberships.txt.gz",),
        rule="wikipedia",
        population="seeds",
    ),
    "wikipedia": Trace(
        title="Wikipedia edits",
        source=Edges(header=True, node="u", topic="i"),
        files=("wikipedia.csv.gz",),
        rule="wikipedia",
        population="seeds",
    ),
}


def files_of(trace: Trace, data: Path) -> list[Path] | None:
    """Where the files of a trace lie, anywhere below `data`; None if one is not there."""
    places = [_place(data, name) for name in trace.files]
    found = [place for place in places if place is not None]
    return found if len(found) == len(places) else None


def _place(data: Path, name: str) -> Path | None:
    places: Sequence[Path] = sorted(data.rglob(name))
    return places[0] if places else None
