"""Every behaviour of the server, once each, printed as one JSON line: {"name": …, "value": …}.

Usage: client.py MODE URL; MODE is "legacy" or "auto". CLIENT_TOKEN, if it is there, is the bearer token.
"""

import json
import os
import sys

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

events: list[object] = []


def shown(value: object) -> object:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value


async def behaviour(name: str, work) -> None:
    events.clear()
    try:
        value = shown(await work())
    except Exception as fault:
        error = getattr(fault, "error", None)
        value = {"raised": shown(error) if error is not None else f"{type(fault).__name__}: {fault}"}
    print(json.dumps({"name": name, "value": value, "events": list(events)}), flush=True)


async def on_progress(progress: float, total: float | None, message: str | None) -> None:
    events.append([progress, total, message])


async def on_log(params) -> None:
    events.append(shown(params))


async def on_elicit(context, params) -> types.ElicitResult:
    events.append(shown(params))
    return types.ElicitResult(action="accept", content={"name": "Ada", "age": 36})


async def on_elicit_decline(context, params) -> types.ElicitResult:
    return types.ElicitResult(action="decline")


def connect(mode: str, url: str, **options) -> Client:
    token = os.environ.get("CLIENT_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = streamable_http_client(url, http_client=create_mcp_http_client(headers=headers))
    return Client(transport, mode=mode, **options)


async def main(mode: str, url: str) -> None:
    async with connect(mode, url, elicitation_callback=on_elicit, logging_callback=on_log, log_level="info") as client:

        def call(name: str, **params: object):
            return lambda: client.call_tool(name, params)

        async def capabilities() -> object:
            return client.server_capabilities

        await behaviour("capabilities", capabilities)
        await behaviour("the list of tools", client.list_tools)
        await behaviour("a text", call("say", words="Grüße, 世界 🌍\n  and a second line"))
        await behaviour("a text that is JSON", call("say", words='{"a": [1, 2]}'))
        await behaviour("an empty text", call("say", words=""))
        await behaviour("structured content", call("weather", city="Oslo"))
        await behaviour("structured content that is no object", call("numbers", count=3))
        await behaviour("an image", call("picture"))
        await behaviour("audio", call("sound"))
        await behaviour("a resource link", call("link"))
        await behaviour("embedded resources", call("embedded"))
        await behaviour("several blocks, structured content and _meta", call("mixed"))
        await behaviour("a text of 280,000 characters", call("large"))
        await behaviour("an error of a tool", call("fail"))
        await behaviour("wrong arguments", call("weather", city=["Oslo"]))
        await behaviour("missing arguments", call("weather"))
        await behaviour("an unknown tool", call("weathr", city="Oslo"))
        await behaviour("progress", lambda: client.call_tool("work", {}, progress_callback=on_progress))
        await behaviour("log messages", call("log"))
        await behaviour("a question", call("ask"))
        await behaviour("a question as a result", call("ask_in_result"))
        await behaviour("the list of resources", client.list_resources)
        await behaviour("the list of resource templates", client.list_resource_templates)
        await behaviour("a resource of text", lambda: client.read_resource("note://plain"))
        await behaviour("a resource of bytes", lambda: client.read_resource("note://picture"))
        await behaviour("a resource of a template", lambda: client.read_resource("note://of/Ada"))
        await behaviour("an unknown resource", lambda: client.read_resource("other://x"))
        await behaviour("the list of prompts", client.list_prompts)
        await behaviour("a prompt", lambda: client.get_prompt("simple"))
        await behaviour("a prompt with arguments", lambda: client.get_prompt("greet", {"name": "Ada"}))
        await behaviour("a prompt without its argument", lambda: client.get_prompt("greet"))
        await behaviour("an unknown prompt", lambda: client.get_prompt("greeet"))
        reference = types.PromptReference(type="ref/prompt", name="greet")
        await behaviour("a completion", lambda: client.complete(reference, {"name": "name", "value": "A"}))
    async with connect(mode, url, elicitation_callback=on_elicit_decline) as client:
        await behaviour("a question that is declined", lambda: client.call_tool("ask", {}))
        await behaviour("a question as a result that is declined", lambda: client.call_tool("ask_in_result", {}))


anyio.run(main, *sys.argv[1:])
