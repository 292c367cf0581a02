// One pass of the official TypeScript client over a server: list tools, call one, read a resource,
// fill in a prompt. Exits with 1 at the first thing that is not as it should be.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { options, check, visit } from "./visit.mjs";

const { values, stdio } = options({ mode: { type: "string", default: "legacy" } });
const modern = "2026-07-28";
const mode = values.mode === "modern" ? { pin: modern } : values.mode;
const client = new Client(
  { name: "postroom-tests", version: "1" },
  { versionNegotiation: { mode } },
);
const transport = stdio
  ? new StdioClientTransport({ command: stdio[0], args: stdio.slice(1) })
  : new StreamableHTTPClientTransport(new URL(values.url), {
      requestInit: { headers: values.key ? { Authorization: `Bearer ${values.key}` } : {} },
    });
await client.connect(transport);
const version = client.getNegotiatedProtocolVersion?.();
if (version) {
  check((values.mode === "legacy") === (version !== modern), `mode ${values.mode} spoke ${version}`);
}
await visit(client, values);
await client.close();
console.log(`ok client ${values.mode} ${version ?? ""}`);
