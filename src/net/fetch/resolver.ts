import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { Failure } from '../../../schemas/failure.ts'
import { startDeadline } from '../../common/deadline.ts'

/**
 * The TXT records of a name, the strings of each joined (RFC 7208, 3.3); an empty list if the name or the type does
 * not exist. Throws Failure `upstream_timeout`, `upstream_failed`, `too_large`, and the reason of the signal.
 */
export type ResolveTxt = (name: string, signal: AbortSignal) => Promise<readonly string[]>

interface TxtResolverOptions {
  /** IP addresses, each with or without a port (`192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:53`); the system's when empty. */
  readonly servers: readonly string[]
  /** Milliseconds for one query, all servers and repetitions included. */
  readonly timeout_ms: number
}

const maxRecords = 100
const maxRecordLength = 2048
const absent = new Set(['ENOTFOUND', 'ENODATA'])
const maxAliases = 8
const repetitions = 2

/**
 * A resolver that trusts only records on which all servers agree: all of them must answer, and a record counts if
 * every answer has it. A lying server can hide a record and never invent one. Nothing is cached. Throws Failure
 * `not_configured` for a server that is not an address.
 */
export function createTxtResolver({ servers, timeout_ms }: TxtResolverOptions): ResolveTxt {
  for (const server of servers) checkServer(server)
  const groups = servers.length === 0 ? [[]] : servers.map((server) => [server])
  return async (name, signal) => {
    signal.throwIfAborted()
    using deadline = startDeadline(signal, timeout_ms)
    const answers = await Promise.all(
      groups.map((group) => ask(name, group, timeout_ms, deadline.signal)),
    ).catch((error: unknown) => {
      signal.throwIfAborted()
      throw deadline.has_passed ? timedOut(name, error) : translate(name, error)
    })
    const [first = [], ...others] = answers
    return first.filter((record) => others.every((answer) => answer.includes(record)))
  }
}

/** One query to one server. Each query has a separate resolver, so that it can be cancelled alone. */
async function ask(
  name: string,
  servers: readonly string[],
  timeout_ms: number,
  signal: AbortSignal,
): Promise<string[]> {
  const resolver = new Resolver({ timeout: Math.ceil(timeout_ms / repetitions), tries: repetitions })
  if (servers.length > 0) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const records = await resolver.resolveTxt(name)
    if (records.length === 0) await refuseAliasLoop(resolver, name)
    if (records.length > maxRecords) throw tooMany(name)
    return records.map((chunks) => chunks.join('')).filter((record) => record.length <= maxRecordLength)
  } catch (error) {
    if (absent.has(codeOf(error))) return []
    throw error
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Most servers fail on a loop of aliases; others answer with the aliases and without a record of the type. */
async function refuseAliasLoop(resolver: Resolver, name: string): Promise<void> {
  const seen = new Set([name])
  let next: string | undefined = name
  while (next !== undefined) {
    const [alias]: string[] = await resolver.resolveCname(next).catch(() => [])
    if (alias !== undefined && (seen.has(alias) || seen.size > maxAliases)) throw aliasLoop(name)
    if (alias !== undefined) seen.add(alias)
    next = alias
  }
}

function aliasLoop(name: string): Failure {
  return new Failure('upstream_failed', `The aliases (CNAME) of ${name} form a loop.`)
}

function translate(name: string, error: unknown): Failure {
  if (error instanceof Failure) return error
  const code = codeOf(error)
  if (code === 'ETIMEOUT') return timedOut(name, error)
  return new Failure(
    'upstream_failed',
    `The name servers failed on the TXT records of ${name} (${code}).`,
    { upstream: { code } },
    error,
  )
}

function timedOut(name: string, error: unknown): Failure {
  return new Failure(
    'upstream_timeout',
    `The name servers did not give the TXT records of ${name} in time.`,
    {},
    error,
  )
}

function tooMany(name: string): Failure {
  return new Failure('too_large', `${name} has more than ${maxRecords} TXT records.`)
}

/** True for an IP address, with or without a port. */
export function isNameServer(text: string): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+)(?::\d{1,5})?)$/.exec(text) ?? []
  return isIP(text) !== 0 || isIP(bracketed ?? '') === 6 || isIP(plain ?? '') === 4
}

function checkServer(server: string): void {
  if (isNameServer(server)) return
  throw new Failure(
    'not_configured',
    `The name server ${server.slice(0, 100)} is not an IP address, with or without a port.`,
    { hint: 'Correct DRAGOMAN_DNS_SERVERS, such as 9.9.9.9, 149.112.112.112:53.' },
  )
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN'
}
