"""The official Python client of A2A 1.0: finds the card at a base URL, asks in words, prints what it was told."""

import asyncio
import json
import sys

from a2a.client import ClientConfig, create_client
from a2a.helpers import get_message_text, new_text_message
from a2a.types.a2a_pb2 import ROLE_USER, SendMessageRequest


async def main(base: str) -> None:
    client = await create_client(base, client_config=ClientConfig(streaming=False))
    request = SendMessageRequest(message=new_text_message("read a web page", role=ROLE_USER))
    async for event in client.send_message(request):
        print(json.dumps({"answer": get_message_text(event.message)}))


asyncio.run(main(sys.argv[1]))
