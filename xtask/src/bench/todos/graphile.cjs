// graphile-worker: COUNT jobs are added, then CLAIMANTS concurrent jobs are taken and finished until
// none is left. BATCH above 0 turns its local queue on: jobs are fetched and finished in batches.
const { runMigrations, run } = require("graphile-worker");
const { Pool } = require("pg");

const [url, count, claimants, batch] = [
  process.argv[2],
  Number(process.argv[3]),
  Number(process.argv[4]),
  Number(process.argv[5]),
];

async function main() {
  const pgPool = new Pool({ connectionString: url, max: claimants + 4 });
  await runMigrations({ pgPool });
  await pgPool.query(
    "SELECT graphile_worker.add_job('noop', json_build_object('n', n), max_attempts => 5) FROM generate_series(1, $1) AS n",
    [count],
  );
  let done = 0;
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  const worker = { concurrentJobs: claimants };
  if (batch > 0) {
    Object.assign(worker, {
      localQueue: { size: batch },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    });
  }
  const began = process.hrtime.bigint();
  const runner = await run({
    pgPool,
    noHandleSignals: true,
    logger: new (require("graphile-worker").Logger)(() => () => {}),
    preset: { worker },
    taskList: {
      noop: async () => {
        done += 1;
        if (done === count) finish();
      },
    },
  });
  await finished;
  await runner.stop();
  // What was taken is finished in the database once the runner has stopped.
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  const { rows } = await pgPool.query(
    "SELECT count(*)::int AS left FROM graphile_worker._private_jobs",
  );
  await pgPool.end();
  console.log(JSON.stringify({ seconds, left: rows[0].left }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
