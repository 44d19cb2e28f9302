import type { Agent } from '../../schemas/action.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import type { Assert } from '../auth/assertion.ts'
import { type Credentials, type CredentialsOptions, createCredentials } from '../auth/upstream-credentials.ts'
import type { Clock, Wait } from '../common/clock.ts'
import type { SafeFetch } from '../net/fetch/safe-fetch.ts'
import type { Askable } from '../registry/liveness/probe.ts'
import { createA2aConnect } from '../remote/a2a/a2a.ts'
import { createEnvelopeConnect } from '../remote/envelope.ts'
import { createListedAgents, type ListedAgentOptions } from '../remote/listed-agent.ts'
import { createMcpConnect } from '../remote/mcp/mcp.ts'
import { createRemotes } from '../remote/remotes.ts'
import { version } from './assets.ts'

/** The way from a listed entry to an answer of the agent behind it. */
export interface Calling extends AsyncDisposable {
  /** The entry as an agent of the router. Throws Failure `not_callable`. */
  readonly agentOf: (entry: EntryDetail) => Agent
  readonly credentials: Credentials
  /** The entry as an agent that can be asked whether it answers. */
  readonly askable: (entry: EntryDetail) => Askable | undefined
}

export interface CallingOptions
  extends Pick<ListedAgentOptions, 'secret' | 'observe'>,
    Pick<CredentialsOptions, 'store' | 'vault' | 'get' | 'namesOf'> {
  readonly outside: Pick<SafeFetch, 'fetch' | 'open' | 'dial'>
  readonly clock: Clock
  readonly wait: Wait
  readonly assert: Assert
  readonly patience_ms?: number | undefined
}

export function openCalling(options: CallingOptions): Calling {
  const { outside, clock, wait, assert, secret, observe, patience_ms, store, vault, get, namesOf } = options
  const remotes = createRemotes({
    connects: [
      createEnvelopeConnect(outside.fetch, clock),
      createA2aConnect({ open: outside.open, clock, wait }),
      createMcpConnect({
        open: outside.open,
        dial: outside.dial,
        client: { name: 'dragoman', version },
        fleeting_headers: ['dragoman-assertion', 'via'],
        clock,
      }),
    ],
    clock,
    wait,
    ...(patience_ms !== undefined && { patience_ms }),
  })
  const urlOf = (entry: EntryDetail) => remotes.of(entry)?.endpoint.url
  const credentials = createCredentials({ store, vault, get, namesOf, urlOf, clock })
  const agentOf = createListedAgents({
    remotes,
    secret,
    observe,
    async headers({ entry, url, principal }) {
      const assertion = assert(url, principal)
      const own = principal ? await credentials.headersFor(entry.id, url, principal) : {}
      return { ...own, 'dragoman-assertion': await assertion }
    },
  })
  function askable(entry: EntryDetail): Askable | undefined {
    const connected = remotes.fresh(entry)
    if (!connected) return undefined
    const { agent, endpoint } = connected
    return {
      url: endpoint.url,
      async ask(signal) {
        await using asked = agent
        return await asked.probe({ signal, headers: {} })
      },
    }
  }

  return { agentOf, askable, credentials, [Symbol.asyncDispose]: () => remotes[Symbol.asyncDispose]() }
}
