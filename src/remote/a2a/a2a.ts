import { randomUUID } from 'node:crypto'
import { a2aBindings, isSpoken } from '../../../schemas/callable.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, type JsonObject } from '../../../schemas/json.ts'
import { listedActions } from '../../../schemas/names.ts'
import type { Wait } from '../../common/clock.ts'
import type { Open } from '../../net/fetch/fetch.ts'
import { createWebFetch } from '../../net/fetch/web-fetch.ts'
import { maxValues } from '../check-output.ts'
import { isAboutCall } from '../refusal.ts'
import type {
  Connect,
  Refused,
  RemoteAgent,
  RemoteAnswer,
  RemoteCall,
  RemoteFacts,
  RemoteTask,
} from '../remote-agent.ts'
import { type A2aClient, type AgentInterface, createClient, type OutgoingMessage } from './client.ts'
import { follow, followTask } from './follow.ts'
import { messageOf, withSkillId } from './message.ts'
import { type ClassifiedError, classify, withHttpErrors } from './sdk-error.ts'

interface A2aOptions {
  readonly open: Open
  readonly clock: () => number
  readonly wait: Wait
}

const maxAnswerBytes = 10 * 1024 * 1024
/**
 * A message is parsed in one step, which blocks the event loop. The limit allows an output of 1 MiB and its envelope.
 */
const maxMessageBytes = 2 * 1024 * 1024

/** Agents that speak A2A 1.0 or 0.3, by JSON-RPC or HTTP+JSON. */
export function createA2aConnect(options: A2aOptions): Connect {
  return (stated, facts) => {
    const { protocol, url, version, binding = 'JSONRPC', tenant } = stated
    const bindingName = a2aBindings.get(binding.toUpperCase())
    if (protocol !== 'a2a' || !isSpoken(stated) || bindingName === undefined) return undefined
    const streaming = isRecord(facts.card.capabilities) && facts.card.capabilities.streaming === true
    const endpoint = { url, binding: bindingName, tenant, streaming }
    return new A2aAgent(endpoint, versionsOf(version, facts), facts, options)
  }
}

type Version = AgentInterface['version']

/** The versions to try, the likelier one first. */
function versionsOf(version: string | undefined, { card }: RemoteFacts): readonly Version[] {
  const isNew = version === undefined ? Array.isArray(card.supportedInterfaces) : !/^0\./.test(version)
  return isNew ? ['1.0', '0.3'] : ['0.3', '1.0']
}

class A2aAgent implements RemoteAgent {
  readonly #endpoint: Omit<AgentInterface, 'version'>
  readonly #facts: RemoteFacts
  readonly #wait: Wait
  readonly #who: string
  readonly #fetch: typeof globalThis.fetch
  readonly #clients = new Map<Version, Promise<A2aClient>>()
  /** The versions to try; the one that answered last comes first. */
  #versions: readonly Version[]

  constructor(
    endpoint: Omit<AgentInterface, 'version'>,
    versions: readonly Version[],
    facts: RemoteFacts,
    { open, clock, wait }: A2aOptions,
  ) {
    this.#endpoint = endpoint
    this.#versions = versions
    this.#facts = facts
    this.#wait = wait
    this.#who = new URL(endpoint.url).host
    const fetch = createWebFetch(open, {
      max_bytes: maxAnswerBytes,
      max_message_bytes: maxMessageBytes,
      max_message_values: maxValues,
    })
    this.#fetch = withHttpErrors(fetch, this.#who, clock)
  }

  async call(action: string, params: JsonObject, call: RemoteCall): Promise<RemoteAnswer> {
    const { headers, signal, task } = call
    if (action === listedActions.following && task) {
      return await this.#withVersion<RemoteAnswer>(signal, (client) =>
        followTask(client, task.task_id, { headers, signal }, call, this.#wait),
      )
    }
    const message = outgoing(action, params, call, this.#facts)
    return await this.#withVersion<RemoteAnswer>(signal, (client) =>
      follow(client, message, { headers: withExtensions(headers, call), signal }, call, this.#wait),
    )
  }

  async probe({ headers, signal }: Pick<RemoteCall, 'signal' | 'headers'>): Promise<Failure | undefined> {
    // No agent has this task. An agent that reports the missing task speaks A2A.
    const answer = await this.#withVersion(signal, async (client) => {
      await client.task(randomUUID(), { headers, signal })
      return undefined
    }).catch((thrown) => {
      if (thrown instanceof Failure && isRefusedQuestion(thrown)) return undefined
      throw thrown
    })
    return answer?.refused
  }

  async cancel(
    { task_id }: RemoteTask,
    { headers, signal }: Pick<RemoteCall, 'signal' | 'headers'>,
  ): Promise<Failure | undefined> {
    const answer = await this.#withVersion(signal, async (client) => {
      await client.cancel(task_id, { headers, signal })
      return undefined
    })
    return answer?.refused
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #clientOf(version: Version): Promise<A2aClient> {
    const client = this.#clients.get(version) ?? openClient({ ...this.#endpoint, version }, this.#fetch)
    this.#clients.set(version, client)
    return client
  }

  /** Sends in the version that the agent speaks; tries the other one if the agent refuses the version. */
  async #withVersion<T>(signal: AbortSignal, send: (client: A2aClient) => Promise<T>): Promise<T | Refused> {
    const [first = '1.0', second = '0.3'] = this.#versions
    try {
      return await send(await this.#clientOf(first))
    } catch (thrown) {
      const error = this.#classify(thrown, signal)
      if (error.kind !== 'version') return refusedOr(error)
    }
    try {
      const answer = await send(await this.#clientOf(second))
      this.#versions = [second, first]
      return answer
    } catch (thrown) {
      return refusedOr(this.#classify(thrown, signal))
    }
  }

  #classify(thrown: unknown, signal: AbortSignal): ClassifiedError {
    if (signal.aborted) throw signal.reason
    return classify(thrown, this.#who)
  }
}

/** An agent that takes messages alone knows no tasks. It refuses the question for one, and so it answers. */
function isRefusedQuestion({ details: { upstream } }: Failure): boolean {
  return upstream?.code === 'METHOD_NOT_FOUND' || (upstream?.status !== 429 && isAboutCall(upstream?.status))
}

function withExtensions(headers: RemoteCall['headers'], { content }: RemoteCall): RemoteCall['headers'] {
  const extensions = content?.protocol === 'a2a' ? content.extensions : undefined
  return extensions === undefined ? headers : { ...headers, 'a2a-extensions': extensions }
}

async function openClient(endpoint: AgentInterface, fetchImpl: typeof fetch): Promise<A2aClient> {
  if (endpoint.version === '1.0') return createClient(endpoint, fetchImpl, randomUUID)
  const { createSdkClient } = await import('./sdk-client.ts')
  return await createSdkClient(endpoint, fetchImpl, randomUUID)
}

/** The message of a caller of A2A as it is; that of any other caller from its params. */
function outgoing(
  action: string,
  params: JsonObject,
  { task, content, context_id, reference_task_ids }: RemoteCall,
  facts: RemoteFacts,
): OutgoingMessage {
  const ids = { context_id, ...task, reference_task_ids }
  if (content?.protocol !== 'a2a') {
    return { message: { ...messageOf(action, params, facts) }, ...ids, returns_immediately: false }
  }
  return { ...content, message: withSkillId(content.message, facts), ...ids }
}

function refusedOr({ kind, failure }: ClassifiedError): Refused {
  if (kind === 'refused') return { refused: failure }
  throw failure
}
