// Every client in every era it speaks, over HTTP and, when a command follows `--`, over stdio.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { check, options } from "./visit.mjs";

const { values, stdio } = options({ python: { type: "string", default: ".venv/bin/python" } });
const here = fileURLToPath(new URL(".", import.meta.url));
const eras = ["legacy", "auto", "modern"];
const runs = [
  ...eras.map((era) => [process.execPath, "client.mjs", "--mode", era]),
  [process.execPath, "sdk.mjs"],
  ...eras.map((era) => [values.python, "client.py", "--mode", era]),
  ...eras.map((era) => [process.execPath, "inspector.mjs", "--era", era]),
];
const names = ["key", "tool", "arguments", "resource", "prompt", "prompt-arguments"];
const common = names.flatMap((name) => (values[name] ? [`--${name}`, values[name]] : []));
const targets = [
  ...(values.url ? [["HTTP", ["--url", values.url]]] : []),
  ...(stdio ? [["stdio", ["--", ...stdio]]] : []),
];

let failed = 0;
for (const [wire, target] of targets) {
  for (const [command, ...script] of runs) {
    const given = [...script, ...common, ...target];
    const ran = spawnSync(command, given, { cwd: here, encoding: "utf8", timeout: 120_000 });
    const said = `${ran.stdout ?? ""}${ran.stderr ?? ""}`.trim() || String(ran.error ?? "");
    console.log(`${ran.status === 0 ? "" : "FAILED "}${wire}: ${script.join(" ")}: ${said}`);
    failed += ran.status === 0 ? 0 : 1;
  }
}
check(failed === 0, `${failed} of ${targets.length * runs.length} passes failed`);
