"""PgQueuer: COUNT jobs are enqueued, then taken BATCH at a time and finished until none is left."""

import asyncio
import json
import sys
import time
from datetime import timedelta

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode


async def main() -> None:
    url, count, claimants, batch = (
        sys.argv[1],
        int(sys.argv[2]),
        int(sys.argv[3]),
        int(sys.argv[4]),
    )
    async with asyncpg.create_pool(url, min_size=2, max_size=claimants) as pool:
        driver = AsyncpgPoolDriver(pool)
        queries = Queries(driver)
        await queries.install()
        for at in range(0, count, 1000):
            size = min(1000, count - at)
            await queries.enqueue(
                ["noop"] * size, [b'{"n": 1}'] * size, [0] * size
            )
        app = PgQueuer(driver)
        done = 0

        @app.entrypoint("noop")
        async def noop(job: Job) -> None:
            nonlocal done
            done += 1

        began = time.perf_counter()
        await app.run(
            dequeue_timeout=timedelta(seconds=1),
            batch_size=batch,
            mode=QueueExecutionMode.drain,
        )
        seconds = time.perf_counter() - began
        left = await pool.fetchval("SELECT count(*) FROM pgqueuer")
        print(json.dumps({"seconds": seconds, "left": left, "done": done}))


asyncio.run(main())
