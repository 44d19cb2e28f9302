import type { IncomingMessage, ServerResponse } from 'node:http'
import { a2aJsonRpcMount } from '../../src/transports/a2a/json-rpc.ts'
import { a2aRestMounts } from '../../src/transports/a2a/rest.ts'
import { createService } from '../../src/transports/a2a/service.ts'
import type { Work } from '../../src/transports/a2a/work.ts'
import { createHttpApp } from '../../src/transports/http/app.ts'
import { createEtags } from '../../src/transports/http/etag.ts'
import { serve } from '../net/support.ts'
import type { TestGateway } from './gateway.ts'

/** Serves the bindings, tasks and cards of a gateway over the given work; returns their URLs. */
export async function serveWork(
  { gateway }: Pick<TestGateway, 'gateway'>,
  work: Work,
  before: (request: IncomingMessage) => void = () => {},
  port = 0,
): Promise<AsyncDisposable & { readonly url: string }> {
  const perform = createService(gateway, work, gateway.taskManager)
  const jsonRpc = a2aJsonRpcMount(gateway, perform)
  const mounts = [jsonRpc, ...a2aRestMounts(gateway, perform, jsonRpc.handler)]
  const app = createHttpApp(gateway, createEtags('test'), mounts)
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    before(request)
    app(request, response)
  }
  const server = await serve(answer, '127.0.0.1', port)
  return { url: server.origin, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** One event of a stream. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into events freely
export type Event = any

/** The reason of the error in an answer; `ok` for any other answer. */
export const reasonOf = ({ json }: { json: Event }): string => json.error?.details[0].reason ?? 'ok'

/** Reads a stream of events to its end, or until the reader stops. */
export async function* eventsOf(answer: Response): AsyncGenerator<Event> {
  let rest = ''
  for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      if (!block.startsWith('data: ')) continue
      const event = JSON.parse(block.slice('data: '.length))
      yield event.result ?? event
    }
  }
}

/** One word for each event: a task's state, a status, an artifact. */
export function gist(event: Event): string {
  if (event.task) return `task ${state(event.task.status)}`
  if (event.statusUpdate) return state(event.statusUpdate.status)
  if (event.artifactUpdate) return `artifact ${event.artifactUpdate.artifact.artifactId}`
  return Object.keys(event).join()
}

function state(status: { state: string }): string {
  return status.state.replace('TASK_STATE_', '').toLowerCase()
}

/** The texts of all artifacts in the events. */
export function textsOf(events: readonly Event[]): string[] {
  return events.flatMap(({ task, artifactUpdate }) =>
    [...(task?.artifacts ?? []), ...(artifactUpdate ? [artifactUpdate.artifact] : [])].flatMap(({ parts }) =>
      parts.map(({ text }: { text: string }) => text),
    ),
  )
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
