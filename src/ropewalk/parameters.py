"""Parameters that say for themselves what they are: a field of a dataclass that is also an option of the command line."""

from dataclasses import field
from typing import Any

from ropewalk.errors import UsageError

HELP = "help"  # where a field's sentence stands in its metadata


def parameter(help_: str, **more: Any) -> Any:
    """A field that is an option on the command line, with the sentence its help shows."""
    return field(metadata={HELP: help_}, **more)


def refuse_unless(least: float, most: float, **found: float) -> None:
    """Refuse a parameter outside its bounds, by name."""
    for name, value in found.items():
        if not least <= value <= most:
            raise UsageError(f"{name.replace('_', '-')} is {value}, but must be from {least} to {most}.")
