import type { RegistryPorts } from '../../agents/registry/port.ts'
import type { Agent } from '../../schemas/action.ts'
import { isHosted, reachableEndpoints } from '../../schemas/callable.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import { fixedHeaders } from '../../schemas/credential.ts'
import { Failure } from '../../schemas/failure.ts'
import { isPackageUrl } from '../../schemas/package.ts'
import { createAssert } from '../auth/assertion.ts'
import { Credentials } from '../auth/upstream-credentials.ts'
import type { SignIns } from '../auth/upstream-sign-in/sign-ins.ts'
import type { Vault } from '../auth/vault.ts'
import type { ReadServer } from '../registry/capabilities/server-statement.ts'
import type { Probeable } from '../registry/liveness/probe.ts'
import type { Packages } from '../registry/packages/packages.ts'
import type { Registry } from '../registry/registry.ts'
import { createA2aConnect } from '../remote/a2a/a2a.ts'
import { createEnvelopeConnect } from '../remote/envelope.ts'
import { createListedAgents, type ListedAgentOptions } from '../remote/listed-agent.ts'
import { createProcessPool, type ProcessPool } from '../remote/mcp/connections.ts'
import { createMcpConnect } from '../remote/mcp/mcp.ts'
import { questionWait_ms } from '../remote/mcp/open-calls.ts'
import { createRemotes, type Remotes } from '../remote/remotes.ts'
import type { Store } from '../store/store.ts'
import { version } from './assets.ts'
import type { Identity } from './identity.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'
import { openUpstreamSignIns, signInPort, type Upstream } from './upstream.ts'

/** Connections to listed agents, and what their servers tell about themselves. */
export interface OpenRemotes extends Remotes {
  /** Calls the listener with the package name of each server that tells that its tools have changed. */
  onToolsChanged(listener: (packageName: string) => void): void
  /** The running packages. */
  readonly processes: ProcessPool
}

/** Connections to listed agents, one adapter a protocol. */
export function openRemotes(
  { stack, config, options, clock, wait, site }: Runtime,
  outbound: Outbound,
): OpenRemotes {
  const listeners = new Set<(packageName: string) => void>()
  const { remote_timeout_ms } = options
  const first_ms = remote_timeout_ms ?? config.DRAGOMAN_CALL_FIRST * 1000
  const idle_ms = remote_timeout_ms ?? config.DRAGOMAN_CALL_IDLE * 1000
  // What is awaited, such as the limits of a call, ends it first, with its own words.
  const reach = (...awaited_ms: readonly number[]) =>
    outbound.reach({
      allow_origins: config.DRAGOMAN_ALLOW_ORIGINS,
      idle_ms: Math.max(...awaited_ms) + 5_000,
      connections: null,
    })
  const { fetch, open } = reach(first_ms, idle_ms)
  // A server of MCP is silent while its question to the caller waits.
  const asking = reach(first_ms, idle_ms, questionWait_ms)
  const processes = stack.use(
    createProcessPool({ max: config.DRAGOMAN_RUN_MAX, idle_ms: config.DRAGOMAN_RUN_IDLE * 1000 }),
  )
  const remotes = stack.use(
    createRemotes({
      connects: [
        createEnvelopeConnect(fetch, clock),
        createA2aConnect({ open, clock, wait }),
        createMcpConnect({
          open: asking.open,
          dial: asking.dial,
          processes,
          client: { name: 'dragoman', version },
          per_call_headers: ['dragoman-assertion', 'via'],
          own_origins: () => [site().base_url, site().site_url].map((url) => new URL(url).origin),
          onToolsChanged(packageName) {
            for (const listener of listeners) listener(packageName)
          },
          clock,
        }),
      ],
      clock,
      wait,
      times: { first_ms, idle_ms },
    }),
  )
  return { ...remotes, processes, onToolsChanged: (listener) => void listeners.add(listener) }
}

/** Reads MCP servers without a caller: each reading connects for itself and sends no credential. */
export function readServerBy(connect: Remotes['at']): ReadServer {
  return async (endpoint, signal) => {
    await using agent = connect(endpoint)
    if (!agent?.read)
      throw new Failure('not_callable', `${endpoint.url} is not the address of an MCP server.`)
    return await agent.read({ signal, headers: fixedHeaders(endpoint) })
  }
}

