"""The official Python client of A2A 0.3: finds the card at a base URL, asks in words, prints what it was told."""

import asyncio
import json
import sys

from a2a.client import ClientConfig, ClientFactory, create_text_message_object
from a2a.types import Role
from a2a.utils.message import get_message_text


async def main(base: str) -> None:
    client = await ClientFactory.connect(base, client_config=ClientConfig(streaming=False))
    async for event in client.send_message(create_text_message_object(Role.user, "read a web page")):
        print(json.dumps({"answer": get_message_text(event)}))


asyncio.run(main(sys.argv[1]))
