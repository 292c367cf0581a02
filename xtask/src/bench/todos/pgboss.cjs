// pg-boss: COUNT jobs are sent, then CLAIMANTS loops fetch BATCH and complete them until none is left.
const PgBoss = require("pg-boss");

const [url, count, claimants, batch] = [
  process.argv[2],
  Number(process.argv[3]),
  Number(process.argv[4]),
  Number(process.argv[5]),
];

async function main() {
  const boss = new PgBoss({
    connectionString: url,
    max: claimants,
    supervise: false,
    schedule: false,
  });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue("bench");
  for (let at = 0; at < count; at += 1000) {
    const jobs = [];
    for (let n = at; n < Math.min(at + 1000, count); n += 1) {
      jobs.push({ name: "bench", data: { n }, retryLimit: 4 });
    }
    await boss.insert(jobs);
  }
  const claims = [];
  let done = 0;
  const began = process.hrtime.bigint();
  await Promise.all(
    Array.from({ length: claimants }, async () => {
      for (;;) {
        const asked = process.hrtime.bigint();
        const jobs = await boss.fetch("bench", { batchSize: batch });
        claims.push(Number(process.hrtime.bigint() - asked) / 1e6);
        if (!jobs || jobs.length === 0) return;
        await boss.complete(
          "bench",
          jobs.map((job) => job.id),
        );
        done += jobs.length;
      }
    }),
  );
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  claims.sort((a, b) => a - b);
  const at = (part) => claims[Math.min(claims.length - 1, Math.floor(claims.length * part))];
  await boss.stop({ graceful: false });
  console.log(
    JSON.stringify({ seconds, left: count - done, p50_ms: at(0.5), p99_ms: at(0.99) }),
  );
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