/** The entry as an agent that can be probed: each probe connects for itself. */
export function probeableBy(remotes: Remotes): (entry: EntryDetail) => Probeable | undefined {
  return (entry) => {
    const connected = remotes.fresh(entry)
    if (!connected) return undefined
    return {
      url: connected.endpoint.url,
      async ask(signal) {
        await using agent = connected.agent
        return await agent.probe({ signal, headers: fixedHeaders(connected.endpoint) })
      },
    }
  }
}

/** The headers whose values the publisher of an agent fixes for one of its addresses. */
function headersStatedBy(entry: EntryDetail, url: string): Readonly<Record<string, string>> {
  if (!entry.endpoints.some(({ headers }) => headers)) return {}
  const endpoint = reachableEndpoints(entry).find((candidate) => candidate.url === url)
  return endpoint ? fixedHeaders(endpoint) : {}
}

/** Listed entries as agents of the router. */
export interface ListedAgents {
  /** Throws Failure `not_callable`. */
  readonly agentOf: (entry: EntryDetail) => Agent
  readonly signIns: SignIns
  readonly connect: RegistryPorts['connect']
}

interface ListedAgentPorts extends Pick<ListedAgentOptions, 'secret' | 'observe'> {
  readonly store: Store
  readonly remotes: Remotes
  readonly identity: Identity
  readonly vault: Vault
  readonly upstream: Upstream
  readonly credentials: Credentials
  readonly packages: Packages
  readonly registry: Pick<Registry, 'get'>
}

interface CredentialPorts {
  readonly store: Store
  readonly remotes: Remotes
  readonly vault: Vault
  readonly upstream: Upstream
  readonly registry: Registry
}

/** The credentials that callers store for listed agents. */
export function openCredentials({ clock }: Runtime, ports: CredentialPorts): Credentials {
  const { store, remotes, vault, upstream, registry } = ports
  return new Credentials({
    store: store.credentials,
    vault,
    tokens: upstream.tokens,
    get: registry.get,
    async namesOf(ids) {
      const entries = await store.read.entries(ids)
      return new Map(entries.map((entry) => [entry.id, entry.package_name]))
    },
    urlOf: (entry) => remotes.of(entry)?.endpoint.url,
    clock,
  })
}

export function openListedAgents(runtime: Runtime, ports: ListedAgentPorts): ListedAgents {
  const { clock, config } = runtime
  const { store, remotes, identity, vault, upstream, credentials, packages, registry, secret, observe } =
    ports
  const signing = identity.ring.signing
  const assert = createAssert({ signing, issuer: () => identity.issuer, secret, clock })
  const signIns = openUpstreamSignIns(runtime, upstream, { store, vault, credentials })
  const signIn = signInPort(runtime, { credentials, signIns })
  const agentOf = createListedAgents({
    remotes,
    clock,
    signIn,
    permit: (entry, { principal, content }) => {
      const canAsk = content?.protocol === 'mcp' && content.capabilities.elicitation !== undefined
      return ({ ask, ...call }) =>
        packages.permit(entry, principal, { ...call, ask: canAsk ? ask : undefined })
    },
    secret,
    observe,
    total_ms: config.DRAGOMAN_CALL_TOTAL * 1000,
    async headers({ entry, url, principal }) {
      const [assertion, own] = await Promise.all([
        assert(url, principal),
        principal && credentials.headersFor(entry.id, url, principal),
      ])
      return { ...headersStatedBy(entry, url), ...own, 'dragoman-assertion': assertion }
    },
  })
  return {
    agentOf,
    signIns,
    async connect(agent, principal, signal) {
      const entry = await registry.get(agent, principal)
      const connected = isHosted(entry) ? undefined : remotes.of(entry)
      if (!connected || isPackageUrl(connected.endpoint.url)) {
        throw new Failure('not_callable', `${entry.package_name} has no address at which it is called.`)
      }
      const { endpoint } = connected
      const refusal = await connected.agent.probe({ signal, headers: headersStatedBy(entry, endpoint.url) })
      const found = refusal && (await signIn.ask({ entry, endpoint, principal }, refusal))
      if (!found) throw new Failure('wrong_state', `${entry.package_name} asks for no sign-in.`)
      const { sign_in_url, issuer, scopes, expires_at } = found
      const expires = new Date(expires_at).toISOString()
      return { agent: entry.package_name, sign_in_url, issuer, scopes: [...scopes], expires_at: expires }
    },
  }
}
