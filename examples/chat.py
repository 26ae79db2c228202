"""Chat in rooms, without a server: everybody who is in a room gets what is said there.

python examples/chat.py ann --listen 127.0.0.1:7000
python examples/chat.py bob --bootstrap 127.0.0.1:7000     (in another terminal)
"""

import argparse
import asyncio
import sys
import threading

import ropewalk


async def chat(name: str, room: str, node: ropewalk.Node) -> None:
    """Say what is typed, show what others say, until there is nothing more to say."""
    async with node, node.subscribe(f"rooms/{room}") as said:
        print(f"{name} is in {room}, at {node.address}", flush=True)
        showing = asyncio.create_task(show(said, node.id))
        lines: asyncio.Queue[str] = asyncio.Queue()
        threading.Thread(target=read, args=(lines, asyncio.get_running_loop()), daemon=True).start()
        while line := await lines.get():
            await node.publish(f"{name}: {line.rstrip()}".encode(), [f"rooms/{room}"])
        showing.cancel()


async def show(said: ropewalk.Subscription, me: str) -> None:
    """What others say."""
    async for event in said:
        if event.publisher != me:
            print(event.payload.decode(), flush=True)


def read(lines: "asyncio.Queue[str]", loop: asyncio.AbstractEventLoop) -> None:
    """Lines from the keyboard; an empty one at the end."""
    for line in sys.stdin:
        loop.call_soon_threadsafe(lines.put_nowait, line)
    loop.call_soon_threadsafe(lines.put_nowait, "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--room", default="lobby")
    parser.add_argument("--listen", default="127.0.0.1:0")
    parser.add_argument("--bootstrap", action="append", default=[])
    told = parser.parse_args()
    try:
        asyncio.run(chat(told.name, told.room, ropewalk.Node(told.listen, told.bootstrap)))
    except KeyboardInterrupt:
        pass
    except ropewalk.RopewalkError as error:
        sys.exit(f"chat: {error}")
