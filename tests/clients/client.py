"""One pass of the official Python client over a server: list tools, call one, read a resource,
fill in a prompt. Exits with 1 at the first thing that is not as it should be."""

import argparse
import asyncio
import json
import sys

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

MODERN = "2026-07-28"


def check(holds, claim):
    if not holds:
        print(f"not ok: {claim}", file=sys.stderr)
        sys.exit(1)


async def visit(client, options):
    tools = (await client.list_tools()).tools
    check(tools, "no tools are listed")
    if options.tool:
        check(any(tool.name == options.tool for tool in tools), f"{options.tool} is not listed")
        result = await client.call_tool(options.tool, json.loads(options.arguments))
        check(not result.is_error, f"{options.tool} failed: {result.content}")
        check(result.content, f"{options.tool} says nothing")
    if options.resource:
        contents = (await client.read_resource(options.resource)).contents
        check(contents, f"{options.resource} is empty")
    if options.prompt:
        arguments = json.loads(options.prompt_arguments)
        messages = (await client.get_prompt(options.prompt, arguments)).messages
        check(messages, f"{options.prompt} is empty")
    try:
        await client.call_tool("no_such_tool", {})
        refused = False
    except MCPError as error:
        refused = error.code == -32602
    check(refused, "a tool that does not exist was not refused with -32602")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url")
    parser.add_argument("--key")
    parser.add_argument("--mode", default="auto", choices=["legacy", "auto", "modern"])
    parser.add_argument("--tool")
    parser.add_argument("--arguments", default="{}")
    parser.add_argument("--resource")
    parser.add_argument("--prompt")
    parser.add_argument("--prompt-arguments", default="{}")
    parser.add_argument("command", nargs="*", help="a stdio server, after --")
    options = parser.parse_args()
    mode = MODERN if options.mode == "modern" else options.mode
    if options.command:
        server = StdioServerParameters(command=options.command[0], args=options.command[1:])
        http = None
    else:
        headers = {"Authorization": f"Bearer {options.key}"} if options.key else {}
        http = httpx2.AsyncClient(headers=headers, timeout=30)
        server = streamable_http_client(options.url, http_client=http)
    async with Client(server, mode=mode) as client:
        version = client.protocol_version
        check((options.mode == "legacy") == (version != MODERN), f"{options.mode} spoke {version}")
        await visit(client, options)
    if http:
        await http.aclose()
    print(f"ok python {options.mode} {version}")


asyncio.run(main())
