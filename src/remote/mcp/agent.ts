import { randomUUID } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/client'
import type { LRUCache } from 'lru-cache'
import type { Capability, Endpoint } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { abortable } from '../../common/abort.ts'
import { wantsCredential } from '../refusal.ts'
import type { RemoteAgent, RemoteAnswer, RemoteCall } from '../remote-agent.ts'
import {
  type Connection,
  type ConnectionOptions,
  createConnections,
  endless,
  type Spoken,
} from './connection.ts'
import { during, type Exchange } from './exchange.ts'
import { failureOf, ofServer } from './failure.ts'
import { answerOf } from './output.ts'
import { createPool, type PoolOptions } from './pool.ts'
import { createProgress } from './progress.ts'
import { loadSdk, type Sdk } from './sdk.ts'
import { capabilitiesOf, type Listing, listTools } from './tools.ts'

type Use<Value> = (connection: Connection, exchange: Exchange) => Promise<Value>

export interface McpAgentOptions extends ConnectionOptions, PoolOptions {
  /** Whose calls share a session or a socket. */
  keeper(call: RemoteCall): string
  /** What servers said that they can do, of all of them together. */
  readonly described: DescribedCache
}

export interface Described {
  readonly capabilities: readonly Capability[]
  readonly until: number
}
export type DescribedCache = Pick<LRUCache<string, Described>, 'get' | 'set'>

const defaultTtl = 60_000
const longestTtl = 3_600_000
const everybody = ''
/** Characters of schemas that are kept of one server for the sake of headers. */
const mostMirrored = 64 * 1024
/** SEP-2243: what a header says is not what the body says, or is missing. */
const headerMismatch = -32020
/** 2026-07-28: the revision is not spoken there. */
const unsupportedVersion = '-32022'

/**
 * One MCP server. What it speaks is found out once; after that a call to a server of 2026-07-28 is one request. What
 * outlasts a call (a session of the 2025 era, a socket) is kept for each caller; HTTP+SSE is opened for each call.
 */
