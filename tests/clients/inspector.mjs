// One pass of the Inspector's command line, which prints what a person debugging a server sees.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { check, options } from "./visit.mjs";

const { values, stdio } = options({ era: { type: "string", default: "legacy" } });
const inspector = fileURLToPath(new URL("node_modules/.bin/mcp-inspector", import.meta.url));

function inspect(method, ...rest) {
  const target = stdio
    ? ["--transport", "stdio", ...rest, "--", ...stdio]
    : [
        ...["--server-url", values.url, "--transport", "http"],
        ...(values.key ? ["--header", `Authorization: Bearer ${values.key}`] : []),
        ...rest,
      ];
  const ran = spawnSync(
    process.execPath,
    [inspector, "--cli", "--protocol-era", values.era, "--method", method, "--format", "json", "-q", ...target],
    { encoding: "utf8", timeout: 60_000 },
  );
  check(ran.status === 0, `${method} exits with ${ran.status}: ${ran.stderr}${ran.stdout}`);
  const answer = JSON.parse(ran.stdout);
  return answer.result ?? answer;
}

// Arguments as the Inspector takes them: name=value, where the value may be JSON.
const pairs = (json) =>
  Object.entries(JSON.parse(json)).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
const each = (flag, list) => (list.length > 0 ? [flag, ...list] : []);

check(inspect("tools/list", "--strict").tools.length > 0, "no tools are listed");
if (values.tool) {
  const given = each("--tool-arg", pairs(values.arguments));
  const result = inspect("tools/call", "--tool-name", values.tool, ...given);
  check(!result.isError && result.content.length > 0, `${values.tool} failed`);
}
if (values.resource) {
  const { contents } = inspect("resources/read", "--uri", values.resource);
  check(contents.length > 0, `${values.resource} is empty`);
}
if (values.prompt) {
  const given = each("--prompt-args", pairs(values["prompt-arguments"]));
  const { messages } = inspect("prompts/get", "--prompt-name", values.prompt, ...given);
  check(messages.length > 0, `${values.prompt} is empty`);
}
console.log(`ok inspector ${values.era}`);
