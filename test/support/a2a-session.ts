import type { Part, TaskState } from '../../schemas/task.ts'
import type { Tell, Work } from '../../src/transports/a2a/work.ts'
import { a2aVersion, message } from './a2a.ts'
import { collect, type Event, eventsOf, serveWork } from './a2a-server.ts'
import { startGateway } from './gateway.ts'

type Options = NonNullable<Parameters<typeof startGateway>[1]>

/** The test's control of a task that was requested with this text. */
interface Running {
  readonly tell: Tell
  readonly signal: AbortSignal
  readonly end: (state: TaskState, parts?: readonly Part[]) => Promise<void>
}

/** A gateway whose tasks are controlled by the test: each message is a task, which runs until the test ends it. */
export async function openSession(options: Options = {}, environment: Record<string, string> = {}) {
  const stack = new AsyncDisposableStack()
  const { limits, times } = options.tasks ?? {}
  const tasks = { ...(limits && { limits }), times: { shutdown: 10, ...times } }
  const home = stack.use(await startGateway(environment, { ...options, tasks }))
  const waiting = new Map<string, PromiseWithResolvers<Running>>()
  const running = (text: string) => {
    const deferred = waiting.get(text) ?? Promise.withResolvers<Running>()
    waiting.set(text, deferred)
    return deferred
  }
  const work: Work = {
    read: ({ message: { parts } }) => ({
      async run({ signal }, tell) {
        const over = Promise.withResolvers<void>()
        signal.addEventListener('abort', () => over.reject(signal.reason))
        await tell({ state: 'TASK_STATE_WORKING' })
        running(String(parts[0]?.text)).resolve({
          tell,
          signal,
          async end(state, messageParts) {
            await tell({ state, ...(messageParts && { parts: messageParts }) })
            over.resolve()
          },
        })
        await over.promise
      },
    }),
    extendedCard: async () => '{}',
  }
  const served = stack.use(await serveWork(home, work))
  const fetchWith = (
    method: string,
    path: string,
    token: string | undefined,
    body?: unknown,
    signal?: AbortSignal,
  ) =>
    fetch(`${served.url}${path}`, {
      method,
      headers: {
        ...a2aVersion,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })

  return {
    home,
    url: served.url,
    /** Resolves with the work on the task that was requested with this text, once it runs. */
    work: (text: string) => running(text).promise,
    /** Sends one operation over HTTP+JSON; returns its status and answer. */
    async ask(method: string, path: string, token?: string, body?: unknown) {
      const answer = await fetchWith(method, `/a2a/v1/${path}`, token, body)
      return { status: answer.status, headers: answer.headers, json: (await answer.json()) as Event }
    },
    /** Sends a message with a text, and requests an immediate answer with the task. */
    async begin(text: string, token?: string, extra: object = {}) {
      const body = { ...message([{ text }], extra), configuration: { returnImmediately: true } }
      const { status, json } = await this.ask('POST', 'message:send', token, body)
      if (status !== 200) throw new Error(JSON.stringify(json))
      return json.task
    },
    /** Opens a stream; its events are collected as they arrive. */
    async open(method: string, path: string, token?: string, body?: unknown, signal?: AbortSignal) {
      const answer = await fetchWith(method, `/a2a/v1/${path}`, token, body, signal)
      if (answer.status !== 200) throw new Error(await answer.text())
      return eventsOf(answer)
    },
    stream: collect,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export type Session = Awaited<ReturnType<typeof openSession>>
