import { randomUUID } from 'node:crypto'
import type { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { Wait } from '../../common/clock.ts'
import type { Open } from '../../net/fetch/fetch.ts'
import { createWebFetch } from '../../net/fetch/web-fetch.ts'
import { mostValues } from '../check-output.ts'
import type { Connect, RemoteAgent, RemoteAnswer, RemoteFacts } from '../remote-agent.ts'
import { type A2aClient, createA2aClient, type Interface } from './client.ts'
import { checked, faultOf } from './fault.ts'
import { follow } from './follow.ts'
import { say } from './message.ts'

export interface A2aOptions {
  readonly open: Open
  readonly clock: () => number
  readonly wait: Wait
}

const largestAnswer = 10 * 1024 * 1024
/** What is read at once holds up everybody: an output of 1 MiB, and what is around it. */
const largestMessage = 2 * 1024 * 1024
const bindings = new Set(['JSONRPC', 'HTTP+JSON'])

/** Agents that speak A2A 1.0 or 0.3, by JSON-RPC or HTTP+JSON, through the official SDK's client. */
export function createA2aConnect(options: A2aOptions): Connect {
  return ({ protocol, url, version, binding = 'JSONRPC', tenant }, facts) => {
    const spoken = binding.toUpperCase()
    if (protocol !== 'a2a' || !/^https?:/i.test(url) || !bindings.has(spoken)) return undefined
    const streaming = isRecord(facts.card.capabilities) && facts.card.capabilities.streaming === true
    return createAgent(
      { url, binding: spoken, tenant, streaming },
      versionsOf(version, facts),
      facts,
      options,
    )
  }
}

type Version = Interface['version']

/** What to try, the likelier first; a card that says is believed before it is tried otherwise. */
function versionsOf(version: string | undefined, { card }: RemoteFacts): readonly Version[] {
  const isNew = version === undefined ? Array.isArray(card.supportedInterfaces) : !/^0\./.test(version)
  return isNew ? ['1.0', '0.3'] : ['0.3', '1.0']
}

function createAgent(
  place: Omit<Interface, 'version'>,
  versions: readonly Version[],
  facts: RemoteFacts,
  { open, clock, wait }: A2aOptions,
): RemoteAgent {
  const who = new URL(place.url).host
  const fetch = checked(
    createWebFetch(open, {
      max_bytes: largestAnswer,
      max_message_bytes: largestMessage,
      max_message_values: mostValues,
    }),
    who,
    clock,
  )
  const clients = new Map<Version, Promise<A2aClient>>()
  /** What the agent was found to speak, the last that answered first. */
  let order = versions

  function clientOf(version: Version): Promise<A2aClient> {
    const known = clients.get(version) ?? createA2aClient({ ...place, version }, fetch, randomUUID)
    clients.set(version, known)
    return known
  }

  /** Asks in the version that the agent speaks; the other one is tried where it says that it does not. */
  async function inItsVersion<T>(
    signal: AbortSignal,
    ask: (client: A2aClient) => Promise<T>,
  ): Promise<T | Refused> {
    const [first = '1.0', second = '0.3'] = order
    try {
      return await ask(await clientOf(first))
    } catch (thrown) {
      const fault = sorted(thrown, signal)
      if (fault.kind !== 'version') return refusedOr(fault)
    }
    try {
      const answer = await ask(await clientOf(second))
      order = [second, first]
      return answer
    } catch (thrown) {
      return refusedOr(sorted(thrown, signal))
    }
  }

  function sorted(thrown: unknown, signal: AbortSignal) {
    if (signal.aborted) throw signal.reason
    return faultOf(thrown, who)
  }

  return {
    async call(action, params, call) {
      const { task, headers, signal } = call
      const sent = { ...say(action, params, facts), ...task }
      return await inItsVersion<RemoteAnswer>(signal, (client) =>
        follow(client, sent, { headers, signal }, call, wait),
      )
    },
    async probe({ headers, signal }) {
      // Nobody has it: whoever answers that there is no such task speaks A2A.
      const answer = await inItsVersion(signal, async (client) => {
        await client.task(randomUUID(), { headers, signal })
        return undefined
      })
      return answer?.refused
    },
    async [Symbol.asyncDispose]() {},
  }
}

type Refused = { readonly refused: Failure }

function refusedOr(fault: ReturnType<typeof faultOf>): Refused {
  if (fault.kind === 'refused') return { refused: fault.failure }
  throw fault.failure
}