export function createMcpAgent(endpoint: Endpoint, options: McpAgentOptions): RemoteAgent {
  const { current, clock, described } = options
  const isSocket = /^wss?:/i.test(endpoint.url)
  const pool = createPool<Connection>(options)
  const id = randomUUID()
  /** What was said before the last change is no longer found. */
  let generation = 0
  const placeOf = (caller: string) => `${id} ${generation} ${caller}`
  /** Tools that want some of their params in headers too. */
  const mirrored = new Map<string, Tool>()
  let spoken: Spoken | undefined
  const connect = createConnections(endpoint, options, {
    closed: (connection) => pool.drop(connection),
    toolsChanged: () => {
      generation++
    },
  })

  /** Connects in the name of the exchange, and remembers what is spoken. What fails here is not about a call's params. */
  async function open(sdk: Sdk, exchange: Exchange, known: Spoken | undefined): Promise<Connection> {
    try {
      const connection = await connect(sdk, exchange, known)
      spoken = connection.spoken
      return connection
    } catch (error) {
      spoken = undefined
      throw ofServer(failureOf(error, exchange, exchange.signal, sdk))
    }
  }

  const isKept = (kind: Spoken) => isSocket || kind.kind === 'legacy'

  async function once<Value>(connection: Connection, exchange: Exchange, work: Use<Value>): Promise<Value> {
    await using used = connection
    return await work(used, exchange)
  }

  async function attempt<Value>(
    sdk: Sdk,
    call: RemoteCall,
    exchange: Exchange,
    work: Use<Value>,
    isSecond = false,
  ): Promise<Value> {
    if (spoken && !isKept(spoken)) return once(await open(sdk, exchange, spoken), exchange, work)
    let isOurs = false
    const start = () => {
      isOurs = true
      return open(sdk, exchange, spoken)
    }
    const again = Symbol('again')
    const value = await pool.use(options.keeper(call), call.signal, start, async (connection) => {
      if (!isKept(connection.spoken)) {
        pool.drop(connection)
        // Another call found out what is spoken, and its connection ends with it.
        if (!isOurs) return again
      }
      connection.headers = exchange.headers
      try {
        return await work(connection, exchange)
      } catch (error) {
        if (!connection.isExpired(error)) throw error
        pool.drop(connection)
        if (isOurs || isSecond) throw error
        return again
      }
    })
    return value === again ? attempt(sdk, call, exchange, work, true) : (value as Value)
  }

  /** Does the work in one exchange; throws Failure alone. */
  async function exchanged<Value>(
    call: Pick<RemoteCall, 'signal' | 'headers'>,
    work: (sdk: Sdk, exchange: Exchange) => Promise<Value>,
  ): Promise<Value> {
    const sdk = await loadSdk()
    return during(current, call, async (exchange) => {
      try {
        if (call.signal.aborted) throw call.signal.reason
        return await work(sdk, exchange)
      } catch (error) {
        const failure = failureOf(error, exchange, call.signal, sdk)
        // Perhaps it speaks something else by now.
        const isStale =
          failure.code === 'upstream_invalid' || failure.details.upstream?.code === unsupportedVersion
        if (isStale) spoken = undefined
        throw failure
      }
    })
  }

  async function list({ client }: Connection, exchange: Exchange): Promise<Listing> {
    const listing = await listTools(client, { signal: exchange.signal, timeout: endless })
    mirrored.clear()
    let kept = 0
    for (const { name, inputSchema } of listing.tools) {
      const text = JSON.stringify(inputSchema)
      if (!text.includes('"x-mcp-header"') || kept + text.length > mostMirrored) continue
      kept += text.length
      mirrored.set(name, { name, inputSchema })
    }
    return listing
  }

  return {
    async call(action, params, call) {
      if (call.task) {
        throw new Failure('invalid_request', 'A call over MCP is over when it is answered: there is no task.')
      }
      const progress = createProgress(call.emit)
      const ask: Use<Awaited<ReturnType<Connection['client']['callTool']>>> = ({ client }, { signal }) =>
        client.callTool(
          { name: action, arguments: { ...params } },
          {
            signal,
            timeout: endless,
            onprogress: progress.take,
            toolDefinition: mirrored.get(action) ?? { name: action, inputSchema: { type: 'object' } },
          },
        )
      return await exchanged<RemoteAnswer>(call, async (sdk, exchange) => {
        const answer = await attempt(sdk, call, exchange, async (connection) => {
          try {
            return await ask(connection, exchange)
          } catch (error) {
            if (!(error instanceof sdk.ProtocolError) || error.code !== headerMismatch) throw error
            await list(connection, exchange)
            return await ask(connection, exchange)
          }
        })
        await abortable(progress.done(), exchange.signal)
        return answerOf(answer)
      }).catch(refusedOr)
    },

    /** A server that answers `server/discover` or `initialize` speaks MCP; that nothing else is asked keeps it cheap. */
    async probe(call) {
      const opened = exchanged(call, async (sdk, exchange) => {
        await using _ = await open(sdk, exchange, undefined)
      })
      return await opened.then(
        () => undefined,
        (thrown) => refusedOr(thrown).refused,
      )
    },

    async describe(call) {
      for (const key of [everybody, call.caller]) {
        const known = described.get(placeOf(key))
        if (known && known.until > clock()) return known.capabilities
      }
      const listing = await exchanged(call, (sdk, exchange) => attempt(sdk, call, exchange, list))
      const { tools, ttl_ms = defaultTtl, is_public } = listing
      const capabilities = capabilitiesOf(tools)
      const until = clock() + Math.min(ttl_ms, longestTtl)
      described.set(placeOf(is_public ? everybody : call.caller), { capabilities, until })
      return capabilities
    },

    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** Errors that MCP has for what one caller asks for: no such resource, and somewhere to go first. */
const aboutCall = new Set([-32002, -32042])

/** Whether an error is the server's own word on a call; what JSON-RPC reserves (5.1) is of servers in trouble. */
function isOwnWord(code: string | undefined): boolean {
  const number = Number(code ?? Number.NaN)
  return Number.isInteger(number) && (number > -32000 || number < -32768 || aboutCall.has(number))
}

/** A server that wants a credential, or says no in its own words, is well; it refuses this caller. */
function refusedOr(thrown: unknown): { readonly refused: Failure } {
  const failure = Failure.from(thrown)
  if (wantsCredential(failure) || isOwnWord(failure.details.upstream?.code)) return { refused: failure }
  throw failure
}
