"""An agent on the official Python SDK of A2A 1.0, over both bindings; the first text of a message says what it does."""

import asyncio
import sys

import uvicorn
from a2a.helpers import new_data_part, new_raw_part, new_text_part, new_url_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    ROLE_AGENT,
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Task,
    TaskState,
    TaskStatus,
)
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette


def words_of(message: Message) -> str:
    return next((part.text for part in message.parts if part.WhichOneof("content") == "text"), "")


def message_of(context: RequestContext, *parts, message_id="reply", **more) -> Message:
    return Message(message_id=message_id, role=ROLE_AGENT, parts=parts, context_id=context.context_id, **more)


class Executor(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        words = words_of(context.message)
        if context.current_task:
            updater = TaskUpdater(event_queue, context.task_id, context.context_id)
            await updater.add_artifact([new_text_part(f"You chose {words}")], artifact_id="choice")
            return await updater.complete()
        if reply := self.direct(words, context):
            return await event_queue.enqueue_event(reply)
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        task = Task(id=context.task_id, context_id=context.context_id, status=status)
        await event_queue.enqueue_event(task)
        await self.work(words, context, TaskUpdater(event_queue, context.task_id, context.context_id))

    def direct(self, words: str, context: RequestContext) -> Message | None:
        match words:
            case "say":
                return message_of(context, new_text_part("Hello"), metadata={"mood": "good", "n": 1})
            case "release":
                self.released.set()
                return message_of(context, new_text_part("Released"))
            case "markdown":
                return message_of(context, new_text_part("# Title", media_type="text/markdown"))
            case "mixed":
                return message_of(context, new_text_part("Two"), new_data_part({"n": 2}), new_text_part("after"))
            case "files":
                picture = new_raw_part(b"\x89PNG", media_type="image/png", filename="a.png")
                link = new_url_part("https://example.com/b.pdf", media_type="application/pdf", filename="b.pdf")
                return message_of(context, picture, link)
            case "extension":
                return message_of(context, new_text_part("x"), extensions=["urn:example:x"])
            case "unicode":
                return message_of(context, new_text_part("naïve – 漢字 🎉\nline two\ttab"))
            case "echo":
                received = MessageToDict(context.message)
                fields = {key: received[key] for key in ("messageId", "parts", "metadata", "extensions") if key in received}
                return message_of(context, new_data_part(fields))
            case "where":
                return message_of(context, new_data_part({"same": self.seen(context.context_id)}))
        return None

    contexts: dict[str, int] = {}

    def seen(self, context_id: str) -> int:
        self.contexts[context_id] = self.contexts.get(context_id, 0) + 1
        return self.contexts[context_id]

    released = asyncio.Event()

    async def work(self, words: str, context: RequestContext, updater: TaskUpdater) -> None:
        say = lambda text: message_of(context, new_text_part(text), task_id=context.task_id)
        match words:
            case "stream":
                await updater.start_work(say("Thinking"))
                for index in range(5):
                    await updater.add_artifact(
                        [new_text_part(f"chunk{index} ")],
                        artifact_id="reply",
                        name="Reply",
                        metadata={"index": index},
                        append=index > 0,
                        last_chunk=index == 4,
                    )
                await updater.complete(say("Done"))
            case "wait for release":
                self.released.clear()
                await updater.add_artifact([new_text_part("chunk0 ")], artifact_id="reply")
                await self.released.wait()
                await updater.add_artifact([new_text_part("chunk1")], artifact_id="reply", append=True, last_chunk=True)
                await updater.complete()
            case "artifacts":
                await updater.add_artifact([new_text_part("one"), new_data_part([1, 2])], artifact_id="a", name="First")
                await updater.add_artifact([new_raw_part(b"abc", media_type="text/csv", filename="t.csv")], artifact_id="b")
                await updater.complete()
            case "silent":
                await updater.complete()
            case "ask":
                question = message_of(
                    context, new_text_part("Which day?"), new_data_part({"choices": ["Friday"]}), task_id=context.task_id
                )
                await updater.requires_input(question)
            case "sign in":
                await updater.requires_auth(say("Sign in at example.com"))
            case "fail":
                await updater.failed(say("It broke"))
            case "reject":
                await updater.reject(say("Not on Sundays"))
            case "throw":
                raise RuntimeError("A fault of the agent")
            case "hang":
                await updater.start_work(say("Waiting"))
                await asyncio.sleep(600)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def main(port: int) -> None:
    origin = f"http://127.0.0.1:{port}"
    bindings = {"JSONRPC": "/rpc", "HTTP+JSON": "/rest"}

    def card_of(binding: str, streaming: bool) -> AgentCard:
        return AgentCard(
            name="Peer",
            description="Does what the first text of a message says.",
            version="1.0.0",
            supported_interfaces=[
                AgentInterface(url=f"{origin}{bindings[binding]}", protocol_binding=binding, protocol_version="1.0")
            ],
            capabilities=AgentCapabilities(streaming=streaming),
            default_input_modes=["text/plain", "application/json", "image/png"],
            default_output_modes=["text/plain", "application/json", "image/png"],
            skills=[AgentSkill(id="talk", name="Talk", description="Talks.", tags=["talk"])],
        )

    handler = DefaultRequestHandler(Executor(), InMemoryTaskStore(), card_of("JSONRPC", True))
    cards = [
        route
        for name, binding, streaming in [
            ("rpc", "JSONRPC", True),
            ("rest", "HTTP+JSON", True),
            ("quiet", "JSONRPC", False),
        ]
        for route in create_agent_card_routes(card_of(binding, streaming), card_url=f"/{name}.json")
    ]
    routes = [*cards, *create_jsonrpc_routes(handler, "/rpc"), *create_rest_routes(handler, path_prefix="/rest")]
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="info")


main(int(sys.argv[1]))
