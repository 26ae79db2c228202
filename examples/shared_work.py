"""Work shared by topic: every job goes to the topic that its key falls into, and every worker follows its own topics.

python examples/shared_work.py
"""

import asyncio
import json
import zlib

import ropewalk

SHARES, WORKERS, JOBS = 6, 3, 60


def share_of(key: str) -> str:
    """The topic of a job: the same key always goes to the same worker."""
    return f"jobs/{zlib.crc32(key.encode()) % SHARES}"


async def work(number: int, bootstrap: str, ready: asyncio.Event) -> None:
    """A worker: takes the jobs of its topics, and says what came of them."""
    mine = [f"jobs/{share}" for share in range(SHARES) if share % WORKERS == number]
    async with ropewalk.Node(bootstrap=[bootstrap]) as node, node.subscribe(*mine) as jobs:
        await node.joined.wait()
        ready.set()
        async for job in jobs:
            done = json.loads(job.payload)
            answer = {"worker": number, "key": done["key"], "answer": done["number"] ** 2}
            await node.publish(json.dumps(answer).encode(), ["results"])


async def main() -> None:
    """Whoever has work to do, and the workers."""
    async with ropewalk.Node() as node, node.subscribe("results") as results:
        ready = [asyncio.Event() for _ in range(WORKERS)]
        working = [asyncio.create_task(work(number, node.address, ready[number])) for number in range(WORKERS)]
        await asyncio.gather(*(each.wait() for each in ready))
        for number in range(JOBS):
            key = f"customer {number % 7}"
            await node.publish(json.dumps({"key": key, "number": number}).encode(), [share_of(key)])
        by_worker: dict[int, set[str]] = {}
        total = 0
        for _ in range(JOBS):
            result = json.loads((await anext(results)).payload)
            by_worker.setdefault(result["worker"], set()).add(result["key"])
            total += result["answer"]
        for worker in working:
            worker.cancel()
        await asyncio.gather(*working, return_exceptions=True)
    print(f"{JOBS} jobs done, the sum of squares is {total}")
    for worker, keys in sorted(by_worker.items()):
        print(f"worker {worker}: {', '.join(sorted(keys))}")


if __name__ == "__main__":
    asyncio.run(main())
