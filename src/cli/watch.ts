import { setTimeout as pause } from 'node:timers/promises'
import type { ChangePage, RegistryChange } from '../../schemas/change.ts'
import { codes, Failure } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { readConfig } from '../app/config.ts'
import { findServer } from '../app/running-server.ts'
import { readEventData } from '../common/sse.ts'
import { ask, type Client, openClient } from './client.ts'
import { readNumber } from './input.ts'
import { bold, coloured, print, printLine, say } from './output.ts'

/** Milliseconds between two looks, and two streams; a caller without a token may make 600 reads a minute. */
const pollMilliseconds = 1000

/** The changes up to a revision. */
interface Span {
  readonly changes: readonly RegistryChange[]
  readonly up_to: number
}

/** Prints the changes of the registry as they happen, until Ctrl+C. */
export async function watch(
  options: { readonly since?: string; readonly until?: string; readonly agent?: string },
  json: boolean,
): Promise<void> {
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once('SIGINT', onSignal)
  process.once('SIGTERM', onSignal)
  try {
    await follow(options, json, stop.signal)
  } catch (fault) {
    if (!stop.signal.aborted) throw fault
  } finally {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

async function follow(
  options: { readonly since?: string; readonly until?: string; readonly agent?: string },
  json: boolean,
  signal: AbortSignal,
): Promise<void> {
  await using client = await openFollower()
  const of = { ...(options.agent !== undefined && { agent: options.agent }) }
  const revisionOf = (option: string, text: string) => readNumber(option, text, 0, Number.MAX_SAFE_INTEGER)
  const until = options.until === undefined ? Infinity : revisionOf('--until', options.until)
  const stated = options.since === undefined ? undefined : revisionOf('--since', options.since)
  const { revision } = await look(client, { ...of, since: stated ?? 0 })
  const since = stated ?? revision
  if (!json) say(`Following the registry from revision ${since}. Ctrl+C ends.`)
  for await (const { changes, up_to } of spans(client, { ...of, since }, signal)) {
    for (const change of changes) {
      if (change.revision > until) return
      if (json) printLine(change)
      else print(lineOf(change))
    }
    if (up_to >= until) return
  }
}

interface Followed {
  readonly since: number
  readonly agent?: string
}

/** A client of the gateway that streams: that of DRAGOMAN_URL, or one that runs over the data folder. */
async function openFollower(): Promise<Client> {
  const config = readConfig()
  const server = config.DRAGOMAN_URL === undefined ? await findServer(config) : undefined
  // What everybody may read needs no token.
  return await openClient(
    server === undefined ? config : { ...config, DRAGOMAN_URL: server, DRAGOMAN_TOKEN: '' },
  )
}

/**
 * What becomes of the registry: by a stream, or by looking each second where there is none. A stream that ends is opened
 * again, and a gateway that has gone is waited for.
 */
async function* spans(client: Client, { since, ...of }: Followed, signal: AbortSignal): AsyncGenerator<Span> {
  let at = since
  let isAway = false
  let streams = client.stream !== undefined
  while (!signal.aborted) {
    try {
      const next = streams ? await streamed(client, { ...of, since: at }, signal) : undefined
      streams = next !== undefined
      for await (const span of next ?? looked(client, { ...of, since: at })) {
        isAway = false
        at = Math.max(at, span.up_to)
        yield span
      }
    } catch (fault) {
      if (!(fault instanceof Failure) || !codes[fault.code].retryable) throw fault
      if (!isAway) say(`${fault.message} It is tried again each second.`)
      isAway = true
    }
    await pause(pollMilliseconds, undefined, { signal })
  }
}

/** Pages until there are no further changes now. */
async function* looked(client: Client, { since, ...of }: Followed): AsyncGenerator<Span> {
  for (let at = since, isMore = true; isMore; ) {
    const { changes, next_since, more } = await look(client, { ...of, since: at })
    yield { changes, up_to: next_since }
    at = next_since
    isMore = more
  }
}

async function streamed(
  client: Client,
  { since, ...of }: Followed,
  signal: AbortSignal,
): Promise<AsyncIterable<Span> | undefined> {
  const query = new URLSearchParams({ since: String(since), ...of })
  const body = await client.stream?.(`/public/changes?${query}`, signal)
  return body && spansIn(body)
}

/** The changes in a stream, until it ends or breaks off. */
async function* spansIn(body: AsyncIterable<Uint8Array>): AsyncGenerator<Span> {
  for await (const data of readEventData(unlessBroken(body))) {
    const event: unknown = JSON.parse(data)
    if (!isRecord(event)) continue
    if (typeof event.progress === 'number') yield { changes: [], up_to: event.progress }
    else if (typeof event.revision === 'number' && typeof event.kind === 'string')
      yield { changes: [event as unknown as RegistryChange], up_to: event.revision }
  }
}

async function* unlessBroken(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch {
    // The gateway has gone; its answer to the next request says whether it is back.
  }
}

async function look(client: Client, params: Followed): Promise<ChangePage> {
  return await ask(client, 'watch_changes', params)
}

function lineOf(change: RegistryChange): string {
  const { at, revision, kind, package_name } = change
  const detail =
    change.kind === 'liveness'
      ? coloured(change.liveness.status)
      : change.kind === 'listed'
        ? (change.agent.version ?? '')
        : ''
  return `${at} r${revision} ${kind} ${bold(package_name)} ${detail}`.trimEnd()
}
