"""Kato et al., section III-A: whether events reach all who want them, by the printed rules and by those that repair them."""

from contextlib import nullcontext

from ropewalk.engines.batch.content_sweep import ContentPoint
from ropewalk.engines.job import Order
from ropewalk.engines.sim.deliveries import Deliveries, outcome
from ropewalk.engines.sim.publishing import acts_of
from ropewalk.engines.sim.record import Traffic
from ropewalk.engines.sim.rings import played
from ropewalk.engines.wanting import by_cell, drawn_for, wanting_of
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.sweeps import KATO, LARGEST, Case, average, flat, quotes, runs
from ropewalk.papers.lab import Lab
from ropewalk.protocols.kato.settings import NAME, Settings
from ropewalk.workloads.stock_quotes import StockQuotes

LOW = 0.05  # ours: what "low" may be
READINGS = {
    "printed": Settings(),
    "printed, k = 1": Settings(hashes=1),
    "printed, k = 3": Settings(hashes=3),
    "downwards": Settings(spread="multicast"),
    "by cells": Settings(cover="cells"),
}
WANTED = ("hierarchy", "flat")
PLAYED: dict[Scale, tuple[int, ...]] = {"small": (30,), "paper": (30, 120)}  # nodes that come, go and publish
ROUNDS, EVENTS = 12, 200
CHURN, LOST = 0.01, 0.05  # in a period, who goes; of messages


def _models(nodes: int) -> dict[str, StockQuotes]:
    """Ranges that contain each other, as the paper's hierarchy has them, and ranges of one width, where nobody covers anybody."""
    return {"hierarchy": quotes(nodes), "flat": flat(nodes)}


def measure(lab: Lab, scale: Scale) -> Measured:
    """What is missed, under each reading."""
    models = _models(LARGEST[scale])
    cases = [
        Case(f"{what}, {reading}", model, settings)
        for what, model in models.items()
        for reading, settings in READINGS.items()
    ]
    strangers = Settings(publishers="anybody")
    cases.append(Case("hierarchy, published by anybody", models["hierarchy"], strangers))
    found = runs(lab, scale, "stock quotes, missed", cases)
    missed = {case.name: average(found[case.name], "spread.false_negatives") for case in cases}
    lost = average(found["hierarchy, published by anybody"], "spread.lost")
    once_in = average(found["hierarchy, published by anybody"], "spread.false_negatives.once_in")
    played = {}
    for nodes in PLAYED[scale]:
        with lab.phase(f"{nodes} nodes come, go and publish"):
            played[str(nodes)] = {what: played_by(model, lab.seed) for what, model in _models(nodes).items()}
    return Measured({"missed": missed, "lost": lost, "missed_once_in": once_in, "nodes": played})


def played_by(model: StockQuotes, seed: int) -> dict[str, int]:
    """What nodes that come and go, whose messages get lost, owe each other of events, and what of that they miss."""
    settings = Settings(cover="cells", rounds=ROUNDS, churn=CHURN, loss=LOST)
    contents = ContentPoint(name="", model=model, settings=settings, seed=seed, events=EVENTS).contents()
    wanting = wanting_of(contents)
    job = Order(settings=settings, seed=seed, protocol=NAME, engine="sim", events=EVENTS)
    acts = acts_of(drawn_for(contents, wanting, job), seed)
    deliveries = Deliveries()
    population = played(wanting.members, job, lambda _: nullcontext(), Traffic(), deliveries, acts, by_cell(wanting))
    found = outcome(deliveries, population)
    return {name: found[name] for name in ("expected", "missed", "unwanted")}


def checks(numbers: Numbers) -> list[Check]:
    """Low as printed where interests form a hierarchy; none with the repair, whatever they form."""
    missed = numbers["missed"]
    repaired = max(missed[f"{what}, by cells"] for what in WANTED)
    return [
        Check(f"{missed['hierarchy, printed']:.2%} missed as printed", missed["hierarchy, printed"] <= LOW),
        Check(f"{missed['flat, printed']:.2%} where nobody covers anybody", missed["flat, printed"] <= LOW),
        Check(f"{missed['flat, printed, k = 1']:.2%} with one bit a cell", missed["flat, printed, k = 1"] == 0),
        Check(f"{repaired:.2%} with links for every cell", repaired == 0),
        *(
            Check(
                f"{nodes} nodes that come and go, {what}: {of['missed']} of {of['expected']} missed, {of['unwanted']} not asked for",
                of["missed"] == of["unwanted"] == 0,
            )
            for nodes, by_model in numbers["nodes"].items()
            for what, of in by_model.items()
        ),
    ]


def draw(measured: Measured) -> list[Panel]:
    """What is missed, reading by reading."""
    missed = measured.numbers["missed"]
    names = list(READINGS)
    curves = [
        Curve(what, [(float(place), missed[f"{what}, {name}"]) for place, name in enumerate(names)], "points", at)
        for at, what in enumerate(WANTED)
    ]
    reading = ", ".join(f"{place}: {name}" for place, name in enumerate(names)) + "."
    return [Panel(title="What is missed", x="reading", y="share of those who want it", reading=reading, curves=curves)]


CLAIM = Claim(
    id="K-C1",
    sentence="An event reaches all who want it with high probability; false negatives are few.",
    paper=KATO,
    place="sections III-A and VII",
    published={"missed": "few"},
    tolerance="the share is measured; 0 with the repair, which live nodes use, also while nodes come and go",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="Links that cover each bit of an id alone need not match any event: two links may have a bit each, and no link both. With one bit"
    " a cell, or links for each cell, all that have it form a ring of random ids, and nothing is missed. An event whose publisher does"
    " not match it is brought nearer link by link, and the printed distance leads about one in ten of these astray (`lost`): who wants"
    " hardly anything has few bits, and is near to every event.",
    explanation="Where nobody covers anybody most links are for one bit each.",
)
