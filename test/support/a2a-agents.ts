import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import type { AgentCard as LegacyCard, Message as LegacyMessage } from 'a2a-sdk-0.3'
import {
  type AgentExecutor as LegacyExecutor,
  DefaultRequestHandler as LegacyHandler,
  InMemoryTaskStore as LegacyStore,
} from 'a2a-sdk-0.3/server'
import { UserBuilder as LegacyUser, jsonRpcHandler as legacyJsonRpc } from 'a2a-sdk-0.3/server/express'
import express from 'express'
import { serve, type TestServer } from '../net/support.ts'

export interface A2aAgent extends TestServer {
  /** The messages that the agent received, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages freely
  readonly received: any[]
  readonly cancelled: string[]
}

interface A2aSettings {
  readonly streaming?: boolean
  /** Comes before the agent. */
  readonly guard?: express.RequestHandler
  /** The security scheme that its card requires. */
  readonly scheme?: object
  /** Names of skills by their ids; a name is its id when absent. */
  readonly names?: Readonly<Record<string, string>>
}

/** The skills of both agents. Each skill's description states what it does with `{name}` or `{text}`. */
const skills = [
  { id: 'greet', name: 'greet', description: 'Greets by name, at once.', tags: ['greeting'] },
  { id: 'work', name: 'work', description: 'Greets by name in parts, as a task.', tags: ['greeting'] },
  { id: 'ask', name: 'ask', description: 'Asks for the name first.', tags: ['greeting'] },
  { id: 'fail', name: 'fail', description: 'Fails.', tags: ['greeting'] },
  { id: 'hang', name: 'hang', description: 'Never ends.', tags: ['greeting'] },
]

/** An agent by the official SDK 1.3, over JSON-RPC at `/rpc` and HTTP+JSON at `/rest`; its card is at the well-known path. */
export async function serveA2a({
  streaming = true,
  names = {},
  guard,
  scheme,
}: A2aSettings = {}): Promise<A2aAgent> {
  const received: object[] = []
  const cancelled: string[] = []
  const app = express()
  const server = await serve(app)
  const card = AgentCard.fromJSON({
    name: 'Greeter',
    description: 'Greets people by their name.',
    version: '1.0.0',
    supportedInterfaces: ['rpc', 'rest'].map((path) => ({
      url: `${server.origin}/${path}`,
      protocolBinding: path === 'rpc' ? 'JSONRPC' : 'HTTP+JSON',
      protocolVersion: '1.0',
    })),
    capabilities: { streaming },
    ...(scheme && {
      securitySchemes: { own: scheme },
      securityRequirements: [{ schemes: { own: { list: [] } } }],
    }),
    defaultInputModes: ['application/json', 'text/plain'],
    defaultOutputModes: ['application/json'],
    skills: skills.map((skill) => ({ ...skill, name: names[skill.id] ?? skill.name })),
  })
  const executor = createExecutor(received, cancelled)
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
  const userBuilder = UserBuilder.noAuthentication
  app.get('/.well-known/agent-card.json', (_, response) => void response.json(AgentCard.toJSON(card)))
  if (guard) app.use(['/rpc', '/rest'], guard)
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder }))
  app.use('/rest', restHandler({ requestHandler, userBuilder }))
  return { ...server, received, cancelled, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

const forever = new Promise<void>(() => {})

interface A2aCall {
  readonly skill: string
  readonly name: string
}

// biome-ignore lint/suspicious/noExplicitAny: a message of either version
function read({ parts = [], metadata }: any): A2aCall {
  const data = parts.map((part: { data?: object }) => part.data ?? {})
  const texts = parts.flatMap((part: { text?: string }) => (part.text === undefined ? [] : [part.text]))
  const { name = texts.join(' ') } = Object.assign({}, ...data)
  return { skill: metadata?.skillId ?? 'greet', name }
}

function createExecutor(received: object[], cancelled: string[]): AgentExecutor {
  return {
    async execute({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus) {
      const message = Message.toJSON(userMessage) as object
      received.push(message)
      const { skill, name } = task ? { ...read(message), skill: 'answered' } : read(message)
      const ids = { taskId, contextId }
      const status = (state: string, text?: string) =>
        bus.publish(
          AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status: statusOf(state, text) })),
        )
      const artifact = (data: object, append: boolean) =>
        bus.publish(
          AgentEvent.artifactUpdate(
            TaskArtifactUpdateEvent.fromJSON({
              ...ids,
              artifact: { artifactId: 'greeting', parts: [{ data }] },
              append,
            }),
          ),
        )
      if (skill === 'greet') {
        const parts = [{ data: { greeting: `Hello ${name}` } }]
        bus.publish(
          AgentEvent.message(Message.fromJSON({ messageId: 'm', role: 'ROLE_AGENT', contextId, parts })),
        )
        return bus.finished()
      }
      const started = Task.fromJSON({ id: taskId, contextId, status: statusOf('TASK_STATE_SUBMITTED') })
      bus.publish(AgentEvent.task(task ?? started))
      if (skill === 'hang') {
        status('TASK_STATE_WORKING', 'Thinking')
        return await forever
      }
      if (skill === 'fail') status('TASK_STATE_FAILED', 'It is too early to greet.')
      else if (skill === 'ask') status('TASK_STATE_INPUT_REQUIRED', 'What is your name?')
      else {
        status('TASK_STATE_WORKING', 'Looking up')
        if (skill === 'work') artifact({ part: 1 }, false)
        artifact({ greeting: `Hello ${name}` }, skill === 'work')
        status('TASK_STATE_COMPLETED')
      }
      bus.finished()
    },
    async cancelTask(taskId: string, bus: ExecutionEventBus) {
      cancelled.push(taskId)
      const status = { state: 'TASK_STATE_CANCELED' }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: '', status })))
      bus.finished()
    },
  }
}

