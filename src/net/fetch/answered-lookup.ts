import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isRecord } from '../../../schemas/json.ts'
import type { Lookup } from './connector.ts'

interface AnsweredLookupOptions {
  /** Names that are looked up at once. */
  readonly trusted?: ReadonlySet<string>
  /** Addresses of name servers; the system's when absent. */
  readonly servers?: readonly string[]
  /** Milliseconds within which the name servers must answer; 4,000 when absent. */
  readonly timeout_ms?: number
}

const unanswered: ReadonlySet<unknown> = new Set(['ETIMEOUT', 'ECANCELLED'])

/**
 * The system's lookup for names whose name servers answer. The system's lookup holds one of the few threads that a
 * process has for them until it ends, and cannot be cancelled: names whose servers are silent, which callers choose,
 * would stop the lookups of all callers. So a query that holds no thread comes first.
 */
export function createAnsweredLookup(
  system: Lookup,
  { trusted = new Set(), servers, timeout_ms = 4_000 }: AnsweredLookupOptions,
): Lookup {
  return (hostname, options, callback) => {
    if (trusted.has(hostname) || isIP(hostname) !== 0) return system(hostname, options, callback)
    void isAnswered(hostname, servers, timeout_ms).then((isKnown) => {
      if (isKnown) system(hostname, options, callback)
      else callback(silent(hostname), [])
    })
  }
}

/** True if the questions for both kinds of addresses are answered, even by an error. */
async function isAnswered(
  hostname: string,
  servers: readonly string[] | undefined,
  timeout_ms: number,
): Promise<boolean> {
  const resolver = new Resolver({ timeout: timeout_ms / 2, tries: 2 })
  if (servers) resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), timeout_ms)
  try {
    const questions = [resolver.resolve4(hostname), resolver.resolve6(hostname)]
    const answers = await Promise.allSettled(questions)
    return !answers.some(
      (answer) =>
        answer.status === 'rejected' && isRecord(answer.reason) && unanswered.has(answer.reason.code),
    )
  } finally {
    clearTimeout(timer)
  }
}

function silent(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`The name servers of ${hostname} do not answer.`), { code: 'ETIMEDOUT' })
}
