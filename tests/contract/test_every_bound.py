"""The page of bounds and the code say the same, and every bound on what others can do is on the page."""

import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import ropewalk
from ropewalk.protocols.rates import Rate

PAGE = Path(__file__).parents[2] / "docs" / "bounds.md"
PLACES = (
    "ropewalk.engines.live",
    "ropewalk.protocols.content",
    "ropewalk.protocols.contract",
    "ropewalk.protocols.dht",
    "ropewalk.protocols.discovery",
    "ropewalk.protocols.dissemination",
    "ropewalk.protocols.kato",
    "ropewalk.protocols.links",
    "ropewalk.protocols.magnet",
    "ropewalk.protocols.sampling.scamp",
    "ropewalk.protocols.scribe",
    "ropewalk.protocols.stan",
    "ropewalk.protocols.trees",
)
# what no other node has a say in: what can be asked for at this machine, and numbers of the wire and of batch runs
OF_NOBODY_ELSE = {
    "engines.live.envelope.MOST_SAID", "engines.live.leaving.MOST_TOLD", "engines.live.outgoing.MOST_OPEN", "engines.live.pipes.MOST_LINE", "engines.live.run.MOST_NODES", "engines.live.run.MOST_NAMES", "engines.live.addresses.MOST_PORT",
    "engines.live.wire.MOST_ID", "protocols.content.expressions.MOST_CHARACTERS", "protocols.content.expressions.MOST_CONDITIONS",
    "protocols.content.expressions.MOST_FILTERS", "protocols.content.filters.MOST_NAME", "protocols.content.spaces.MOST_INTERVALS",
    "protocols.content.spaces.MOST_NUMBERED", "protocols.content.spaces.MOST_TURNS", "protocols.dht.settings.MOST_MEDIANS",
    "protocols.kato.settings.MOST_HASHES", "protocols.kato.settings.MOST_COVERING", "protocols.kato.settings.MOST_BITS",
    "protocols.magnet.settings.MOST_SAMPLES", "protocols.magnet.settings.MOST_DEGREE", "protocols.sampling.scamp.node.MOST_IN_VAIN",
}  # fmt: skip
ROW = re.compile(r"^\| [^|]+ \| `([\w.]+)` \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)
UNITS = {"KiB": 1024, "MiB": 1_048_576}


@cache
def rows() -> dict[str, str]:
    return dict(ROW.findall(PAGE.read_text()))


def said(text: str) -> float | Rate:
    """The value that a cell of the page stands for."""
    text = text.replace(",", "") if "at once" not in text else text
    if "at once" in text:
        second, once = text.split("/s, ")
        return Rate(float(second.replace(",", "")), float(once.removesuffix(" at once").replace(",", "")))
    number, _, unit = text.partition(" ")
    return float(number) * UNITS.get(unit, 1)


def modules() -> list[ModuleType]:
    found = [each.name for each in pkgutil.walk_packages(ropewalk.__path__, "ropewalk.")]
    return [importlib.import_module(name) for name in found if any(f"{name}.".startswith(f"{at}.") for at in PLACES)]


def assigned(module: ModuleType) -> list[str]:
    """Names that this very module gives a value to, at its top."""
    text = Path(module.__file__ or "").read_text()
    return re.findall(r"^(?:\w+, )?(MOST_\w+)(?:: \w+)? = ", text, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(rows()))
def test_a_bound_is_what_the_page_says(name: str) -> None:
    module, _, constant = name.rpartition(".")
    assert getattr(importlib.import_module(f"ropewalk.{module}"), constant) == said(rows()[name])


def test_every_bound_on_what_others_can_do_is_on_the_page() -> None:
    there = {f"{module.__name__}.{name}".removeprefix("ropewalk.") for module in modules() for name in assigned(module)}
    assert len(there) > 100
    assert sorted(there - rows().keys() - OF_NOBODY_ELSE) == []
    assert sorted(each for each in OF_NOBODY_ELSE if each not in there) == []
