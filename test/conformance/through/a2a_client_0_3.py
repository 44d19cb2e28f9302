"""The official Python client of A2A 0.3: sends each behaviour to the agent of a card, and prints what came back."""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, TaskIdParams, TaskQueryParams, TextPart

single = ["say", "mixed", "files", "stream", "ask", "fail", "reject"]


def plain(value):
    return json.loads(value.model_dump_json(exclude_none=True)) if value else None


async def collect(client, words: str, **more) -> list:
    message = Message(message_id="m-1", role=Role.user, parts=[Part(root=TextPart(text=words))], **more)
    events = []
    async for event in client.send_message(message):
        events += [plain(part) for part in (event if isinstance(event, tuple) else (event,))]
    return events


async def attempt(work):
    try:
        return await work
    except Exception as error:  # what the client throws is what its user sees
        return {"error": type(error).__name__}


async def main(card_url: str, token: str, streaming: bool) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(headers=headers, timeout=30) as http:
        base, _, path = card_url.rpartition("/")
        card = await A2ACardResolver(http, base, agent_card_path=path).get_agent_card()
        client = ClientFactory(ClientConfig(streaming=streaming, httpx_client=http)).create(card)
        results = {words: await attempt(collect(client, words)) for words in single}

        async def answer():
            task = (await collect(client, "ask"))[0]
            return (await collect(client, "Friday", task_id=task["id"], context_id=task["contextId"]))[-2]

        async def read_again():
            task = (await collect(client, "stream"))[0]
            return plain(await client.get_task(TaskQueryParams(id=task["id"])))

        async def cancel_twice():
            task = (await collect(client, "stream"))[0]
            return plain(await client.cancel_task(TaskIdParams(id=task["id"])))

        for work in (answer, read_again, cancel_twice):
            results[work.__name__] = await attempt(work())
        print(json.dumps(results))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] == "stream"))