function statusOf(state: string, text?: string): object {
  return {
    state,
    timestamp: '2026-01-01T00:00:00Z',
    ...(text && { message: { messageId: 's', role: 'ROLE_AGENT', parts: [{ text }] } }),
  }
}

/** An agent by the official SDK 0.3.14, over JSON-RPC at `/rpc`. */
export async function serveLegacyA2a({ streaming = true } = {}): Promise<A2aAgent> {
  const received: object[] = []
  const cancelled: string[] = []
  const app = express()
  const server = await serve(app)
  const card: LegacyCard = {
    name: 'Old greeter',
    description: 'Greets people as it was done before.',
    version: '1.0.0',
    protocolVersion: '0.3.0',
    url: `${server.origin}/rpc`,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming },
    defaultInputModes: ['application/json', 'text/plain'],
    defaultOutputModes: ['application/json'],
    skills,
  }
  const executor: LegacyExecutor = {
    async execute({ userMessage, taskId, contextId, task }, bus) {
      received.push(userMessage)
      const { skill, name } = task ? { ...read(userMessage), skill: 'answered' } : read(userMessage)
      const say = (text: string): LegacyMessage => ({
        kind: 'message',
        messageId: 's',
        role: 'agent',
        parts: [{ kind: 'text', text }],
      })
      const status = (
        state: 'working' | 'completed' | 'input-required' | 'failed' | 'submitted',
        text?: string,
      ) => {
        const final = state !== 'working'
        bus.publish({
          kind: 'status-update',
          taskId,
          contextId,
          final,
          status: { state, ...(text && { message: say(text) }) },
        })
      }
      if (skill === 'greet') {
        bus.publish({ ...say(''), contextId, parts: [{ kind: 'data', data: { greeting: `Hello ${name}` } }] })
        return bus.finished()
      }
      if (!task) bus.publish({ kind: 'task', id: taskId, contextId, status: { state: 'submitted' } })
      if (skill === 'hang') {
        status('working', 'Thinking')
        return await forever
      }
      if (skill === 'fail') status('failed', 'It is too early to greet.')
      else if (skill === 'ask') status('input-required', 'What is your name?')
      else {
        status('working', 'Looking up')
        const artifact = (data: Record<string, unknown>, append: boolean) =>
          bus.publish({
            kind: 'artifact-update',
            taskId,
            contextId,
            append,
            artifact: { artifactId: 'g', parts: [{ kind: 'data', data }] },
          })
        if (skill === 'work') artifact({ part: 1 }, false)
        artifact({ greeting: `Hello ${name}` }, skill === 'work')
        status('completed')
      }
      bus.finished()
    },
    async cancelTask(taskId, bus) {
      cancelled.push(taskId)
      bus.publish({
        kind: 'status-update',
        taskId,
        contextId: '',
        final: true,
        status: { state: 'canceled' },
      })
      bus.finished()
    },
  }
  const requestHandler = new LegacyHandler(card, new LegacyStore(), executor)
  app.get('/.well-known/agent-card.json', (_, response) => void response.json(card))
  app.use('/rpc', legacyJsonRpc({ requestHandler, userBuilder: LegacyUser.noAuthentication }))
  return { ...server, received, cancelled, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}
