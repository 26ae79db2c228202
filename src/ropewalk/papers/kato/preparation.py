"""Kato et al., Figures 7 and 10: a crawl of short messages as it was prepared, on one that is made up, so that what is in it is known.

Nobody has the paper's crawl. Here friends are as many as its fitted law says, hashtags as frequent as its histogram's decades,
and beside them stands what the preparation must leave out: protected authors, authors with too many friends, and hashtags that are too
short, too long, or not of letters and digits.
"""

import json
import math
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ropewalk.experiments.ingest import ingest
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel, distribution
from ropewalk.papers.kato.sweeps import KATO
from ropewalk.papers.lab import REJECTED_AT_MOST, Lab
from ropewalk.papers.statistics import spearman
from ropewalk.seeds import chance, pick, unit
from ropewalk.tables.store import Store
from ropewalk.workloads.statuses import Statuses

Floats = NDArray[np.float64]

AUTHORS: dict[Scale, int] = {"small": 600, "paper": 2600}
CAP = 2000  # VI-B
EXPONENT = 0.6719  # VI-B
PROTECTED, ABOVE = 1674 / 27_196, 725 / 27_196  # VI-B: authors without a list, and with too long a one
TAGS = 200
USES = 16  # of a hashtag: one more than its rate is estimated from
DECADES = (-2.0, 3.0)  # uses a day, as powers of ten: Figure 10's x axis spans several
DAY = 86_400.0
END = 1_258_400_000.0  # November 2009
INVALID = ("abc", "a" * 17, "not_one")
NEAR, ALIKE = 0.1, 0.9


def friends_of(author: int, most: int, seed: int) -> int:
    """How many, by a density x^-a from 1 to so many."""
    drawn = unit(chance(seed, "friends", author))
    grown = 1 - EXPONENT
    return min(most, max(1, int((1 + drawn * (most**grown - 1)) ** (1 / grown))))


def fitted(values: Floats, most: int) -> float:
    """The most likely exponent of a density x^-a on the whole numbers up to `most`."""
    known, logs = np.arange(1, most + 1, dtype=np.float64), float(np.log(values).mean())
    low, high = -5.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        weights = known**-middle
        low, high = (middle, high) if float((weights * np.log(known)).sum() / weights.sum()) > logs else (low, middle)
    return (low + high) / 2


