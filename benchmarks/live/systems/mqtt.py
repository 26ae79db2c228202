"""Mosquitto at QoS 0, by paho-mqtt on the loop of its process, as all others are.

The broker may queue without bound for who is slow; a publisher waits for its socket.
"""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from systems.contract import TOPIC, Hear, Publishing, Reader, Subscribing, System
from systems.servers import missing, serving

KEEP_ALIVE = 3600  # seconds: longer than any run, since nobody looks after pings
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


class Connected:
    """A client whose socket the loop sees to."""

    def __init__(self, place: str) -> None:
        from paho.mqtt.client import Client, MQTTv311  # noqa: PLC0415  it may be missing
        from paho.mqtt.enums import CallbackAPIVersion  # noqa: PLC0415

        self.client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv311)
        self.client.connect("127.0.0.1", int(place), keepalive=KEEP_ALIVE)
        self.loop, self.socket = asyncio.get_running_loop(), cast("socket.socket", self.client.socket())
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as the broker does
        self.loop.add_reader(self.socket, self.client.loop_read)
        self.drained = asyncio.Event()

    async def drain(self) -> None:
        """Until the socket has taken all that was published."""
        while self.client.want_write():
            self.drained.clear()
            self.loop.add_writer(self.socket, self._write)
            await self.drained.wait()

    def _write(self) -> None:
        self.loop.remove_writer(self.socket)
        self.client.loop_write()
        self.drained.set()

    async def close(self) -> None:
        """Say good-bye."""
        await self.drain()
        self.loop.remove_reader(self.socket)
        self.client.disconnect()


@asynccontextmanager
async def subscribing(place: str, _: str, hear: Hear) -> Subscribing:
    """Told of each message as it is read."""
    connected = Connected(place)

    def heard(_: Any, __: Any, message: Any) -> None:
        hear(bytes(message.payload))

    connected.client.on_message = heard
    connected.client.subscribe(TOPIC, qos=0)
    yield Reader()
    await connected.close()


@asynccontextmanager
async def publishing(place: str, _: list[str]) -> Publishing:
    """Into the socket, as far as that takes it."""
    connected = Connected(place)

    async def publish(events: Sequence[bytes]) -> None:
        client = connected.client
        for payload in events:
            client.publish(TOPIC, payload, qos=0)
            if client.want_write():
                await connected.drain()

    yield publish
    await connected.close()


MOSQUITTO = System("mosquitto", subscribing, publishing, missing("mosquitto", "paho"), serving("mosquitto", _command))
