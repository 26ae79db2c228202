"""Mosquitto at QoS 0, by paho-mqtt. The broker may queue without bound for who is slow; a publisher waits for its socket every 200 events."""

from collections.abc import Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from systems.contract import TOPIC, Hear, Publishing, Readers, Subscribing, System, in_thread
from systems.servers import missing, serving

if TYPE_CHECKING:
    from paho.mqtt.client import Client

LOT = 200
SETTINGS = """listener {port} 127.0.0.1
allow_anonymous true
persistence false
max_queued_messages 0
max_queued_bytes 0
set_tcp_nodelay true
"""


def _command(program: str, port: int, folder: Path) -> list[str]:
    folder.chmod(0o755)  # it becomes another user before it has read everything
    settings = folder / "mosquitto.conf"
    settings.write_text(SETTINGS.format(port=port))
    return [program, "-c", str(settings)]


def _connected(place: str) -> "Client":
    from paho.mqtt.client import Client, MQTTv311  # noqa: PLC0415  it may be missing
    from paho.mqtt.enums import CallbackAPIVersion  # noqa: PLC0415

    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv311)
    client.connect("127.0.0.1", int(place))
    client.loop_start()
    return client


def _ended(client: "Client") -> None:
    client.disconnect()
    client.loop_stop()


@asynccontextmanager
async def subscribing(place: str, hears: Sequence[Hear]) -> Subscribing:
    """A connection and a thread each."""

    def reader(hear: Hear) -> "Client":
        client = _connected(place)
        client.on_message = lambda _, __, message: hear(bytes(message.payload))
        client.subscribe(TOPIC, qos=0)
        return client

    clients = [reader(hear) for hear in hears]
    yield Readers("")
    for client in clients:
        _ended(client)


@asynccontextmanager
async def publishing(place: str, _: str, __: int) -> Publishing:
    """In a thread, as the client is made for."""
    client = _connected(place)

    def publish_all(events: Sequence[bytes]) -> None:
        for first in range(0, len(events), LOT):
            sent: Any = None
            for payload in events[first : first + LOT]:
                sent = client.publish(TOPIC, payload, qos=0)
            sent.wait_for_publish()

    yield in_thread(publish_all)
    _ended(client)


MOSQUITTO = System("mosquitto", subscribing, publishing, missing("mosquitto", "paho"), serving("mosquitto", _command))
