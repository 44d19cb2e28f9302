"""An agent on the official Python SDK of A2A 0.3, over JSON-RPC; the first text of a message says what it does."""

import asyncio
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentSkill,
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
    TextPart,
)


def text(words: str, **more) -> Part:
    return Part(root=TextPart(text=words, **more))


class Executor(AgentExecutor):
    released = asyncio.Event()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        words = next((part.root.text for part in context.message.parts if isinstance(part.root, TextPart)), "")
        message = lambda *parts, **more: Message(
            message_id="reply", role=Role.agent, parts=list(parts), context_id=context.context_id, **more
        )
        direct = {
            "say": lambda: message(text("Hello"), metadata={"mood": "good"}),
            "mixed": lambda: message(text("Two"), Part(root=DataPart(data={"n": 2})), text("after")),
            "files": lambda: message(
                Part(root=FilePart(file=FileWithBytes(bytes="iVBORw==", name="a.png", mime_type="image/png"))),
                Part(root=FilePart(file=FileWithUri(uri="https://example.com/b.pdf", mime_type="application/pdf"))),
            ),
        }
        if words == "release":
            self.released.set()
            return await event_queue.enqueue_event(message(text("Released")))
        if words in direct:
            return await event_queue.enqueue_event(direct[words]())
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task:
            await updater.add_artifact([text(f"You chose {words}")], artifact_id="choice")
            return await updater.complete()
        status = TaskStatus(state=TaskState.submitted)
        await event_queue.enqueue_event(Task(id=context.task_id, context_id=context.context_id, status=status))
        said = lambda words: message(text(words), task_id=context.task_id)
        if words == "stream":
            await updater.start_work(said("Thinking"))
            for index in range(3):
                await updater.add_artifact(
                    [text(f"chunk{index} ")], artifact_id="reply", name="Reply", append=index > 0, last_chunk=index == 2
                )
            await updater.complete(said("Done"))
        elif words == "wait for release":
            self.released.clear()
            await updater.add_artifact([text("chunk0 ")], artifact_id="reply")
            await self.released.wait()
            await updater.add_artifact([text("chunk1")], artifact_id="reply", append=True, last_chunk=True)
            await updater.complete()
        elif words == "ask":
            await updater.requires_input(said("Which day?"), final=True)
        elif words == "fail":
            await updater.failed(said("It broke"))
        elif words == "reject":
            await updater.reject(said("Not on Sundays"))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def main(port: int) -> None:
    card = AgentCard(
        name="Old peer",
        description="Does what the first text of a message says.",
        version="1.0.0",
        url=f"http://127.0.0.1:{port}/",
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="talk", name="Talk", description="Talks.", tags=["talk"])],
    )
    handler = DefaultRequestHandler(Executor(), InMemoryTaskStore())
    app = A2AStarletteApplication(agent_card=card, http_handler=handler).build(agent_card_url="/old.json")
    uvicorn.run(app, host="127.0.0.1", port=port)


main(int(sys.argv[1]))
