"""All that is measured, in the order of the tables."""

from systems.bare import BARE
from systems.nodes import ROPEWALK, SIGNED

SYSTEMS = {system.name: system for system in (BARE, ROPEWALK, SIGNED)}
