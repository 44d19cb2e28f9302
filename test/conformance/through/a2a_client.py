"""The official Python client of A2A 1.0: sends each behaviour to the agent of a card, and prints what came back."""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_data_part, new_raw_part, new_text_part
from a2a.types.a2a_pb2 import (
    ROLE_USER,
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    SendMessageConfiguration,
    SendMessageRequest,
)
from google.protobuf.json_format import MessageToDict

single = ["say", "markdown", "mixed", "files", "extension", "unicode", "stream", "artifacts", "silent", "ask", "sign in",
          "fail", "reject", "throw"]


def text(words: str, **more) -> Message:
    return Message(message_id="m-1", role=ROLE_USER, parts=[new_text_part(words)], **more)


async def collect(client, message: Message, **configuration) -> list:
    request = SendMessageRequest(message=message, configuration=SendMessageConfiguration(**configuration))
    return [MessageToDict(event) async for event in client.send_message(request)]


async def attempt(work):
    try:
        return await work
    except Exception as error:  # what the client throws is what its user sees
        return {"error": type(error).__name__}


def task_in(events: list) -> dict:
    for event in events:
        for key in ("task", "statusUpdate", "artifactUpdate"):
            if key in event:
                return {"id": event[key].get("id") or event[key].get("taskId"), "contextId": event[key]["contextId"]}
    return {}


async def behaviours(client) -> dict:
    results = {words: await attempt(collect(client, text(words))) for words in single}

    async def echo():
        parts = [
            new_text_part("echo", media_type="text/markdown"),
            new_data_part({"a": [1, None, {"b": 2}]}),
            new_raw_part(b"\x89PNG", media_type="image/png", filename="a.png"),
            new_text_part("second"),
        ]
        message = Message(message_id="m-77", role=ROLE_USER, parts=parts, metadata={"trace": "abc"}, extensions=["urn:x"])
        return await collect(client, message)

    async def conversation():
        ours = str(uuid.uuid4())
        first, second = [await collect(client, text("where", context_id=ours)) for _ in range(2)]
        return [first, second, first[0]["message"]["contextId"] == second[0]["message"]["contextId"]]

    async def begun_by_agent():
        events = await collect(client, text("stream"))
        context_id = task_in(events)["contextId"]
        return [await collect(client, text("where", context_id=context_id)) for _ in range(2)]

    async def answer():
        task = task_in(await collect(client, text("ask")))
        return await collect(client, text("Friday", task_id=task["id"], context_id=task["contextId"]))

    async def read_again():
        task = task_in(await collect(client, text("artifacts")))
        return MessageToDict(await client.get_task(GetTaskRequest(id=task["id"])))

    async def cancel_twice():
        task = task_in(await collect(client, text("silent")))
        return MessageToDict(await client.cancel_task(CancelTaskRequest(id=task["id"])))

    async def unknown_task():
        return MessageToDict(await client.get_task(GetTaskRequest(id="no-such-task")))

    async def after_the_end():
        task = task_in(await collect(client, text("silent")))
        return await collect(client, text("more", task_id=task["id"]))

    for work in (echo, conversation, begun_by_agent, answer, read_again, cancel_twice, unknown_task, after_the_end):
        results[work.__name__] = await attempt(work())
    return results


async def main(card_url: str, token: str, streaming: bool, binding: str) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(headers=headers, timeout=30) as http:
        base, _, path = card_url.rpartition("/")
        card = await A2ACardResolver(http, base, agent_card_path=path).get_agent_card()
        def client(streams):
            config = ClientConfig(streaming=streams, httpx_client=http, supported_protocol_bindings=[binding])
            return ClientFactory(config).create(card)
        results = await behaviours(client(streaming))
        polling = client(False)

        async def at_once():
            events = await collect(polling, text("hang"), return_immediately=True)
            return MessageToDict(await polling.cancel_task(CancelTaskRequest(id=task_in(events)["id"])))

        results["at_once"] = await attempt(at_once())
        print(json.dumps(results))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] == "stream", sys.argv[4]))