def written(path: Path, authors: int, seed: int) -> dict[str, int]:
    """Make a crawl up; who is to be left out of it."""
    cap = min(CAP, authors * 3 // 4)
    left_out = {"protected": round(PROTECTED * authors), "above": round(ABOVE * authors)}
    first, kept = left_out["protected"] + left_out["above"], 0  # author whose messages may stay; authors who do
    with path.open("w") as crawl:
        for author in range(authors):
            wanted = friends_of(author, cap, seed)
            if author < left_out["protected"]:
                friends = None
            else:
                begin = pick(chance(seed, "first friend", author), authors)
                places = [(begin + each) % authors for each in range(cap + 1 if author < first else wanted)]
                friends = [f"author-{place}" for place in places]
                kept += author >= first and any(place >= first and place != author for place in places)
            said = {"author": f"author-{author}", "time": END - 40 * DAY, "text": "hello", "friends": friends}
            crawl.write(json.dumps(said) + "\n")
        for tag in range(TAGS):
            for at in _uses(tag, seed):
                wrong = INVALID[tag % len(INVALID)]
                text = f"news of #tag{tag:04d} and #{wrong}"
                crawl.write(
                    json.dumps({"author": f"author-{tag % authors}", "time": at, "text": text, "friends": None}) + "\n"
                )
    return left_out | {"cap": cap, "kept": kept}


def rate_of(tag: int) -> float:
    """Uses a day, evenly over the decades."""
    return float(10 ** (DECADES[0] + (DECADES[1] - DECADES[0]) * (tag + 0.5) / TAGS))


def _uses(tag: int, seed: int) -> list[float]:
    gaps = [-math.log(1 - unit(chance(seed, "use", tag, use))) * DAY / rate_of(tag) for use in range(USES)]
    return [END - math.fsum(gaps[:use]) for use in range(1, USES + 1)]


def prepared(lab: Lab, authors: int, seed: int) -> tuple[dict[str, int], dict[str, int], list[int], dict[str, float]]:
    """Make a crawl up and read it: what was put in, whose messages were left out, friends of each author, rates of topics."""
    crawl = lab.folder / f"crawl-{authors}.jsonl"
    planted = written(crawl, authors, seed)
    place = lab.folder / f"crawl-{authors}"
    made = ingest(
        Statuses(friend_cap=planted["cap"]),
        [crawl],
        place,
        max_reject_share=REJECTED_AT_MOST,
        overwrite=True,
        session=nullcontext(lab.spark),
        phase=lab.phase,
    )
    crawl.unlink()
    return planted, made["left_out_by"], *lab.counted(Store.open(place))


def measure(lab: Lab, scale: Scale) -> Measured:
    """Prepare it, and compare with what was put in."""
    authors, (seed,) = AUTHORS[scale], lab.seeds(1)
    planted, left_out, friends, rates = prepared(lab, authors, seed)
    tags = {f"#tag{tag:04d}": rate_of(tag) for tag in range(TAGS)}
    found = {name: rates[name] for name in tags if name in rates}
    ratios = sorted(found[name] / tags[name] for name in found)
    counts = np.array(sorted(friends), np.float64)
    numbers = {
        "authors": authors,
        "left_out": left_out,
        "planted": planted,
        "nodes": int(counts.size),
        "exponent": fitted(counts, planted["cap"]),
        "hashtags": len(found),
        "invalid": sum(f"#{name}" in rates for name in INVALID),
        "decades": math.log10(max(found.values()) / min(found.values())),
        "rates_alike": spearman([tags[name] for name in found], list(found.values())),
        "median_ratio": ratios[len(ratios) // 2],
    }
    curves = {
        "friends": distribution(counts.tolist()),
        "rates": distribution(sorted(math.log10(rate) for rate in found.values())),
    }
    return Measured(numbers, curves)


def checks(numbers: Numbers) -> list[Check]:
    """Whoever is to be left out is, and the laws that were put in come out."""
    planted, exponent = numbers["planted"], numbers["exponent"]
    return [
        Check(
            f"{numbers['nodes']} authors stay, of {planted['kept']} that should", numbers["nodes"] == planted["kept"]
        ),
        Check(f"friends have a = {exponent:.3f}, where {EXPONENT} was put in", abs(exponent - EXPONENT) < NEAR),
        Check(
            f"{numbers['hashtags']} of {TAGS} hashtags, {numbers['invalid']} that are none",
            (numbers["hashtags"], numbers["invalid"]) == (TAGS, 0),
        ),
        Check(f"their rates span {numbers['decades']:.1f} decades", numbers["decades"] > 3),  # noqa: PLR2004
        Check(
            f"rates in the order of those put in, Spearman {numbers['rates_alike']:.3f}", numbers["rates_alike"] > ALIKE
        ),
    ]


def draw(measured: Measured) -> list[Panel]:
    """Both histograms, cumulated."""
    return [
        Panel(
            title="Friends (Figure 7)",
            x="friends",
            y="share of authors with at most so many",
            reading="As many as were put in.",
            curves=[Curve("authors", list(measured.curves["friends"]), "steps", 0)],
            log_x=True,
        ),
        Panel(
            title="Publication rates of hashtags (Figure 10)",
            x="log10 of uses a day",
            y="share of hashtags with at most so many",
            reading="Decades of rates, from few uses each.",
            curves=[Curve("hashtags", list(measured.curves["rates"]), "steps", 0)],
        ),
    ]


CLAIM = Claim(
    id="K-F7/10",
    sentence="Friends of authors follow a Pareto law with a = 0.6719, and publication rates of hashtags span decades (judged: the"
    " preparation alone, on a made-up crawl).",
    paper=KATO,
    place="Figures 7 and 10, sections VI-B and VI-D",
    published={"exponent": EXPONENT, "statuses": 690_229, "hashtags": 22_344},
    tolerance="the same preparation, run on a crawl that is made up, gives back what was put in",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="None of the published numbers is compared with anything: the crawl is not public. A crawl is made up with that exponent and"
    " with rates over decades, and what is judged is that the preparation of section VI gives back what was put in. It says nothing"
    " of what Twitter was like in 2009.",
)
