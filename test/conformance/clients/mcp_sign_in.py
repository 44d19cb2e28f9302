"""A session of the official Python MCP client that signs in, printed as JSON lines.

Usage: mcp_sign_in.py URL; it prints the address for the browser, and reads the address at which the browser ends.
"""

import json
import sys
from urllib.parse import parse_qs, urlparse

import anyio
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


def say(**outcome: object) -> None:
    print(json.dumps(outcome), flush=True)


class Memory:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens) -> None:
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info) -> None:
        self.client = client_info


async def redirect(url: str) -> None:
    say(open=url)


async def callback() -> AuthorizationCodeResult:
    line = await anyio.to_thread.run_sync(sys.stdin.readline)
    query = parse_qs(urlparse(line.strip()).query)
    return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0], iss=query["iss"][0])


async def main(url: str) -> None:
    metadata = OAuthClientMetadata(client_name="Python host", redirect_uris=["http://127.0.0.1:3999/callback"])
    auth = OAuthClientProvider(url, metadata, Memory(), redirect, callback)
    async with Client(streamable_http_client(url, http_client=create_mcp_http_client(auth=auth))) as client:
        tools = (await client.list_tools()).tools
        for tool in tools:
            call = {"package_name": "svc.registry", "action": "list_keys", "params": {}}
            result = await client.call_tool(tool.name, call if tool.name == "call_agent" else {})
            say(tool=tool.name, text=str(result.content))


anyio.run(main, *sys.argv[1:])
