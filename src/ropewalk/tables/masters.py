"""Where Spark can run, read from one word: here, on a cluster, or behind a Connect server. Standard library only."""

import re
import socket
from dataclasses import dataclass
from typing import Literal

from ropewalk.errors import RunError, UsageError

Kind = Literal["local", "standalone", "yarn", "kubernetes", "connect"]

ANSWERED_WITHIN = 10.0  # seconds for a master to take a connection; Spark itself would try for a minute
_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[^\s/,:\[\]]+)"
_LOOPBACK = re.compile(r"localhost|127(?:\.\d+){3}|\[?::1\]?")
_FORMS: dict[Kind, re.Pattern[str]] = {
    "local": re.compile(r"local(?:\[(?:[1-9]\d*|\*)(?:,[1-9]\d*)?\])?"),
    "standalone": re.compile(rf"spark://{_HOST}:\d+(?:,{_HOST}:\d+)*"),
    "yarn": re.compile(r"yarn"),
    "kubernetes": re.compile(r"k8s://\S+"),
    "connect": re.compile(r"sc://\S+"),
}
EXAMPLES = "local[2], spark://host:7077, yarn, k8s://https://host:443 or sc://host"


@dataclass(frozen=True, slots=True)
class Master:
    """Where Spark is to run."""

    url: str
    kind: Kind

    @property
    def hosts(self) -> list[tuple[str, int]]:
        """Host and port of each standalone master: one leads, others stand by."""
        if self.kind != "standalone":
            return []
        places = (place.rpartition(":") for place in self.url.removeprefix("spark://").split(","))
        return [(host.strip("[]"), int(port)) for host, _, port in places]

    @property
    def on_this_machine(self) -> bool:
        """Whether a standalone cluster can be reached from nowhere but here."""
        return bool(self.hosts) and all(_LOOPBACK.fullmatch(host) for host, _ in self.hosts)


def recognised(url: str, said_by: str) -> Master:
    """What `said_by` (an option, a variable) means by `url`; nonsense is refused before a JVM starts on it."""
    for kind, form in _FORMS.items():
        if form.fullmatch(url):
            return Master(url, kind)
    raise UsageError(f"{said_by} is {url!r}, where Spark cannot run; give {EXAMPLES}.")


def refuse_unanswered(master: Master) -> None:
    """Say at once that no standalone master is there, where Spark would try for long and then say less."""
    reasons = []
    for host, port in master.hosts:
        try:
            socket.create_connection((host, port), timeout=ANSWERED_WITHIN).close()
        except (OSError, OverflowError) as error:
            reasons.append(f"{host}:{port}: {error}")
        else:
            return
    if reasons:
        raise RunError(f"no Spark master answers at {master.url} ({'; '.join(reasons)}); is it running?")
