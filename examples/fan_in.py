"""Readings of many sensors come together at whoever wants them: sensors publish, a collector subscribes, nobody is in between.

python examples/fan_in.py
"""

import asyncio
import json

import ropewalk

SENSORS, READINGS = 8, 20


async def sense(number: int, bootstrap: str) -> None:
    """A sensor: it follows nothing, and publishes what it reads."""
    kind = ("temperature", "humidity")[number % 2]
    async with ropewalk.Node(bootstrap=[bootstrap]) as node:
        for reading in range(READINGS):
            said = json.dumps({"sensor": number, "value": 20 + (number * reading) % 5})
            await node.publish(said.encode(), [f"readings/{kind}"])


async def main() -> None:
    """The collector, and the sensors."""
    async with ropewalk.Node() as collector, collector.subscribe("readings/temperature", "readings/humidity") as events:
        sensing = [asyncio.create_task(sense(number, collector.address)) for number in range(SENSORS)]
        values: dict[str, list[float]] = {}
        for _ in range(SENSORS * READINGS):
            event = await anext(events)
            values.setdefault(event.topics[0], []).append(json.loads(event.payload)["value"])
        await asyncio.gather(*sensing)
    for topic, found in sorted(values.items()):
        print(f"{topic}: {len(found)} readings, mean {sum(found) / len(found):.2f}")


if __name__ == "__main__":
    asyncio.run(main())
