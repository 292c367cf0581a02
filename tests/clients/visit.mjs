// What every JavaScript client does with a server, and the arguments it takes.
import { parseArgs } from "node:util";

/** Arguments of a client script; what follows `--` is the command of a stdio server. */
export function options(extra) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      url: { type: "string" },
      key: { type: "string" },
      tool: { type: "string" },
      arguments: { type: "string", default: "{}" },
      resource: { type: "string" },
      prompt: { type: "string" },
      "prompt-arguments": { type: "string", default: "{}" },
      ...extra,
    },
  });
  check(values.url || positionals.length > 0, "give --url URL or -- COMMAND");
  return { values, stdio: positionals.length > 0 ? positionals : undefined };
}

/** Ends the script when something is not as it should be. */
export function check(holds, claim) {
  if (!holds) {
    console.error(`not ok: ${claim}`);
    process.exit(1);
  }
}

/** Lists tools, calls one, reads a resource, fills in a prompt: whichever were named. */
export async function visit(client, values) {
  const { tools } = await client.listTools();
  check(tools.length > 0, "no tools are listed");
  check(tools.every((tool) => tool.inputSchema.type === "object"), "an input schema is no object");
  if (values.tool) {
    check(tools.some((tool) => tool.name === values.tool), `${values.tool} is not listed`);
    const result = await client.callTool({
      name: values.tool,
      arguments: JSON.parse(values.arguments),
    });
    check(!result.isError, `${values.tool} failed: ${JSON.stringify(result.content)}`);
    check(result.content.length > 0, `${values.tool} says nothing`);
  }
  if (values.resource) {
    const { contents } = await client.readResource({ uri: values.resource });
    check(contents.length > 0, `${values.resource} is empty`);
  }
  if (values.prompt) {
    const { messages } = await client.getPrompt({
      name: values.prompt,
      arguments: JSON.parse(values["prompt-arguments"]),
    });
    check(messages.length > 0, `${values.prompt} is empty`);
  }
  let refused = false;
  try {
    await client.callTool({ name: "no_such_tool", arguments: {} });
  } catch (error) {
    refused = error.code === -32602;
  }
  check(refused, "a tool that does not exist was not refused with -32602");
}
