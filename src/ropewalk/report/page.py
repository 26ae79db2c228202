"""The HTML page of one run: headline first, then figures with the numbers under them, then how to run it again."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ropewalk import __version__
from ropewalk.errors import UsageError
from ropewalk.measures.summary import HELD, SPREAD, TREES, Row, events_said, fitness_shown
from ropewalk.report.figures import Line, chart

STAGES = {"initial": "before", "final": "after"}
KINDS = {  # of what a routing table is made up, and what comes to it
    "table": "all links of a node",
    "covering": "covering",
    "covered": "covered",
    "neighbours": "neighbours",
    "ring": "who wants the same",
    "incoming": "links of others besides",
}
SHOWN = (5, 25, 50, 75, 95, 99, 100)  # percentiles that the numbers under a figure have
LARGEST = 5 * 2**20  # bytes: a report that no browser opens helps nobody

Values = dict[tuple[str, str], float]
"""Every measure of a run, by name and stage."""


@dataclass(frozen=True, slots=True)
class Section:
    """A figure, how to read it, and its numbers."""

    title: str
    figure: Markup
    reading: str
    columns: list[str]
    rows: list[list[str]]


def write_report(path: Path, document: dict[str, Any], rows: Iterable[Row]) -> None:
    """Write the page of a run (the document of `simulate` and all its measures) to `path`."""
    write_page(path, render(document, rows))


def write_page(path: Path, text: str) -> None:
    """Put a page in its place, whole or not at all."""
    with _drafted(path) as draft:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)


def refuse_unwritable(path: Path) -> None:
    """Find out before the work, not after it, that a report cannot be written to `path`."""
    with _drafted(path):
        pass


@contextmanager
def _drafted(path: Path) -> Iterator[Path]:
    draft = path.with_name(f".{path.name}.draft")
    new_folders = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.touch()
        try:
            yield draft
        finally:
            draft.unlink(missing_ok=True)
            with suppress(OSError):  # where something lies in them they stay
                for folder in new_folders:
                    folder.rmdir()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written ({error.strerror}); choose another place for the report."
        ) from error


def render(document: dict[str, Any], rows: Iterable[Row]) -> str:
    """The text of the page."""
    value = {(measure, group): number for measure, group, number in rows}
    sections = [_distribution(document, value)] if "trees" not in document else [_relays(document, value)]
    if "routing" in document:
        sections.append(_routing(value))
    if "spread" in document:
        sections.append(_spread(document, value))
    if "by_round" in document["pvs"]:
        sections.insert(0, _by_round(document))
    if ("latency.p50", "final") in value:
        sections.append(_latency(document, value))
    return rendered(
        "page.html.j2",
        document=document,
        headline=_headline(document),
        held=HELD,
        trees=TREES,
        stages=[stage for stage in STAGES if stage in document["lvs"]],
        words=STAGES,
        fitness=fitness_shown(document) if document["settings"]["fitness"] else {},
        sections=sections,
        sent=_sent(value),
        command=document["again"],
    )


def _sent(value: Values) -> list[tuple[str, int, int]]:
    """Messages and bytes of each kind, the most frequent first; nothing, if they were not kept."""
    kinds = [(group, number) for (measure, group), number in value.items() if measure == "sent.messages"]
    ordered = sorted(kinds, key=lambda each: (-each[1], each[0]))
    return [(kind, int(count), int(value["sent.bytes", kind])) for kind, count in ordered]


def rendered(template: str, **values: Any) -> str:
    """A template of this folder, filled in."""
    environment = Environment(
        loader=PackageLoader("ropewalk", "report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    text = environment.get_template(template).render(version=__version__, **values)
    assert len(text) <= LARGEST, f"the report has grown to {len(text)} bytes"
    return text


def _relays(document: dict[str, Any], value: Values) -> Section:
    stages = {stage: words for stage, words in STAGES.items() if stage in document["trees"]}
    lines = [
        Line(
            f"{document['protocol']}, {words}" if len(stages) > 1 else document["protocol"],
            _percentiles(value, "tree.relays", stage),
            list(range(101)),
            dashed=stage == "initial",
        )
        for stage, words in stages.items()
    ]
    return Section(
        title="Relays that do not follow",
        figure=chart(lines, "such nodes in the tree of a topic", "% of topics with at most so many", steps=True),
        reading="A point (x, y) says that the trees of y % of the topics pass at most x nodes that do not follow the topic. The"
        " further left, the less is carried for others; dashed is what comes of it where a hash puts everybody.",
        columns=["% of topics", *(line.label for line in lines)],
        rows=[[str(percentile), *(f"{line.x[percentile]:.0f}" for line in lines)] for percentile in SHOWN],
    )


def _by_round(document: dict[str, Any]) -> Section:
    lvs, pvs = document["lvs"]["by_round"], document["pvs"]["by_round"]
    turns = list(range(len(pvs)))
    return Section(
        title="Links by round",
        figure=chart(
            [Line("logical links (LVS)", turns, lvs, shade=1), Line("distinct neighbours (PVS)", turns, pvs)],
            "round",
            "mean per node",
        ),
        reading="The upper line is how many links a node holds over all its topics; the protocol must not change it. The lower"
        " line is how many different nodes these links lead to: the further it falls, the more links share a neighbour.",
        columns=["round", "LVS", "PVS"],
        rows=[[str(turn), f"{lvs[turn]:.2f}", f"{pvs[turn]:.2f}"] for turn in turns],
    )


def _latency(document: dict[str, Any], value: Values) -> Section:
    seconds = _percentiles(value, "latency")
    return Section(
        title="How late events are",
        figure=chart(
            [Line("seconds since it was published", seconds, list(range(101)))],
            "seconds",
            "% of deliveries within so many",
            steps=True,
        ),
        reading=f"{events_said(document)}. Over deliveries to nodes that had followed for three periods; where messages are"
        " lost, the tail is what had to be asked for.",
        columns=["% of deliveries", "seconds"],
        rows=[[str(percentile), f"{seconds[percentile]:.3f}"] for percentile in SHOWN],
    )


def _distribution(document: dict[str, Any], value: Values) -> Section:
    names = {"pvs": "PVS", "connections": "connections"}
    stages = {stage: words for stage, words in STAGES.items() if stage in document["pvs"]}
    lines = [
        Line(
            f"{name} {words}" if len(stages) > 1 else name,
            _percentiles(value, held, stage),
            list(range(101)),
            shade=shade,
            dashed=stage == "initial",
        )
        for shade, (held, name) in enumerate(names.items())
        for stage, words in stages.items()
    ]
    compared = (
        " After alignment (solid) the lines should lie left of where they were before (dashed), most of all at the top, where"
        " the busiest nodes are."
    )
    return Section(
        title="Who holds how many",
        figure=chart(lines, "neighbours or connections of a node", "% of nodes with at most so many", steps=True),
        reading=f"A point (x, y) says that y % of the nodes have at most x.{compared if len(stages) > 1 else ''}",
        columns=["% of nodes", *(line.label for line in lines)],
        rows=[[str(percentile), *(f"{line.x[percentile]:.0f}" for line in lines)] for percentile in SHOWN],
    )


def _routing(value: Values) -> Section:
    lines = [
        Line(words, _percentiles(value, f"routing.{name}"), list(range(101)), shade=shade, dashed=name == "incoming")
        for shade, (name, words) in enumerate(KINDS.items())
    ]
    points = ("mean", "p50", "p99", "p100")
    return Section(
        title="Routing tables",
        figure=chart(lines, "links of a node", "% of nodes with at most so many", steps=True),
        reading="A point (x, y) says that y % of the nodes have at most x such links. Only primaries have links other than those to"
        " who wants the same. Dashed: nodes that hold a node and that it does not hold, which no table counts.",
        columns=["links of a node", "mean", "median", "p99", "max"],
        rows=[
            [words, *(f"{value[f'routing.{name}.{point}', 'final']:.2f}" for point in points)]
            for name, words in KINDS.items()
        ],
    )


def _spread(document: dict[str, Any], value: Values) -> Section:
    received = _percentiles(value, "routing.received")
    found = {words: document["spread"][name] for name, words in SPREAD.items()}
    found["links to who wants it, at the most"] = value["spread.depth.most", "final"]
    found["messages of events that come to a node, in the mean"] = value["routing.received.mean", "final"]
    return Section(
        title="What became of events",
        figure=chart(
            [Line("messages that came in", received, list(range(101)))],
            "messages of events",
            "% of nodes with at most so many",
            steps=True,
        ),
        reading=f"{document['events']} events; {document['missed']} of {document['expected']} receipts that were wanted are missing."
        " A point (x, y) says that to y % of the nodes at most x messages came, copies of what they had among them.",
        columns=["over all events", ""],
        rows=[[words, "" if number is None else f"{number:.4f}"] for words, number in found.items()],
    )


def _percentiles(value: Values, measure: str, stage: str = "final") -> list[float]:
    return [value[f"{measure}.p{percentile}", stage] for percentile in range(101)]


def _headline(document: dict[str, Any]) -> list[tuple[str, str]]:
    """What counts where nodes have routing tables; nothing elsewhere."""
    if "routing" not in document:
        return []
    found = [(f"{document['routing']['table']['mean']:.1f}", "links in a routing table")]
    said = {
        "false_positives": ("{:.1%}", "of nodes reached do not want it"),
        "false_negatives": ("{:.1%}", "of nodes that want it are not reached"),
        "depth": ("{:.1f}", "links to who wants it"),
        "messages": ("{:.1f}", "messages for each node reached"),
    }
    spread = document.get("spread", {})
    return found + [
        (form.format(spread[name]), words) for name, (form, words) in said.items() if spread.get(name) is not None
    ]
