"""All that is measured, in the order of the tables."""

from systems.bare import BARE, PARCELS
from systems.mqtt import MOSQUITTO
from systems.nats import NATS
from systems.nodes import ROPEWALK, SIGNED
from systems.redis import REDIS
from systems.zenoh import ZENOH

SYSTEMS = {system.name: system for system in (BARE, PARCELS, ROPEWALK, SIGNED, ZENOH, NATS, MOSQUITTO, REDIS)}
