// The official conformance suite in the three revisions. The suite cannot send a key: give it the
// address of a proxy that adds one (`postroom-conformance --proxy-listen`).
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { check, options } from "./visit.mjs";

const { values } = options({});
const package_ = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const suite = fileURLToPath(new URL(package_, import.meta.url));
const out = mkdtempSync(join(tmpdir(), "postroom-conformance-"));
const runs = [
  ["2026-07-28", "--requirements", "2026-07-28"],
  ["2025-11-25", "--requirements", "2025-11-25"],
  ["2025-06-18", "--suite", "all", "--spec-version", "2025-06-18"],
  ["2026-07-28 headers", "--scenario", "http-header-validation", "--spec-version", "2026-07-28"],
];

let failed = 0;
for (const [name, ...scope] of runs) {
  const ran = spawnSync(
    process.execPath,
    [suite, "server", "--url", values.url, ...scope, "-o", join(out, name.replace(" ", "-"))],
    { encoding: "utf8", timeout: 300_000, maxBuffer: 64 * 1024 * 1024 },
  );
  const summary = ran.stdout.split("=== SUMMARY ===")[1] ?? ran.stdout.slice(-4_000);
  console.log(`--- conformance ${name}: exit ${ran.status}\n${summary.trim()}`);
  failed += ran.status === 0 ? 0 : 1;
}
check(failed === 0, `${failed} of ${runs.length} runs failed; details in ${out}`);
console.log("ok conformance");
