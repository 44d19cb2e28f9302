"""A server on FastMCP with one tool, resource or prompt for each behaviour. Prints its port."""

import asyncio
import socket

import mcp_types as types
import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.tools import ToolResult
from pydantic import BaseModel

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
ICON = types.Icon(src="https://example.com/icon.png", mime_type="image/png", sizes=["48x48"])

server = FastMCP("toolbox", instructions="Ask the tools.", version="1.2.3")


class Weather(BaseModel):
    city: str
    degrees: float


class Person(BaseModel):
    name: str
    age: int


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


@server.tool
def say(words: str) -> ToolResult:
    return ToolResult(content=[text(words)])


@server.tool(title="The weather", icons=[ICON], annotations={"readOnlyHint": True, "openWorldHint": False}, meta={"example.com/kind": "weather"})
def weather(city: str, days: int = 1) -> Weather:
    """Tells the weather of a city."""
    return Weather(city=city, degrees=21.5)


@server.tool
def numbers(count: int) -> list[int]:
    return list(range(count))


@server.tool
def picture() -> ToolResult:
    return ToolResult(content=[image()])


@server.tool
def sound() -> ToolResult:
    return ToolResult(content=[types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")])


@server.tool
def link() -> ToolResult:
    return ToolResult(content=[types.ResourceLink(type="resource_link", uri="https://example.com/a.pdf", name="a.pdf", title="A", description="A paper", mime_type="application/pdf", size=12)])


@server.tool
def embedded() -> ToolResult:
    words = types.TextResourceContents(uri="note://1", mime_type="text/markdown", text="# Note")
    blob = types.BlobResourceContents(uri="note://2", mime_type="image/png", blob=PNG)
    return ToolResult(content=[types.EmbeddedResource(type="resource", resource=words), types.EmbeddedResource(type="resource", resource=blob)])


@server.tool
def mixed() -> ToolResult:
    annotated = types.TextContent(type="text", text="first", annotations=types.Annotations(audience=["user"], priority=0.5))
    return ToolResult(content=[annotated, image(), text("last")], structured_content={"b": [1, None], "a": {"deep": True}}, meta={"example.com/trace": "7"})


@server.tool
def large() -> ToolResult:
    return ToolResult(content=[text("line of words\n" * 20_000)])


@server.tool
def fail() -> str:
    raise ValueError("It failed because so")


@server.tool
async def work(context: Context) -> str:
    for step in range(3):
        await context.report_progress(step, 3, f"step {step}")
    return "worked"


@server.tool
async def log(context: Context) -> str:
    await context.info("working")
    return "logged"


@server.tool
async def ask(context: Context) -> str:
    answer = await context.elicit("Who are you?", Person)
    return f"{answer.action}: {answer.data if answer.action == 'accept' else None}"


@server.tool
async def ask_in_result(context: Context):
    answers = context.input_responses
    if answers:
        return ToolResult(content=[text(f"{answers['who'].action} {context.request_state}")])
    params = types.ElicitRequestFormParams(message="Who are you?", requested_schema=Person.model_json_schema())
    return types.InputRequiredResult(input_requests={"who": types.ElicitRequest(params=params)}, request_state="asked")


@server.resource("note://plain", title="A note", icons=[ICON], mime_type="text/plain")
def plain() -> str:
    return "A plain note."


@server.resource("note://picture", mime_type="image/png")
def picture_note() -> bytes:
    return b"\x89PNG\r\n"


@server.resource("note://of/{name}", title="Somebody's note")
def note_of(name: str) -> str:
    return f"The note of {name}."


@server.prompt(title="Greeting")
def greet(name: str) -> str:
    """Greets."""
    return f"Say hello to {name}."


@server.prompt
def simple() -> str:
    return "Say hello."


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    app = server.http_app(path="/mcp")
    await uvicorn.Server(uvicorn.Config(app, log_level="error")).serve([listening])


asyncio.run(main())
