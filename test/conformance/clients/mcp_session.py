"""One session of the official Python MCP client, printed as JSON lines: what it listed, found and was told.

Usage: mcp_session.py MODE URL [PAGE] or mcp_session.py MODE stdio COMMAND... [PAGE]; MODE is "legacy" or a revision,
PAGE a page that never answers, whose reading is cancelled once a line comes over standard input. DRAGOMAN_TOKEN is the
bearer token.
"""

import json
import os
import sys

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def say(**outcome: object) -> None:
    print(json.dumps(outcome), flush=True)


def target(words: list[str]):
    if words[0] == "stdio":
        return StdioServerParameters(command=words[1], args=words[2:], env=dict(os.environ))
    headers = {"Authorization": f"Bearer {os.environ['DRAGOMAN_TOKEN']}"}
    return streamable_http_client(words[0], http_client=create_mcp_http_client(headers=headers))


async def cancelled(client: Client, page: str) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "reader_extract_content", {"url": page})
        await anyio.to_thread.run_sync(sys.stdin.readline)
        group.cancel_scope.cancel()


async def main(mode: str, *words: str) -> None:
    *where, page = words
    async with Client(target(where), mode=mode) as client:
        listed = await client.list_tools()
        say(version=client.protocol_version, tools=[tool.name for tool in listed.tools])
        found = await client.call_tool("search_agents", {"query": "encyclopedia", "limit": 2})
        say(found=found.structured_content, text=json.loads(found.content[0].text))
        refused = await client.call_tool("search_agents", {"limit": 0})
        say(refused=refused.is_error, code=json.loads(refused.content[0].text)["code"])
        try:
            await client.call_tool("serch_agents", {})
        except Exception as fault:
            say(unknown=str(fault))
        await cancelled(client, page)
        after = await client.call_tool("search_agents", {"query": "encyclopedia"})
        say(after=after.is_error)


anyio.run(main, *sys.argv[1:])
