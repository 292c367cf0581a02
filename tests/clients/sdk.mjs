// One pass of the older TypeScript SDK, which knows the legacy era only.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { options, visit } from "./visit.mjs";

const { values, stdio } = options({});
const client = new Client({ name: "postroom-tests", version: "1" });
const transport = stdio
  ? new StdioClientTransport({ command: stdio[0], args: stdio.slice(1) })
  : new StreamableHTTPClientTransport(new URL(values.url), {
      requestInit: { headers: values.key ? { Authorization: `Bearer ${values.key}` } : {} },
    });
await client.connect(transport);
await visit(client, values);
await client.close();
console.log("ok sdk legacy");
