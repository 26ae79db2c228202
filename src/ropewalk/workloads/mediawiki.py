"""What the two MediaWiki sources have in common: who counts as a node, which pages and which revisions are asked for."""

import re
from dataclasses import dataclass
from datetime import datetime

from ropewalk.errors import UsageError
from ropewalk.parameters import parameter

IP, DELETED, NAMELESS = "by IP address", "by deleted contributors", "by contributors without a name"
OTHER_NAMESPACE, OTHER_TIME = "in other namespaces", "at other times"
LEFT_OUT = (IP, DELETED, NAMELESS, OTHER_NAMESPACE, OTHER_TIME)
ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which revisions make a subscription: those in a namespace and a time; a day, month or year is meant as a whole."""

    namespace: str = parameter("Namespaces to keep, as 0,4, or `all`. Articles are 0.", default="0")
    since: str | None = parameter(
        "Leave out revisions before this day or time, as 2006-01-01 or 2006-01-01T12:00:00Z.", default=None
    )
    until: str | None = parameter("Leave out revisions after this day or time.", default=None)

    def __post_init__(self) -> None:
        if self.namespace != ALL and not re.fullmatch(r"-?\d+(,-?\d+)*", self.namespace):
            raise UsageError(f"namespace is {self.namespace!r}, but must be numbers such as 0,4, or `all`.")
        for name, said in (("since", self.since), ("until", self.until)):
            if said is not None and not _is_time(said):
                raise UsageError(f"{name} is {said!r}, but must be a time such as 2012-04-30 or 2012-04-30T12:00:00Z.")
        if self.since and self.until and self.since > self.until and not self.since.startswith(self.until):
            raise UsageError(f"since {self.since} is after until {self.until}; exchange them.")

    @property
    def namespaces(self) -> frozenset[str] | None:
        """The namespaces to keep; None is all."""
        return None if self.namespace == ALL else frozenset(self.namespace.split(","))

    def is_in_time(self, stamp: str) -> bool:
        """Whether a time as MediaWiki writes it is asked for; such times sort as text."""
        if not stamp:  # no time is in no time that was asked for
            return self.since is None and self.until is None
        if self.since is not None and stamp < self.since:
            return False
        return self.until is None or stamp[: len(self.until)] <= self.until


def _is_time(said: str) -> bool:
    """Whether this is a year, a month, a day or a moment that exists."""
    if not re.fullmatch(r"\d{4}(-\d\d(-\d\d(T\d\d:\d\d:\d\dZ)?)?)?", said):
        return False
    try:
        datetime.fromisoformat(said + "0000-01-01T00:00:00Z"[len(said) :])
    except ValueError:
        return False
    return True
