"""What the printed protocol loses of StaN's connectivity (section 3.5), and which settings give it back."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Run, Universe
from ropewalk.papers.stan.universes import FIRST_CELL, MILD, ROUNDS, STAN, STRONG, grid_universe, like_trace

CONNECTIVITY = 0.99  # StaN 3.3
SETTINGS: dict[str, dict[str, Any]] = {
    "printed": {},
    "learn": {"learn": True},
    "learn and snoop": {"learn": True, "snoop": True},
    "learn, pair weights": {"learn": True, "weight": "pair"},
    "learn, pair weights, two-way": {"learn": True, "weight": "pair", "fanout": "two-way"},
}
RESTORED = 0.9
ONE_WAY = [name for name in SETTINGS if "two-way" not in name]


def measure(lab: Lab, scale: Scale) -> Measured:
    """Set G with the journal paper's views and universes as large as its smallest, under each setting."""
    universes = [grid_universe(lab, "G", FIRST_CELL, lab.seed)]
    if scale == "paper":
        universes += [like_trace(lab, size, at, lab.seed) for size in ("L8", "W8") for at in (MILD, STRONG)]
    return Measured({universe.title: _by_setting(lab, universe) for universe in universes})


def _by_setting(lab: Lab, universe: Universe) -> dict[str, dict[str, float]]:
    usual: dict[str, Any] = {"rounds": ROUNDS, "overlay": "fixed", "connectivity": CONNECTIVITY}
    return {name: _kept(lab.run(universe, lab.seed, **usual, **told)) for name, told in SETTINGS.items()}


def _kept(run: Run) -> dict[str, float]:
    fitness = run.document["fitness"]["final"]
    return {
        "weakly_connected": fitness["weakly_connected"],
        "strongly_connected": fitness["strongly_connected"],
        "held_by_nobody": fitness["held_by_nobody"],
        "pvs": run.mean("pvs", "final"),
        "connections": run.mean("connections", "final"),
        "connections_before": run.mean("connections", "initial"),
    }


def checks(numbers: Numbers) -> list[Check]:
    """Learning sources loses fewer than the printed protocol; with pair weights nearly none; used both ways, none at all."""
    found = []
    for title, by_setting in numbers.items():
        printed, paired, both = (
            by_setting[name] for name in ("printed", "learn, pair weights", "learn, pair weights, two-way")
        )
        fewer = by_setting["learn"]["held_by_nobody"] <= printed["held_by_nobody"]
        lost = ", ".join(f"{by_setting[name]['held_by_nobody']:.0f} ({name})" for name in ONE_WAY)
        found.append(Check(f"{title}: members held by nobody: {lost}", fewer))
        strong = f"{paired['strongly_connected']:.0%} strongly connected with learning and pair weights, {printed['strongly_connected']:.0%} as printed"
        found.append(Check(f"{title}: {strong}", paired["strongly_connected"] >= RESTORED))
        pieces = f"{both['weakly_connected']:.1%} in one piece with two-way links of half the size, {both['connections']:.1f} connections for {printed['connections']:.1f}"
        found.append(
            Check(f"{title}: {pieces}", both["weakly_connected"] == 1 and both["connections"] < printed["connections"])
        )
    return found


def draw(measured: Measured) -> list[Panel]:
    """Strongly connected overlays and connections, by setting."""
    settings = ", ".join(f"{at}: {name}" for at, name in enumerate(SETTINGS))
    return [
        Panel(
            title=title,
            x=settings,
            y=y,
            reading="From left to right, what is added to the printed protocol.",
            curves=[
                Curve(name, [(float(at), of[setting][what]) for at, setting in enumerate(SETTINGS)], "line", shade)
                for shade, (name, of) in enumerate(measured.numbers.items())
            ],
        )
        for title, what, y in (
            ("Strongly connected overlays", "strongly_connected", "share"),
            ("Connections", "connections", "mean per node"),
        )
    ]


CLAIM = Claim(
    id="B-C1-repair",
    sentence="What the printed protocol loses of strong connectivity is given back by learning sources, and more cheaply by links that both ends choose.",
    paper=STAN,
    place="ours, on section 3.5; learning from walks is section 2.4",
    published="nothing is lost",
    tolerance=f"with learning no more members are held by nobody than without; with pair weights, too, at least {RESTORED:.0%} of overlays stay strongly connected; with two-way links every overlay stays in one piece at fewer connections",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="Still the link manager alone: an overlay manager that runs beside it is another engine's to show.",
)
